//! What the nodes that were asked have answered, and agree on.

use super::proof::Proof;
use crate::facts::Answer;
use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{FeatureFlags, NodeQueues, QueueNames};
use std::collections::{BTreeMap, BTreeSet};

/// What all have answered, and what it proves.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The nodes of the cluster, on which all agree.
    pub nodes: BTreeSet<NodeName>,
    /// The answers, by member.
    pub answers: BTreeMap<MemberName, Answer>,
    /// The proof.
    pub proof: Proof,
}

impl Agreed {
    /// Do they name this node as one of the cluster?
    pub fn names(&self, node: &NodeName) -> bool {
        self.nodes.contains(node)
    }

    /// Does any of them see this node run?
    pub fn see(&self, node: &NodeName) -> bool {
        self.answers.values().any(|answer| answer.broker.sees(node))
    }

    /// What is on a node, by whoever sees the most of it: one that has not heard of a
    /// queue yet must not hide it.
    pub fn on(&self, node: &NodeName) -> NodeQueues {
        let mut most = NodeQueues { node: node.clone(), ..NodeQueues::default() };
        for answer in self.answers.values() {
            let seen = answer.queues.on(node);
            larger(&mut most.replicas, seen.replicas);
            larger(&mut most.streams, seen.streams);
            larger(&mut most.classic, seen.classic);
            larger(&mut most.without_majority, seen.without_majority);
            larger(&mut most.only_here, seen.only_here);
        }
        most
    }

    /// Queues for which the node of this member must not stop, by its own word, which leaves
    /// out what nobody could wait for: a queue that is there alone, and one with two replicas.
    /// Of a node whose agent does not answer only the others speak, who do not say which
    /// queues these are: all without a majority elsewhere count.
    pub fn need(&self, member: &MemberName, node: &NodeName) -> QueueNames {
        let own = self.answers.get(member).map(|answer| answer.queues.critical.clone());
        own.unwrap_or_else(|| self.on(node).without_majority)
    }

    /// Replicas of this member that have not caught up; `None` where that is not known.
    pub fn behind(&self, member: &MemberName) -> Option<QueueNames> {
        self.answers.get(member)?.queues.behind.clone()
    }

    /// The feature flags, by the first that could read them.
    pub fn flags(&self) -> Option<&FeatureFlags> {
        self.answers.values().find_map(|a| a.broker.flags.as_ref())
    }
}

fn larger(most: &mut QueueNames, seen: QueueNames) {
    if seen.count > most.count {
        *most = seen;
    }
}
