//! What is done about the operation in the spec. Each ID is begun at most once,
//! whatever dies meanwhile: the ledger notes it before the work begins.

use crate::volume::ledger::Ledger;
use crate::words::job::Failed;
use palladion_api::member::{
    CassandraMemberSpec, Operation, OperationKind, OperationState, RepairRanges,
};

/// What is to be done about `spec.operation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Note that it runs, and begin.
    Begin,
    /// Nobody waits for it any more, and the server may go on with it: wait for its end, and
    /// begin nothing beside it.
    Settle(Left),
    /// It is over, and how is not known: note that, do not begin again.
    NoteInterrupted,
    /// It is for another volume or another member, or a newer operator asks for what
    /// this agent does not know: note that, do nothing.
    NoteRefused(Failed),
}

/// Does a job of this agent run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// No.
    Idle,
    /// Yes.
    Busy,
}

/// How the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// A full member that answers CQL.
    Serves,
    /// It runs, and takes no operations now.
    Runs,
    /// It does not run.
    Absent,
    /// Not known.
    Unknown,
}

/// What a server goes on with when nobody waits for it any more: by which of its figures
/// the end shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A repair: it has a number.
    Repair,
    /// A rewrite: it is in the list of compactions.
    Rewrite(Rewrites),
    /// A rebuild: it is in the list of streams.
    Rebuild,
    /// The spec does not name the operation any more.
    Unknown,
}

/// What rewrites SSTables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrites {
    /// A cleanup.
    Cleanup,
    /// The format of another release.
    UpgradeSstables,
}

impl Left {
    /// By an operation of this kind; none by what ends within seconds, or may be called
    /// twice. Whoever asked for a removal asks the ring what became of it.
    pub fn by(kind: OperationKind) -> Option<Self> {
        match kind {
            OperationKind::Repair => Some(Left::Repair),
            OperationKind::Cleanup => Some(Left::Rewrite(Rewrites::Cleanup)),
            OperationKind::UpgradeSstables => Some(Left::Rewrite(Rewrites::UpgradeSstables)),
            OperationKind::Rebuild => Some(Left::Rebuild),
            OperationKind::AlterReplication
            | OperationKind::Flush
            | OperationKind::RemoveNode
            | OperationKind::Unknown(_) => None,
        }
    }
}

/// Decide about the operation in the spec (as read live).
pub fn next(spec: &CassandraMemberSpec, ledger: &Ledger, worker: Worker, server: Server) -> Next {
    if worker == Worker::Busy {
        return Next::Nothing;
    }
    if let Some(open) = ledger.operations.iter().find(|o| o.state == OperationState::Running) {
        let named = spec.operation.as_ref().filter(|wanted| wanted.id == open.id);
        let left = named.map_or(Some(Left::Unknown), |wanted| Left::by(wanted.kind));
        return match (server, left) {
            (Server::Serves | Server::Runs, Some(left)) => Next::Settle(left),
            (Server::Serves | Server::Runs, None) | (Server::Absent, _) => Next::NoteInterrupted,
            (Server::Unknown, _) => Next::Nothing,
        };
    }
    let Some(wanted) = &spec.operation else {
        return Next::Nothing;
    };
    if ledger.operation(&wanted.id).is_some() {
        return Next::Nothing;
    }
    match (unknown(wanted).or_else(|| misdirected(wanted, ledger)), server) {
        (Some(why), _) => Next::NoteRefused(why),
        (None, Server::Serves) => Next::Begin,
        (None, Server::Runs | Server::Absent | Server::Unknown) => Next::Nothing,
    }
}

/// What a newer operator asks for and this agent does not know.
fn unknown(wanted: &Operation) -> Option<Failed> {
    let kind = match wanted.kind {
        OperationKind::Unknown(word) => Some(word),
        OperationKind::AlterReplication
        | OperationKind::Repair
        | OperationKind::Cleanup
        | OperationKind::Flush
        | OperationKind::UpgradeSstables
        | OperationKind::Rebuild
        | OperationKind::RemoveNode => None,
    };
    let ranges = match wanted.ranges {
        RepairRanges::Unknown(word) => Some(word),
        RepairRanges::Primary | RepairRanges::All => None,
    };
    kind.or(ranges).map(Failed::unknown)
}

