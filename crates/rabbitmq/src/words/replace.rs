//! Replacements of members whose volumes are lost.

use super::evidence::Objection;
use super::queues::Queues;
use palladion_api::ids::{MemberName, Nonce};
use palladion_plan::words::members::Server;
use palladion_plan::words::{Names, Several};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a lost member is not replaced yet.
    pub enum Waiting {
        ForCluster { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} waits to be replaced: {why}";
        StillServes { member: MemberName, server: Server } => MemberReplacing,
            "member {member} waits to be replaced until its node has stopped: {server}";
        ForUser { member: MemberName } => QueuesWouldLoseQuorum,
            "member {member} is not replaced: queues would lose their quorum or be deleted";
        ForReplicas { member: MemberName, queues: Queues } => WaitingForQueues,
            "member {member} waits to be replaced: {queues} still have replicas on it";
        ForPod { member: MemberName, pod: MemberPod } => MemberReplacing,
            "member {member} waits for a pod on its new volume: {pod}";
    }

    /// What queues would lose with a member.
    pub enum Loses {
        Quorum { queues: Queues } => "{queues} have no majority of their replicas on other nodes";
        All { queues: Queues } => "{queues} exist on it alone";
    }

    /// What needs a person.
    pub enum Problem {
        QueuesWouldLoseQuorum { member: MemberName, loses: Several<Loses>, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            QueuesWouldLoseQuorum,
            "member {member} is not replaced: {loses}; bring back the other nodes first; if they are lost as well, run `kubectl annotate -n {namespace} rabbitmqcluster {cluster} --overwrite {annotation}={nonce}`: the member is forgotten, classic queues on it alone are deleted, and the others are left to you to delete";
        MajorityLost { members: Names, volumes: Names } => MajorityLost,
            "the volumes of {members} ({volumes}) are lost, and the other nodes are no majority; bring back the machines that hold them, if these are only away; if that is not possible, save what the other nodes hold and create a new cluster: no node is forced to go on, because it may lack confirmed messages";
    }

    /// What fails each time.
    pub enum Fails {
        Operation { member: MemberName, why: String, executor: MemberName, namespace: String } => OperationFailed,
            "member {member} is not replaced, and that is tried again every 10 minutes: {why}; correct the cause (`kubectl logs -n {namespace} {executor} -c rabbitmq`), or take its replica out of each of these queues by hand (`rabbitmq-queues delete_member QUEUE NODE`, `rabbitmq-streams delete_replica STREAM NODE`)";
    }

    /// Events.
    pub enum Happened {
        Replaced { member: MemberName } => MemberReplacing,
            "member {member} was replaced on a new volume";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the replacement of member {member}";
        NewTurn { member: MemberName } => "go on with the replacement of member {member} on its new volume";
        Allowed { member: MemberName } => "record that a user allows queues to be left behind by member {member}";
        Forget { member: MemberName } => "take the lost volume off the record of member {member}";
    }
}
