//! Jobs of a member. Each ID is begun at most once, whatever dies meanwhile:
//! the ledger notes it before the work begins.

mod run;

pub use run::{Tools, run};

use crate::volume::ledger::Ledger;
use palladion_api::member::{CassandraMemberSpec, OperationState};

/// What is to be done about `spec.operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Note that it runs, and begin.
    Begin,
    /// It was under way when an earlier agent ended: note that, do not begin again.
    NoteInterrupted,
}

/// Does a job of this agent run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// No.
    Idle,
    /// Yes.
    Busy,
}

/// Does the server take jobs now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// A full member that answers CQL.
    Serves,
    /// Anything else.
    DoesNotServe,
}

/// Decide about the operation in the spec (as read live).
pub fn next(spec: &CassandraMemberSpec, ledger: &Ledger, worker: Worker, server: Server) -> Next {
    if worker == Worker::Busy {
        return Next::Nothing;
    }
    if ledger.operations.iter().any(|o| o.state == OperationState::Running) {
        return Next::NoteInterrupted;
    }
    let Some(wanted) = &spec.operation else {
        return Next::Nothing;
    };
    match (ledger.operation(&wanted.id), server) {
        (None, Server::Serves) => Next::Begin,
        (None, Server::DoesNotServe) | (Some(_), _) => Next::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::{Operation, OperationKind, OperationStatus};

    fn spec() -> CassandraMemberSpec {
        let operation = Operation {
            id: "o1".into(),
            kind: OperationKind::Flush,
            keyspaces: vec![],
            replication: Default::default(),
            ranges: Default::default(),
            target: None,
            requested_at: None,
        };
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

    #[test]
    fn what_an_earlier_agent_left_is_interrupted_and_not_begun_again() {
        let left = ledger(Some(OperationState::Running));
        assert_eq!(next(&spec(), &left, Worker::Idle, Server::Serves), Next::NoteInterrupted);
        assert_eq!(
            next(&CassandraMemberSpec::default(), &left, Worker::Idle, Server::DoesNotServe),
            Next::NoteInterrupted
        );
        assert_eq!(next(&spec(), &left, Worker::Busy, Server::Serves), Next::Nothing);
    }

    #[test]
    fn waits_for_a_server_that_serves() {
        assert_eq!(next(&spec(), &ledger(None), Worker::Idle, Server::DoesNotServe), Next::Nothing);
    }
}
