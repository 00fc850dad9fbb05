//! What is asked of the nodes, what they prove, and what forbids a step.

use palladion_api::ids::{MemberName, Nonce};
use palladion_api::rabbitmq::NodeName;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What forbids a step.
    pub enum Objection {
        Silent { member: MemberName } => "the agent of member {member} does not report";
        NotServing { member: MemberName } => "the node of member {member} does not serve";
        NotRead { member: MemberName } => "the agent of member {member} could not read the cluster or the queues";
        Partitioned { member: MemberName, nodes: Names } =>
            "the node of member {member} reports a partition from {nodes}";
        NotSeen { member: MemberName, nodes: Names } =>
            "the node of member {member} does not see {nodes} run";
        NotInCluster { member: MemberName } =>
            "the other nodes do not name the node of member {member} as one of the cluster";
        Disagree { first: MemberName, other: MemberName } =>
            "members {first} and {other} name different nodes as those of the cluster";
        UnknownNode { nodes: Names } =>
            "the cluster contains nodes that no member accounts for: {nodes}";
        Alarm { node: NodeName, resource: String } =>
            "node {node} holds up publishers, because {resource} runs short";
        FlagsNotRead => "no agent could read the feature flags";
        Khepri => "the nodes keep their membership in Khepri, which this operator does not support";
        NoMajority { rest: usize, of: usize } =>
            "only {rest} of {of} nodes would go on, which is no majority";
        Nobody => "no node can be asked";
    }

    /// Waiting for the others.
    pub enum Waiting {
        Refused { member: MemberName, why: Objection } => WaitingForNodes,
            "member {member} waits for the cluster: {why}";
    }

    /// Why a step that could hurt may be taken.
    pub enum Proven {
        Agreed { nonce: Nonce, nodes: Names } =>
            "nonce {nonce}: every node that this step requires serves, sees the others run, reports no partition, and names these as the cluster: {nodes}";
    }
}
