//! What is done about the operation in the spec. Each ID is begun at most once, whatever
//! dies meanwhile; each kind looks first what is so already, so that the operator may ask
//! again under another ID.

use crate::volume::ledger::Ledger;
use crate::words::job::Failed;
pub use palladion_agent_core::service::operation::Worker;
use palladion_agent_core::service::operation::{Due, check_volume, due};
use palladion_agent_core::words::operation;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{
    ForgetQueues, MemberOperation, MemberOperationKind, ServiceMemberSpec,
};

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Move the replicas of queues off a node.
    MoveReplicas {
        /// The node.
        node: NodeName,
    },
    /// Forget a node that does not run.
    Forget {
        /// The node.
        node: NodeName,
        /// What becomes of queues that name it.
        queues: Naming,
    },
    /// Give queues replicas on this node.
    Grow,
    /// Spread the leaders of queues.
    Rebalance,
    /// Enable all stable feature flags.
    EnableFeatureFlags,
    /// Import the definitions.
    ImportDefinitions {
        /// Which are meant.
        hash: String,
    },
}

/// May queues name a node that is forgotten?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// They may not.
    Forbidden,
    /// A user has allowed it.
    Allowed,
}

/// What is to be done about `spec.operation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Note that it runs, and begin.
    Begin {
        /// Its ID.
        id: String,
        /// What to do.
        job: Job,
    },
    /// One was under way when an earlier agent ended: note that, do not begin again.
    NoteInterrupted,
    /// It is not for us, or makes no sense: note that, do nothing.
    NoteRefused {
        /// Its ID.
        id: String,
        /// Why.
        why: Failed,
    },
}

/// Does the node take jobs now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// It serves as a member.
    Serves,
    /// Anything else.
    DoesNotServe,
}

/// Decide about the operation in the spec (as read live).
pub fn next(spec: &ServiceMemberSpec, ledger: &Ledger, worker: Worker, server: Server) -> Next {
    let wanted = match due(spec, ledger, worker) {
        Due::Nothing => return Next::Nothing,
        Due::NoteInterrupted => return Next::NoteInterrupted,
        Due::Next(wanted) => wanted,
    };
    let id = wanted.id.clone();
    match (checked(wanted, ledger), server) {
        (Err(why), _) => Next::NoteRefused { id, why },
        (Ok(job), Server::Serves) => Next::Begin { id, job },
        (Ok(_), Server::DoesNotServe) => Next::Nothing,
    }
}

fn checked(wanted: &MemberOperation, ledger: &Ledger) -> Result<Job, Failed> {
    let job = match wanted.kind {
        MemberOperationKind::Reconfig => {
            return Err(Failed::NotOfRabbitmq { kind: format!("{:?}", wanted.kind) });
        }
        MemberOperationKind::MoveReplicas => {
            Job::MoveReplicas { node: wanted.node.clone().ok_or(Failed::NoNode)? }
        }
        MemberOperationKind::Forget => forget(wanted, ledger)?,
        MemberOperationKind::Grow => Job::Grow,
        MemberOperationKind::Rebalance => Job::Rebalance,
        MemberOperationKind::EnableFeatureFlags => Job::EnableFeatureFlags,
        MemberOperationKind::ImportDefinitions => {
            let hash = wanted.definitions_hash.clone().ok_or(Failed::NoDefinitionsHash)?;
            Job::ImportDefinitions { hash }
        }
        MemberOperationKind::Unknown(word) => return Err(operation::Failed::unknown(word).into()),
    };
    check_volume(wanted, ledger)?;
    Ok(job)
}

fn forget(wanted: &MemberOperation, ledger: &Ledger) -> Result<Job, Failed> {
    let node = wanted.node.clone().ok_or(Failed::NoNode)?;
    if ledger.node_name.as_ref() == Some(&node) {
        return Err(Failed::OwnNode { node });
    }
    let queues = match wanted.queues {
        None | Some(ForgetQueues::MustNotName) => Naming::Forbidden,
        Some(ForgetQueues::MayName) => Naming::Allowed,
        Some(ForgetQueues::Unknown(word)) => return Err(operation::Failed::unknown(word).into()),
    };
    Ok(Job::Forget { node, queues })
}
