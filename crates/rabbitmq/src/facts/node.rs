//! A member as a node of RabbitMQ: its name, and how it sees the cluster and the queues.

use palladion_api::ids::Nonce;
use palladion_api::rabbitmq::NodeName;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{BrokerView, QueuesView};
use palladion_plan::members::{ClaimFact, MemberFact};

/// A whole answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The cluster as the node sees it.
    pub broker: BrokerView,
    /// The queues as the node sees them.
    pub queues: QueuesView,
}

/// A member as a node.
pub trait Node {
    /// The cluster as its running node sees it now.
    fn view(&self) -> Option<&BrokerView>;

    /// Does it run, and wait for the tables of a node that does not?
    fn waits_for_tables(&self) -> bool;

    /// Its answer to this question: none yet, or one without what could not be read.
    fn answer(&self, nonce: &Nonce) -> Option<Option<Answer>>;
}

impl Node for MemberFact {
    fn view(&self) -> Option<&BrokerView> {
        self.status.broker.as_ref().filter(|_| self.runs())
    }

    fn waits_for_tables(&self) -> bool {
        let reason = self.server().and_then(|server| server.reason.as_deref());
        reason == Some(Reason::WaitingForTables.as_str())
    }

    fn answer(&self, nonce: &Nonce) -> Option<Option<Answer>> {
        let evidence = self.answered(nonce)?;
        let both = evidence.broker.clone().zip(evidence.queues.clone());
        Some(both.map(|(broker, queues)| Answer { broker, queues }))
    }
}

/// The node name that was given to the volume of a claim.
pub fn claimed_name(claim: &ClaimFact) -> Option<NodeName> {
    claim.identity.as_deref().map(NodeName::new)
}
