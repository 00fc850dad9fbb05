//! Readers of changes: what waits for them is looked at beside the loop's other work, and told.

use super::state::Agent;
use crate::cdc::told::{self, Now};
use crate::cdc::{self, Rest, Seen};
use palladion_api::member::CdcStatus;
use std::time::{Duration, Instant, SystemTime};

/// A directory of some hundred files is looked at this often.
const LOOKS: Duration = Duration::from_secs(5);

/// What the agent holds of it between turns.
#[derive(Default)]
pub struct Held {
    /// What was seen last; none where the directory could not be read.
    seen: Option<Seen>,
    looked: Option<Instant>,
    told: Option<(CdcStatus, Instant)>,
    /// Was it logged that something failed?
    is_logged: bool,
}

impl Agent {
    /// What is told of it; nothing where the server was not started for it.
    pub(super) fn told_cdc(&mut self) -> Option<CdcStatus> {
        let total = self.mounted.as_ref().ok()?.config.cdc?.total_mib << 20;
        self.look_at_segments();
        let of =
            Now { seen: self.cdc.seen.as_ref(), total, rest: self.rest(), now: SystemTime::now() };
        let before = self.cdc.told.as_ref().map(|(status, at)| (status, at.elapsed()));
        let now = told::status(&of, before.map(|(status, _)| status));
        if told::is_due(before, &now) {
            self.cdc.told = Some((now, Instant::now()));
        }
        self.measure_cdc();
        self.cdc.told.as_ref().map(|(status, _)| status.clone())
    }

    fn rest(&self) -> Rest {
        cdc::rest(&self.process, self.ledger(), self.saved.as_ref().map(|saved| &saved.spec))
    }

    fn look_at_segments(&mut self) {
        let Some(volume) = &self.volume else { return };
        if self.cdc.looked.is_some_and(|at| at.elapsed() < LOOKS) {
            return;
        }
        self.cdc.looked = Some(Instant::now());
        let directory = volume.cdc();
        let settled = match self.rest() {
            Rest::Starts => Ok(()),
            Rest::Ended => cdc::settle(&directory, &volume.commit_log(), Rest::Ended),
        };
        let looked = settled.and_then(|()| cdc::look(&directory));
        if let (Err(error), false) = (&looked, self.cdc.is_logged) {
            let error = format!("{error:#}");
            tracing::warn!(error, "what waits for readers of changes cannot be read; trying again");
        }
        self.cdc.is_logged = looked.is_err();
        self.cdc.seen = looked.ok();
    }

    fn measure_cdc(&self) {
        let seen = self.cdc.seen.clone().unwrap_or_default();
        let age = seen.oldest.and_then(|at| SystemTime::now().duration_since(at).ok());
        self.metrics.note_cdc(seen.bytes, seen.segments, age.unwrap_or_default());
    }
}
