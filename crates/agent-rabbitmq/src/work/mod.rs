//! What is done with a node that runs. Each piece of work looks first what is so already,
//! asks for what is not, and looks again: an exit code of 0 proves nothing (R10 of the
//! experiments in `docs/sources.md`). Work runs beside the agent's loop; what has to outlive
//! it, the loop notes in the ledger.

mod application;
mod coordinator;
pub mod definitions;
mod flags;
mod forget;
mod grow;
mod join;
pub mod marks;
mod meet;
mod move_replicas;
mod node;
mod open;
mod rebalance;
mod replicas;
mod set_up;
mod users;
mod view;

pub use node::NodeState;
pub use view::View;

use crate::decide::Work;
use crate::decide::operation::Job;
use crate::launch::{Credentials, Mounted};
use crate::wire::{Ctl, Management};
use crate::words::job::Failed;
use anyhow::Result;
use palladion_agent_core::service::changes::Outcome;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{OperationAnswer, QueueNames};
use std::path::PathBuf;

/// What work needs: the node's command line, its management API, and what was mounted.
#[derive(Clone, Debug)]
pub struct Hands {
    /// The command line.
    pub ctl: Ctl,
    /// The management API.
    pub management: Management,
    /// The Secret with the credentials.
    pub credentials: Credentials,
    /// The operator's configuration.
    pub mounted: Mounted,
    /// The file with the definitions, whether it is there or not.
    pub definitions: PathBuf,
}

/// What was done well, in words, and what was left as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// A line for people.
    pub message: String,
    /// Queues that were left as they were.
    pub left: Option<QueueNames>,
}

impl Done {
    fn of(words: impl ToString) -> Self {
        Self { message: words.to_string(), left: None }
    }
}

impl Hands {
    /// Name of our node.
    pub fn own(&self) -> &NodeName {
        self.ctl.node()
    }

    /// Do a piece of work.
    ///
    /// # Errors
    /// What was being done, and why it failed. It may be done again.
    pub async fn work(&self, work: &Work) -> Result<()> {
        match work {
            Work::SetUp => self.set_up().await,
            Work::Meet { nodes } => self.meet(nodes).await,
            Work::Join { nodes } => self.join(nodes).await,
            Work::Open => self.open().await,
            Work::StopApp => self.stop_app().await,
            Work::StartApp => self.start_app().await,
            Work::MakeUser => self.make_agent_user().await,
            Work::MakeVhost => self.keep_vhost().await,
        }
    }

    /// Carry an operation out.
    pub async fn operate(&self, job: &Job) -> Outcome {
        let done = match job {
            Job::MoveReplicas { node } => self.move_replicas(node).await,
            Job::Forget { node, queues } => self.forget(node, *queues).await,
            Job::Grow => self.grow().await,
            Job::Rebalance => self.rebalance().await,
            Job::EnableFeatureFlags => self.enable_feature_flags().await,
            Job::ImportDefinitions { hash } => self.import_definitions(hash).await,
        };
        match done {
            Ok(Done { message, left }) => {
                Outcome { answer: OperationAnswer::Made, queues: left, message }
            }
            Err(error) => {
                let message = Failed::Chain { why: format!("{error:#}") }.to_string();
                Outcome { answer: OperationAnswer::Other, queues: None, message }
            }
        }
    }
}
