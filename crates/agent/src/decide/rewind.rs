//! A start for the replay of an archived commit log. A server leaves out what is later than a time,
//! and what is not of some tables, if it is started so; whatever its own log still has is replayed
//! by that start, too, and what it leaves out of that is lost: what its system has written since the
//! last flush, or all of it where a keyspace is not known yet (`CommitLogReplayer.construct` fails
//! then). So the server is drained first, and only the start right after a drain that went well is
//! made so. One that comes for another reason, as after a crash, is a plain one, and is followed by
//! another drain.

use super::{Action, Facts, StopWhy};
use crate::admin::Reading;
use crate::render::Door;
use crate::render::rewind::Rewind;
use crate::volume::ledger::{Ledger, Membership};
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::ReplayWork;

/// So often a server is stopped for a replay that it does not come to.
const MOST_STARTS: u32 = 5;

/// How far a start for a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server that runs is not such a one.
    Wanted,
    /// It is being stopped.
    Stopping,
    /// It was drained, and ends.
    Drained,
    /// One was started so.
    Launched,
}

/// A start for a replay that an order asks for. An agent that ends forgets it, and begins again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewinding {
    /// The order.
    pub id: String,
    /// Of the manifest of its backup.
    pub manifest_hash: String,
    /// So often the server was stopped for it, since it last replayed.
    pub starts: u32,
    rewind: Rewind,
    stage: Stage,
}

/// The server that runs, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Does it serve, and is nobody stopping it?
    pub serves: bool,
    /// Does it take no clients?
    pub closed: bool,
    /// To which time it was started to replay.
    pub rewound: Option<i64>,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stands {
    /// The server that serves can replay.
    Ready,
    /// It goes on.
    GoesOn,
    /// It has come to nothing.
    Failed(Stopped),
}

impl Rewinding {
    /// As an order asks for it.
    pub fn of(id: &str, work: &ReplayWork, starts: u32) -> Self {
        let rewind = Rewind { to: work.to.0.as_second(), tables: work.tables.clone() };
        let (id, manifest_hash) = (id.to_string(), work.manifest_hash.clone());
        Self { id, manifest_hash, starts, rewind, stage: Stage::Wanted }
    }

    /// Is the server that runs to be stopped for it?
    pub fn wants_stop(&self, rewound: Option<i64>) -> bool {
        self.stage == Stage::Wanted && !self.is_used_up() && rewound != Some(self.rewind.to)
    }

    fn is_used_up(&self) -> bool {
        self.starts >= MOST_STARTS
    }

    /// It is being stopped.
    pub fn stops(&mut self) {
        (self.stage, self.starts) = (Stage::Stopping, self.starts + 1);
    }

    /// It was drained: nothing of its log is replayed by the next start.
    pub fn drained(&mut self) {
        if self.stage == Stage::Stopping {
            self.stage = Stage::Drained;
        }
    }

    /// What the next start is made with: once, and only where no client is let in.
    pub fn launch(&mut self, door: Door) -> Option<Rewind> {
        if self.stage != Stage::Drained {
            return None;
        }
        self.stage = Stage::Launched;
        let is_one = door == Door::Closed && !self.rewind.tables.is_empty();
        is_one.then(|| self.rewind.clone())
    }

    /// What has come of it.
    pub fn stands(&self, running: Running) -> Stands {
        if !running.serves {
            return Stands::GoesOn;
        }
        if running.closed && running.rewound == Some(self.rewind.to) {
            return Stands::Ready;
        }
        match self.stage {
            Stage::Wanted if self.is_used_up() => {
                Stands::Failed(Stopped::StartEnds { tries: self.starts })
            }
            Stage::Wanted if running.closed => Stands::GoesOn,
            Stage::Stopping => Stands::Failed(Stopped::Undrained),
            Stage::Wanted | Stage::Drained | Stage::Launched => Stands::Failed(Stopped::NotRewound),
        }
    }
}

/// A closed server is stopped so that the next one can replay.
pub fn ends(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_on_record = ledger.membership == Membership::Joined;
    let can_be_drained = facts.reading.is_some_and(Reading::serves);
    let is_due = facts.rewinds && facts.closed && is_on_record && can_be_drained;
    is_due.then_some(Action::Stop(StopWhy::Rewinds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    fn wanted(tables: &[&str]) -> Rewinding {
        let work = ReplayWork {
            manifest_hash: String::new(),
            source: "h".into(),
            to: Time(Timestamp::from_second(100).unwrap()),
            tables: tables.iter().map(|table| (*table).to_string()).collect(),
        };
        Rewinding::of("r1", &work, 0)
    }

    fn running(rewound: Option<i64>) -> Running {
        Running { serves: true, closed: true, rewound }
    }

    #[test]
    fn only_the_start_after_a_drain_is_made_so_and_only_once() {
        let mut rewinding = wanted(&["k.t"]);
        assert!(rewinding.wants_stop(None) && rewinding.wants_stop(Some(99)));
        assert!(!rewinding.wants_stop(Some(100)));
        assert_eq!(rewinding.launch(Door::Closed), None, "it was not drained");
        rewinding.drained();
        assert_eq!(rewinding.launch(Door::Closed), None, "another drain");
        rewinding.stops();
        assert!(!rewinding.wants_stop(None));
        let down = Running { serves: false, ..running(None) };
        assert_eq!(rewinding.stands(down), Stands::GoesOn);
        assert_eq!(rewinding.stands(running(None)), Stands::Failed(Stopped::Undrained));
        rewinding.drained();
        let rewind = rewinding.launch(Door::Closed).unwrap();
        assert_eq!((rewind.to, rewind.tables), (100, vec!["k.t".to_string()]));
        assert_eq!(rewinding.launch(Door::Closed), None, "the next one may have a log to replay");
        assert_eq!(rewinding.stands(running(Some(100))), Stands::Ready);
        assert_eq!(rewinding.stands(running(None)), Stands::Failed(Stopped::NotRewound));
    }

    #[test]
    fn a_start_that_comes_otherwise_uses_the_drain_up() {
        let mut rewinding = wanted(&["k.t"]);
        rewinding.stops();
        rewinding.drained();
        assert_eq!(rewinding.launch(Door::Open), None);
        assert_eq!(rewinding.launch(Door::Closed), None, "that was not the next one");
        assert_eq!(rewinding.stands(running(None)), Stands::Failed(Stopped::NotRewound));
    }

    #[test]
    fn a_server_that_never_comes_to_replay_ends_the_restore() {
        let mut rewinding = Rewinding { starts: MOST_STARTS - 1, ..wanted(&["k.t"]) };
        assert!(rewinding.wants_stop(None));
        rewinding.stops();
        let again = Rewinding { starts: rewinding.starts, ..wanted(&["k.t"]) };
        assert!(!again.wants_stop(None));
        let ends = Stopped::StartEnds { tries: MOST_STARTS };
        assert_eq!(again.stands(running(None)), Stands::Failed(ends));
        // One that was started so is taken, whatever came before.
        assert_eq!(again.stands(running(Some(100))), Stands::Ready);
    }

    #[test]
    fn without_a_table_none_is_made_so() {
        let mut rewinding = wanted(&[]);
        rewinding.stops();
        rewinding.drained();
        assert_eq!(rewinding.launch(Door::Closed), None);
    }

    #[test]
    fn a_server_that_takes_clients_replays_nothing() {
        let open = Running { closed: false, ..running(Some(100)) };
        assert_eq!(wanted(&["k.t"]).stands(open), Stands::Failed(Stopped::NotRewound));
    }
}
