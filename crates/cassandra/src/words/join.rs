//! Joins: what a joiner waits for, and what comes of an attempt.

use super::members::Server;
use super::turn::FailedStart;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What a join waits for.
    pub enum Waiting {
        ForPod { member: MemberName, pod: MemberPod } => WaitingForPod,
            "member {member} is waiting to join: {pod}";
        ForGrace { member: MemberName, until: Timestamp } => WaitingForGrace,
            "member {member} cannot join before {until}: the grace period after the last start has not ended";
        ForRoles { member: MemberName } => WaitingForRevision,
            "member {member} cannot join before a member of the ring has been restarted with `auth.mode: Password` and has closed the user `cassandra`";
        UnknownPermit { member: MemberName } => WaitingForMember,
            "member {member} has a start permit of a kind that this operator does not know, and the operator makes no other change to the ring while the permit is in use; upgrade the operator";
        HasTurn { member: MemberName, pod: MemberPod } => WaitingForPod,
            "it is member {member}'s turn to start, but the member is not ready: {pod}";
        Initializing { member: MemberName, server: Server } => Initializing,
            "member {member} is initializing the ring: {server}";
        Joining { member: MemberName, server: Server } => Joining,
            "member {member} is joining the ring: {server}";
        Recording { member: MemberName } => Joining,
            "member {member} has joined; its host ID is being recorded";
        Retry { member: MemberName, at: Timestamp } => Joining, "the start of member {member} will be retried at {at}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { failed: FailedStart } => JoinFailed,
            "{failed}; correct the cause, then delete the pod of the member to try again";
        Terminated { member: MemberName, volume: VolumeId, claim: String } => MemberTerminated,
            "member {member} cannot join: a user has terminated volume {volume}, on which no server starts again; to give the member a new volume, delete PersistentVolumeClaim {claim} and then pod {member}";
    }

    /// Why a join or a first start ends before its work is done.
    pub enum Ended {
        AgentRefused { why: String } => "its agent refused to start the server: {why}";
        NotRestored { why: String } => "{why}";
        NotWanted => "the spec does not ask for it any more";
        OtherVolume => "it now has a different volume";
        RingIsElsewhere => "the spec says that the ring exists elsewhere";
        InitializedElsewhere => "the ring is being initialized on another volume";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the join of member {member}";
        StartElsewhere { member: MemberName, ring: String } =>
            "begin the join of member {member}, the first of its datacenter, to ring {ring}";
        StartUnrecorded { member: MemberName } =>
            "start member {member} with its existing data: it had joined, but this was not recorded";
        PassTurn { from: MemberName, to: MemberName } =>
            "pass the turn from member {from} to member {to}";
        Retry { member: MemberName } => "retry the start of member {member}";
    }
}
