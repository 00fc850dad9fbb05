//! What is asked of the servers, what they prove, and what forbids a step.

use super::members::Server;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, Nonce, PodUid, Uid};
use palladion_api::zookeeper::Zxid;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What forbids a step.
    pub enum Objection {
        Silent { member: MemberName } => "the agent of member {member} does not report";
        NoQuorum { member: MemberName } => "the server of member {member} is not in touch with a quorum";
        NotInConfiguration { member: MemberName } =>
            "the configuration of the ensemble does not contain the server of member {member}";
        Disagree { first: MemberName, other: MemberName } =>
            "members {first} and {other} have different configurations of the ensemble";
        UnknownServer { servers: Names } =>
            "the configuration of the ensemble contains servers that no member accounts for: {servers}";
        NoMajority { rest: usize } => "only {rest} of the other servers vote, which is no majority";
        Nobody => "no server can be asked";
    }

    /// Waiting for the others.
    pub enum Waiting {
        ForAnswers { member: MemberName, from: Names } => WaitingForEvidence,
            "waiting for {from} to report the configuration of the ensemble, on behalf of member {member}";
        Refused { member: MemberName, why: Objection } => WaitingForEnsemble,
            "member {member} waits for the ensemble: {why}";
    }

    /// Why no server serves in a pod.
    pub enum Idle {
        Unschedulable { message: String } => "it cannot be scheduled: {message}";
        Failing { reason: String, message: String } => "it is failing: {reason}: {message}";
        Server { server: Server } => "{server}";
    }

    /// Why a step that could hurt may be taken.
    pub enum Proven {
        Agreed { nonce: Nonce, version: Zxid, servers: Names } =>
            "nonce {nonce}: every server that this step requires serves and has configuration {version}, in which {servers} vote";
        First =>
            "it is the first server of a new ensemble; every other volume was reported empty, or a user allowed the new ensemble";
        Named { volumes: Names } =>
            "a user allowed the ensemble to go on without these volumes: {volumes}";
        GoesOn =>
            "its start on this volume was permitted before; it goes on with the data and the server ID that it has";
        Idle { pod: PodUid, revision: String, why: Idle } =>
            "the pod with UID {pod} (revision {revision}) is not serving: {why}";
        NothingOnNode { member: MemberName, node: String } =>
            "the volume holds no data of the ensemble: no server ID was given to member {member}, and its Node {node} is gone";
        HasLeft { said: String } => "the member is not in the ensemble: {said}";
        Vacant { set: String, ordinal: i32 } =>
            "StatefulSet {set} has no member with ordinal {ordinal} or higher";
        ClusterDeleted { uid: Uid } =>
            "`deletionPolicy` is Delete, and the ZookeeperCluster with UID {uid} is being deleted";
    }

    /// Why a volume counts as lost.
    pub enum Lost {
        ByAgent { message: String } => "its agent reports: {message}";
        NodeGone { node: String, since: Timestamp } => "its Node {node} has been gone since {since}";
        LeftOut { member: MemberName } => "member {member} goes on alone, as a user allowed";
        ByUser { annotation: &'static str } =>
            "a user named the volume in the annotation {annotation}";
    }

    /// Events.
    pub enum Happened {
        Marked { member: MemberName, why: Lost } => VolumeLost,
            "the volume of member {member} is lost, so the member is replaced: {why}";
    }

    /// Steps.
    pub enum Doing {
        Ask { member: MemberName } => "ask member {member} for the configuration of the ensemble";
        AskAgain { member: MemberName } => "ask all members again, on behalf of member {member}";
        Mark { member: MemberName } => "record that the volume of member {member} is lost";
        Unmark { member: MemberName } => "record that the volume of member {member} is not left out any more";
    }
}
