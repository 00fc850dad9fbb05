//! What is done about the operation in the spec. Each ID is begun at most once,
//! whatever dies meanwhile: the ledger notes it before the work begins. A change of
//! the configuration names the version that it changes, so that even one that nobody
//! has heard the answer to is made once.

use crate::volume::ledger::Ledger;
use crate::words::calls::Failed;
pub use palladion_agent_core::service::operation::Worker;
use palladion_agent_core::service::operation::{Due, check_volume, due};
use palladion_agent_core::words::operation;
use palladion_api::service_member::{
    MemberOperation, MemberOperationKind, Reconfig, ServiceMemberSpec,
};

/// What is to be done about `spec.operation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// Nothing.
    Nothing,
    /// Note that it runs, and begin.
    Begin {
        /// Its ID.
        id: &'a str,
        /// The change of the configuration.
        change: &'a Reconfig,
    },
    /// One was under way when an earlier agent ended: note that, do not begin again.
    NoteInterrupted,
    /// It is not for us, or makes no sense: note that, do nothing.
    NoteRefused {
        /// Its ID.
        id: &'a str,
        /// Why.
        why: Failed,
    },
}

/// Does the server take jobs now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// It serves as a member.
    Serves,
    /// Anything else.
    DoesNotServe,
}

/// Decide about the operation in the spec (as read live).
pub fn next<'a>(
    spec: &'a ServiceMemberSpec,
    ledger: &Ledger,
    worker: Worker,
    server: Server,
) -> Next<'a> {
    let wanted = match due(spec, ledger, worker) {
        Due::Nothing => return Next::Nothing,
        Due::NoteInterrupted => return Next::NoteInterrupted,
        Due::Next(wanted) => wanted,
    };
    let id = wanted.id.as_str();
    match (checked(wanted, ledger), server) {
        (Err(why), _) => Next::NoteRefused { id, why },
        (Ok(change), Server::Serves) => Next::Begin { id, change },
        (Ok(_), Server::DoesNotServe) => Next::Nothing,
    }
}

fn checked<'a>(wanted: &'a MemberOperation, ledger: &Ledger) -> Result<&'a Reconfig, Failed> {
    match wanted.kind {
        MemberOperationKind::Reconfig => {}
        MemberOperationKind::MoveReplicas
        | MemberOperationKind::Forget
        | MemberOperationKind::Grow
        | MemberOperationKind::Rebalance
        | MemberOperationKind::EnableFeatureFlags
        | MemberOperationKind::ImportDefinitions => {
            return Err(Failed::NotOfZookeeper { kind: format!("{:?}", wanted.kind) });
        }
        MemberOperationKind::Unknown(word) => return Err(operation::Failed::unknown(word).into()),
    }
    check_volume(wanted, ledger)?;
    let change = wanted.reconfig.as_ref().ok_or(Failed::NoChange)?;
    if change.add.is_empty() && change.remove.is_empty() {
        return Err(Failed::NoChange);
    }
    match change.add.iter().find(|peer| change.remove.contains(&peer.server_id)) {
        Some(both) => Err(Failed::BothWays { id: both.server_id }),
        None => Ok(change),
    }
}
