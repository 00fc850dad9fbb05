//! Restores to a point in time: the archive, as far as it matters, and a server that is started
//! once more to replay it.

use super::agent::{Agent, Reach};
use super::restores::TABLE;
use super::ring::Ring;
use palladion_agent::admin::Reading;
use palladion_agent::decide::Process;
use palladion_agent::decide::rewind::{Rewinding, Running, Stands};
use palladion_agent::render::Door;
use palladion_agent_transfer::decide::Child;
use palladion_agent_transfer::tell::{Done, Line, ended};
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::{CatalogWork, JournalFound, ReplayWork, Transfer, TransferTask};
use palladion_api::ids::HostId;
use std::collections::BTreeSet;

/// Segments of each member of a backup.
const SEGMENTS: u64 = 3;

/// What is read of the journals of these members, if it is asked for.
pub fn journals(
    of: &CatalogWork,
    hosts: &BTreeSet<HostId>,
    reach: &Reach<'_>,
) -> Vec<JournalFound> {
    let Some(to) = &of.to else { return Vec::new() };
    let found = |host: &HostId| {
        let until = reach.ring.store.archived.get(host).filter(|until| **until < to.0);
        JournalFound {
            host_id: host.clone(),
            segments: SEGMENTS,
            bytes: 300,
            missing: until.map(|until| format!("its archive ends at {until}")),
        }
    };
    hosts.iter().map(found).collect()
}

impl Ring {
    /// To which time the server in this pod was started to replay.
    pub fn rewound(&self, pod: &str) -> Option<i64> {
        self.servers.get(pod)?.rewound
    }
}

impl Agent {
    fn to_rewind(&self) -> Running {
        let serves = self.process == Process::Running
            && self.stopping.is_none()
            && self.reading().is_some_and(Reading::serves);
        Running { serves, closed: self.closed, rewound: self.rewound }
    }

    pub(super) fn wants_rewind(&self) -> bool {
        self.moves.rewinding.as_ref().is_some_and(|of| of.wants_stop(self.rewound))
    }

    pub(super) fn rewinds_first(&mut self, order: &Transfer) -> bool {
        let Some(TransferTask::Replay(work)) = order.work.task() else { return false };
        let start = Rewinding::of(&order.id, work, 0);
        let is_ready = start.stands(self.to_rewind()) == Stands::Ready;
        self.moves.rewinding = (!is_ready).then_some(start);
        !is_ready
    }

    pub(super) fn rewinding(&self) -> Option<Child> {
        let start = self.moves.rewinding.as_ref()?;
        let id = start.id.clone();
        match start.stands(self.to_rewind()) {
            Stands::Ready => None,
            Stands::GoesOn => Some(Child::Runs { id }),
            Stands::Failed(why) => Some(Child::Ended { id, last: Some(ended(&Err(why))) }),
        }
    }

    /// A drain always goes well here.
    pub(super) fn stops_to_rewind(&mut self) {
        if let Some(start) = &mut self.moves.rewinding {
            start.stops();
            start.drained();
        }
    }

    pub(super) fn rewind(&mut self, door: Door) -> Option<i64> {
        let start = self.moves.rewinding.as_mut()?;
        start.launch(door).map(|rewind| rewind.to)
    }

    pub(super) fn replay(&self, order: &Transfer, of: &ReplayWork, reach: &mut Reach<'_>) -> Line {
        let stopped = |cause, message: &str| Line::Stopped { cause, message: message.into() };
        let to = of.to.0.as_second();
        if !self.reading().is_some_and(Reading::serves) {
            return stopped(Cause::ServerDown, "the server does not answer");
        }
        // Asked of the server itself.
        if self.rewound != Some(to) || !self.closed {
            return stopped(Cause::LoadFailed, "the server was not started for it");
        }
        if !self.has_place_of(&of.source, reach.ring) {
            return stopped(Cause::RestoreFailed, "the member has other tokens");
        }
        let Some(table) = reach.ring.tables.get_mut(TABLE) else {
            return stopped(Cause::LoadFailed, "there is no such table");
        };
        let is_loaded = table.loaded.iter().any(|(_, host)| *host == of.source);
        if !is_loaded || table.has_indexes || of.tables != [TABLE] {
            table.wrong = Some(format!("{} replays too early, too late or too much", order.id));
        }
        table.replayed.insert(of.source.clone(), to);
        Line::Done(Done::Replayed { segments: SEGMENTS, bytes: 300 })
    }
}
