//! Leaves.

use super::evidence::Objection;
use super::queues::Queues;
use palladion_api::ids::{MemberName, Nonce};
use palladion_plan::words::members::Server;

palladion_plan::sentences! {
    /// Why a member has not left yet.
    pub enum Waiting {
        ForCluster { member: MemberName, why: Objection } => MemberLeaving,
            "member {member} waits to leave: {why}";
        ForReplicas { member: MemberName, queues: Queues } => WaitingForQueues,
            "member {member} waits to leave: {queues} still have replicas on it";
        ForOther { member: MemberName, other: MemberName } => MemberLeaving,
            "member {member} waits to leave until member {other} has left: of the two nodes that would be left neither could be restarted";
        ForLost { member: MemberName, other: MemberName } => MemberLeaving,
            "member {member} waits to leave until member {other} has left, whose volume is on record as lost: fewer nodes bear the loss of another one";
        ForUser { member: MemberName } => QueuesWouldBeLost,
            "member {member} does not leave: queues exist on it alone";
        StoppingApp { member: MemberName, server: Server } => MemberLeaving,
            "member {member} is leaving the cluster: {server}";
        Ending { member: MemberName, server: Server } => MemberLeaving,
            "member {member} leaves when its join has ended: {server}";
        StartingApp { member: MemberName, server: Server } => MemberLeaving,
            "member {member} stays in the cluster and starts again: {server}";
        Stopping { member: MemberName, server: Server } => MemberLeaving,
            "member {member} has left the cluster: {server}";
    }

    /// What needs a person.
    pub enum Problem {
        QueuesWouldBeLost { member: MemberName, queues: Queues, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            QueuesWouldBeLost,
            "member {member} does not leave: {queues} exist on it alone and would be deleted with it; move their messages or delete the queues; to let it leave all the same, run `kubectl annotate -n {namespace} rabbitmqcluster {cluster} --overwrite {annotation}={nonce}`";
        QueuesNotMoved { member: MemberName, queues: Queues } => QueuesNotMoved,
            "member {member} does not leave: {queues} could not be moved off its node, and that is tried again every 10 minutes; look for replicas that are not online (`rabbitmq-queues quorum_status QUEUE`, `rabbitmq-streams stream_status QUEUE`) and bring back the members that hold them, or set `nodes` back; only if the majority of its replicas is lost for good, and as the last resort, delete a queue with its messages (`rabbitmqctl delete_queue QUEUE`)";
        MoveFailed { member: MemberName, queues: Queues, why: String, namespace: String } => QueuesNotMoved,
            "member {member} does not leave: its agent fails to move {queues} off its node, and that is tried again every 10 minutes: {why}; correct the cause (`kubectl logs -n {namespace} {member} -c rabbitmq`), or set `nodes` back";
    }

    /// What fails each time, and is no move of its own replicas.
    pub enum Fails {
        Operation { member: MemberName, why: String, executor: MemberName, namespace: String } => OperationFailed,
            "member {member} does not leave, and that is tried again every 10 minutes: {why}; correct the cause (`kubectl logs -n {namespace} {executor} -c rabbitmq`), or set `nodes` back";
    }

    /// How a move has ended that did not come to its end.
    pub enum Cut {
        Short => "the agent started again each time before it had moved all";
    }

    /// Events.
    pub enum Happened {
        HasLeft { member: MemberName } => MemberLeaving, "member {member} has left the cluster";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the leave of member {member}";
        StopApp { member: MemberName } => "have member {member} stop its application";
        StartApp { member: MemberName } => "have member {member} start its application again";
        TakeBack { member: MemberName } => "bring replicas back to member {member}, which stays";
        RecordLeft { member: MemberName } => "record that member {member} has left the cluster";
    }
}
