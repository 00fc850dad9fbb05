//! Signs of life of the server, noted on the volume while it is a full member.
//! They are written beside the agent's loop: a disk that stalls must not keep it
//! from answering the kubelet, which would end the server.

use super::state::{Agent, Done};
use crate::admin::Reading;
use crate::decide::Source;
use crate::repair::schema::Schemas;
use crate::tombstones;
use crate::volume::heartbeat::Known;
use crate::volume::ledger::Membership;
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

impl Agent {
    /// Read the schema, beside the loop, when it has changed and the agent can get in.
    /// Where a schedule covers the ring it is tried in any case, and what failed is told.
    pub(super) fn read_schema(&mut self) {
        let reading = self.reading().filter(|r| r.serves());
        let schema = reading.and_then(|r| r.schema_version.clone());
        let (Some(version), Ok(mounted)) = (schema, &self.mounted) else {
            return;
        };
        let endpoint = self.endpoint(&mounted.config);
        let is_locked = mounted.config.asks_who_logs_in() && endpoint.credentials.is_none();
        let is_closed = is_locked && self.coverage().is_none();
        if is_closed || !self.schema.begin(&version, Instant::now()) {
            return;
        }
        let done = self.done.clone();
        tokio::spawn(async move {
            let answer = endpoint.read().await;
            let _ = done.send(Done::Schema { version, answer }).await;
        });
    }

    /// Write when the server ran last, once a minute, and what it missed.
    pub(super) fn beat(&mut self) {
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        if !joined || !self.reading().is_some_and(Reading::is_full_member) {
            return;
        }
        let live = self.saved.as_ref().filter(|_| self.source() == Source::Live);
        let live = live.map(|saved| saved.spec.clone());
        let (Ok(found), Some(volume)) = (&mut self.found, &self.volume) else {
            return;
        };
        let next = found.ledger.as_ref();
        let next = next.and_then(|l| found.heartbeat.next(l, live.as_ref(), Timestamp::now()));
        let Some(mut heartbeat) = next else {
            return;
        };
        if let Some(schema) = self.schema.last() {
            heartbeat.smallest_gc_grace_seconds = tombstones::smallest(schema);
        }
        if self.beating.swap(true, Ordering::AcqRel) {
            return;
        }
        found.heartbeat = Known::At(heartbeat.clone());
        let (volume, beating) = (volume.clone(), Arc::clone(&self.beating));
        let write = move || {
            if let Err(error) = volume.save_heartbeat(&heartbeat) {
                let error = format!("{error:#}");
                tracing::warn!(error, "when the server ran last cannot be noted");
            }
            beating.store(false, Ordering::Release);
        };
        if let Err(error) = thread::Builder::new().name("heartbeat".into()).spawn(write) {
            self.beating.store(false, Ordering::Release);
            tracing::warn!(%error, "when the server ran last cannot be noted");
        }
    }
}
