//! A start for the replay of an archived commit log, as the loop makes it: see
//! [`crate::decide::rewind`].

use super::state::Agent;
use crate::admin::Reading;
use crate::decide::Process;
use crate::decide::rewind::{Rewinding, Running, Stands};
use crate::render::Door;
use crate::render::rewind::Rewind;
use crate::transfer::Rewinds;
use palladion_agent_transfer::decide::Child;
use palladion_agent_transfer::tell::ended;
use palladion_api::backup::{Transfer, TransferTask};
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
        let start = Rewinding::of(&order.id, work);
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
        Some(rewinds.drained.clone())
    }

    /// What the next start is made with.
    pub(super) fn rewind(&mut self, door: Door) -> Option<Rewind> {
        let rewinds = self.transfers.rewinds.as_mut().filter(|_| door == Door::Closed)?;
        if rewinds.drained.swap(false, Ordering::SeqCst) {
            rewinds.start.drained();
        }
        rewinds.start.launch()
    }
}
