//! Joins.

use super::evidence::Objection;
use super::queues::Queues;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::rabbitmq::NodeName;
use palladion_plan::words::members::Server;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a member has not joined yet.
    pub enum Waiting {
        ForPod { member: MemberName, pod: MemberPod } => WaitingForPod,
            "member {member} waits to join: {pod}";
        ForCluster { member: MemberName, why: Objection } => WaitingForNodes,
            "member {member} waits to join: {why}";
        Starting { member: MemberName, server: Server } => Joining,
            "member {member} is joining the cluster: {server}";
        CatchingUp { member: MemberName, queues: Queues } => WaitingForQueues,
            "member {member} has joined, and its replicas of {queues} are catching up";
        NotKnown { member: MemberName } => WaitingForQueues,
            "member {member} has joined, and does not report yet whether its replicas have caught up";
        Retry { member: MemberName, at: Timestamp } => Joining,
            "the start of member {member} failed and is tried again at {at}";
        ForName { member: MemberName, node: NodeName } => QueueNamesNode,
            "member {member} waits to join until no queue names node {node}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { member: MemberName, server: Server, namespace: String } => JoinFailed,
            "member {member} could not join after several tries: {server}; correct the cause, and run `kubectl delete pod -n {namespace} {member}` to have it tried again";
        QueueNamesNode { member: MemberName, node: NodeName, queues: Queues } => QueueNamesNode,
            "member {member} cannot join as node {node}: {queues} still name that node, and its empty replicas would vote; take the replica out of each queue with `rabbitmq-queues delete_member`; only a queue that has lost its majority has to be deleted, with its messages";
    }

    /// What fails each time.
    pub enum Fails {
        Operation { member: MemberName, why: String, executor: MemberName, namespace: String } => OperationFailed,
            "the join of member {member} does not come to its end, and is tried again every 10 minutes: {why}; correct the cause (`kubectl logs -n {namespace} {executor} -c rabbitmq`)";
    }

    /// Events.
    pub enum Happened {
        Joined { member: MemberName } => Joining, "member {member} has joined the cluster";
        WithoutReplicas { member: MemberName, queues: Queues } => WaitingForQueues,
            "{queues} refused a replica on member {member} and keep fewer than they should have; once they have a leader, add it with `rabbitmq-queues add_member` or `rabbitmq-streams add_replica`";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the join of member {member}";
        LeaveOldData { member: MemberName, volume: VolumeId } => "have member {member} note that the node on volume {volume} has left";
        YetToGrow { member: MemberName } => "record that member {member} has yet to take replicas of queues";
        HasGrown { member: MemberName } => "record that member {member} has its replicas of queues";
        Again { member: MemberName } => "let member {member} try again to join";
    }
}
