//! Readers of changes: what waits for them is looked at beside the loop's other work, and told.

use super::state::Agent;
use crate::cdc::told::{self, Now};
use crate::cdc::{self, Keeps, Rest, Seen};
use crate::volume::Volume;
use palladion_api::member::CdcStatus;
use std::time::{Duration, Instant, SystemTime};

/// A directory of some hundred files is looked at this often.
const LOOKS: Duration = Duration::from_secs(5);

/// What the agent holds of it between turns.
#[derive(Default)]
pub struct Held {
    /// What was seen last; none where the directory could not be read.
    seen: Option<Seen>,
    /// When that was, and whether a server would go on with it then.
    looked: Option<(Instant, Rest)>,
    told: Option<(CdcStatus, Instant)>,
    /// Was it logged that something failed?
    is_logged: bool,
}

impl Agent {
    /// What is told of it; nothing where no server on the volume was started for it, and where it was
    /// turned off and nothing is left to read.
    pub(super) fn told_cdc(&mut self) -> Option<CdcStatus> {
        let (keeps, total) = self.keeps_changes()?;
        let (ledger, spec) = (self.ledger(), self.saved.as_ref().map(|saved| &saved.spec));
        let rest = cdc::rest(&self.process, ledger, spec, keeps);
        self.look_at_segments(rest);
        self.measure_cdc();
        let of = Now { seen: self.cdc.seen.as_ref(), total, rest, now: SystemTime::now() };
        if told::is_nothing(&of) {
            self.cdc.told = None;
            return None;
        }
        let before = self.cdc.told.as_ref().map(|(status, at)| (status, at.elapsed()));
        let now = told::status(&of, before.map(|(status, _)| status));
        if told::is_due(before, &now) {
            self.cdc.told = Some((now, Instant::now()));
        }
        self.cdc.told.as_ref().map(|(status, _)| status.clone())
    }

    /// Is its server started to keep changes, and in how many bytes, or was one on this volume? Who
    /// sets that by hand has it to himself.
    fn keeps_changes(&self) -> Option<(Keeps, u64)> {
        let config = self.mounted.as_ref().ok().map(|mounted| &mounted.config);
        if let Some(cdc) = config.and_then(|config| config.cdc) {
            return Some((Keeps::Changes, cdc.total_mib << 20));
        }
        let once = self.volume.as_ref().is_some_and(Volume::has_kept_changes);
        let by_hand = config.is_some_and(|config| config.config.contains_key("cdc_enabled"));
        (once && !by_hand).then_some((Keeps::Nothing, 0))
    }

    fn look_at_segments(&mut self, rest: Rest) {
        let Some(volume) = &self.volume else { return };
        // What the end of a server changes is seen at once.
        if self.cdc.looked.is_some_and(|(at, then)| then == rest && at.elapsed() < LOOKS) {
            return;
        }
        self.cdc.looked = Some((Instant::now(), rest));
        let directory = volume.cdc();
        // Without a configuration nobody knows what a server does with it.
        let rest_of_log = match (rest, &self.mounted) {
            (Rest::Starts, _) | (Rest::Off, Err(_)) => None,
            (Rest::Off, Ok(_)) | (Rest::Ended, _) => {
                Some((volume.commit_log(), volume.cdc_index()))
            }
        };
        let settled =
            rest_of_log.map_or(Ok(()), |(log, part)| cdc::settle(&directory, &log, &part, rest));
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
