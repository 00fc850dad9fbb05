//! Signs of life of the server, noted on the volume while it is a full member.
//! They are written beside the agent's loop: a disk that stalls must not keep it
//! from answering the kubelet, which would end the server.

use super::state::{Agent, Done};
use crate::access;
use crate::admin::Reading;
use crate::decide::Source;
use crate::tombstones;
use crate::volume::heartbeat::Known;
use crate::volume::ledger::Membership;
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

impl Agent {
    /// Ask, beside the loop, for how long tables keep tombstones, when the schema has
    /// changed and the agent can get in.
    pub(super) fn ask_for_tombstones(&mut self) {
        let reading = self.reading().filter(|r| r.serves());
        let schema = reading.and_then(|r| r.schema_version.clone());
        let (Some(schema), Ok(mounted)) = (schema, &self.mounted) else {
            return;
        };
        let endpoint = access::endpoint(&self.settings, &mounted.config);
        let is_locked = mounted.config.asks_who_logs_in() && endpoint.credentials.is_none();
        if is_locked || !self.tombstones.begin(&schema, Instant::now()) {
            return;
        }
        let done = self.done.clone();
        tokio::spawn(async move {
            let answer = tombstones::smallest(&endpoint).await.map_err(|e| e.to_string());
            let _ = done.send(Done::Tombstones { schema, answer }).await;
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
        if let Some(smallest) = self.tombstones.known() {
            heartbeat.smallest_gc_grace_seconds = smallest;
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