/// Does it name another volume or host ID than ours (safety rule 1.3)? It was
/// left over when the volume was lost, or when the member was replaced.
fn misdirected(wanted: &Operation, ledger: &Ledger) -> Option<Failed> {
    if let Some(named) = wanted.volume_id.as_ref().filter(|id| **id != ledger.volume_id) {
        let (named, found) = (named.clone(), ledger.volume_id.clone());
        return Some(Failed::OtherVolume { named, found });
    }
    let (named, found) = (wanted.host_id.as_ref()?, ledger.host_id.as_ref()?);
    (named != found).then(|| Failed::OtherHostId { named: named.clone(), found: found.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::{HostId, VolumeId};
    use palladion_api::member::{OperationStatus, Word};

    fn spec() -> CassandraMemberSpec {
        let operation = Operation::of("o1".into(), OperationKind::Flush);
        CassandraMemberSpec { operation: Some(operation), ..Default::default() }
    }

    fn ledger(state: Option<OperationState>) -> Ledger {
        let mut ledger = Ledger::new("v".into(), None);
        if let Some(state) = state {
            ledger.set_operation(OperationStatus {
                id: "o1".into(),
                state,
                progress: None,
                message: None,
                started_at: None,
                finished_at: None,
            });
        }
        ledger
    }

    #[test]
    fn an_id_is_begun_once() {
        assert_eq!(next(&spec(), &ledger(None), Worker::Idle, Server::Serves), Next::Begin);
        for state in
            [OperationState::Succeeded, OperationState::Failed, OperationState::Interrupted]
        {
            assert_eq!(
                next(&spec(), &ledger(Some(state)), Worker::Idle, Server::Serves),
                Next::Nothing,
                "{state:?}"
            );
        }
    }

    fn spec_of(kind: OperationKind) -> CassandraMemberSpec {
        let operation = Operation::of("o1".into(), kind);
        CassandraMemberSpec { operation: Some(operation), ..Default::default() }
    }

    #[test]
    fn what_an_earlier_agent_left_is_waited_for_while_the_server_may_go_on_with_it() {
        let left = ledger(Some(OperationState::Running));
        let next = |spec: &CassandraMemberSpec, server| next(spec, &left, Worker::Idle, server);
        let cleanup = Left::Rewrite(Rewrites::Cleanup);
        for (kind, what) in
            [(OperationKind::Repair, Left::Repair), (OperationKind::Cleanup, cleanup)]
        {
            for server in [Server::Serves, Server::Runs] {
                assert_eq!(next(&spec_of(kind), server), Next::Settle(what));
            }
            assert_eq!(next(&spec_of(kind), Server::Absent), Next::NoteInterrupted);
            assert_eq!(next(&spec_of(kind), Server::Unknown), Next::Nothing);
        }
        let forgotten = CassandraMemberSpec::default();
        assert_eq!(next(&forgotten, Server::Serves), Next::Settle(Left::Unknown));
        let busy = super::next(&spec(), &left, Worker::Busy, Server::Serves);
        assert_eq!(busy, Next::Nothing);
    }

    #[test]
    fn what_ends_by_itself_or_may_be_called_twice_is_interrupted_at_once() {
        let left = ledger(Some(OperationState::Running));
        for kind in
            [OperationKind::Flush, OperationKind::AlterReplication, OperationKind::RemoveNode]
        {
            let next = next(&spec_of(kind), &left, Worker::Idle, Server::Serves);
            assert_eq!(next, Next::NoteInterrupted, "{kind:?}");
        }
    }

    #[test]
    fn waits_for_a_server_that_serves() {
        for server in [Server::Runs, Server::Absent, Server::Unknown] {
            assert_eq!(next(&spec(), &ledger(None), Worker::Idle, server), Next::Nothing);
        }
    }

    #[test]
    fn one_for_another_volume_or_host_id_is_noted_and_not_begun() {
        let named = |volume: &str, host: &str| {
            let mut spec = spec();
            let operation = spec.operation.as_mut().unwrap();
            operation.volume_id = Some(VolumeId::new(volume));
            operation.host_id = Some(HostId::new(host));
            let mut ledger = ledger(None);
            ledger.host_id = Some(HostId::new("h"));
            next(&spec, &ledger, Worker::Idle, Server::Serves)
        };
        assert_eq!(named("v", "h"), Next::Begin);
        for next in [named("another", "h"), named("v", "another")] {
            assert!(matches!(next, Next::NoteRefused(_)), "{next:?}");
        }
    }

    /// An agent stays for long beside a newer operator.
    #[test]
    fn one_that_is_not_known_is_refused_by_name_and_not_begun() {
        let mut kind = spec();
        kind.operation.as_mut().unwrap().kind = OperationKind::Unknown(Word::new("Scrub"));
        let mut ranges = spec();
        ranges.operation.as_mut().unwrap().ranges = RepairRanges::Unknown(Word::new("Scrub"));
        for spec in [kind, ranges] {
            let next = next(&spec, &ledger(None), Worker::Idle, Server::Serves);
            let Next::NoteRefused(why) = next else { panic!("{next:?}") };
            let why = why.to_string();
            assert!(why.contains("`Scrub`") && why.contains("does not support"), "{why}");
        }
    }

    #[test]
    fn a_misdirected_one_is_noted_once() {
        let mut spec = spec();
        spec.operation.as_mut().unwrap().volume_id = Some(VolumeId::new("another"));
        let noted = ledger(Some(OperationState::Failed));
        assert_eq!(next(&spec, &noted, Worker::Idle, Server::Serves), Next::Nothing);
    }
}
