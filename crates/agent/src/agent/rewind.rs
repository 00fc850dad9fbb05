//! A start for the replay of an archived commit log, as the loop makes it: see
//! [`crate::decide::rewind`].

use super::state::Agent;
use crate::admin::Reading;
use crate::decide::Process;
use crate::decide::rewind::{Rewinding, Running, Stands};
use crate::render::Door;
use crate::render::rewind::Rewind;
use crate::transfer::Rewinds;
use crate::transfer::loaded::{self, Journal};
use palladion_agent_transfer::decide::Child;
use palladion_agent_transfer::tell::ended;
use palladion_api::backup::{Transfer, TransferTask};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Agent {
    fn to_rewind(&self) -> Running {
        let serves = self.process == Process::Running
            && self.stopping.is_none()
            && self.reading().is_some_and(Reading::serves);
        let rewound = self.launch.as_ref().and_then(|launch| launch.rewound);
        Running { serves, closed: self.is_closed(), rewound }
    }

    /// Must the server be started once more before this order can be tried? Then that begins.
    pub(super) fn rewinds_first(&mut self, order: &Transfer) -> bool {
        let Some(TransferTask::Replay(work)) = order.work.task() else { return false };
        let noted = self.replay_journal(&order.id, &work.manifest_hash);
        let starts = noted.map_or(0, |(_, journal)| journal.starts);
        let start = Rewinding::of(&order.id, work, starts);
        if start.stands(self.to_rewind()) == Stands::Ready {
            self.transfers.rewinds = None;
            return false;
        }
        self.transfers.ended = None;
        self.transfers.rewinds = Some(Rewinds { start, drained: Arc::default() });
        true
    }

    /// How far that is; none that is not begun, and none once the server can replay.
    pub(super) fn rewinding(&self) -> Option<Child> {
        let start = &self.transfers.rewinds.as_ref()?.start;
        let id = start.id.clone();
        match start.stands(self.to_rewind()) {
            Stands::Ready => None,
            Stands::GoesOn => Some(Child::Runs { id }),
            Stands::Failed(why) => Some(Child::Ended { id, last: Some(ended(&Err(why))) }),
        }
    }

    /// Is the server that runs to be stopped for it?
    pub(super) fn wants_rewind(&self) -> bool {
        let rewound = self.launch.as_ref().and_then(|launch| launch.rewound);
        self.transfers.rewinds.as_ref().is_some_and(|of| of.start.wants_stop(rewound))
    }

    /// It is being stopped; what is to be set when it was drained.
    pub(super) fn stops_to_rewind(&mut self) -> Option<Arc<AtomicBool>> {
        let rewinds = self.transfers.rewinds.as_mut()?;
        rewinds.start.stops();
        rewinds.drained.store(false, Ordering::SeqCst);
        let (drained, starts) = (rewinds.drained.clone(), rewinds.start.starts);
        let (id, manifest) = (rewinds.start.id.clone(), rewinds.start.manifest_hash.clone());
        let (path, journal) = self.replay_journal(&id, &manifest)?;
        match (Journal { starts, ..journal }).save(&path) {
            Ok(()) => Some(drained),
            Err(error) => {
                // A start that is not counted is a plain one.
                tracing::warn!(error = error.to_string(), "a start for a replay cannot be noted");
                None
            }
        }
    }

    /// What is noted of a replay.
    fn replay_journal(&self, id: &str, manifest_hash: &str) -> Option<(PathBuf, Journal)> {
        let path = loaded::path(&self.volume.as_ref()?.journals(), id);
        let journal = Journal::open(&path, id, manifest_hash);
        Some((path, journal))
    }

    /// What the next start is made with.
    pub(super) fn rewind(&mut self, door: Door) -> Option<Rewind> {
        let rewinds = self.transfers.rewinds.as_mut()?;
        // Of this start alone, whatever it is.
        if rewinds.drained.swap(false, Ordering::SeqCst) {
            rewinds.start.drained();
        }
        rewinds.start.launch(door)
    }
}
