//! Joins.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::members::Server;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a member has not joined yet.
    pub enum Waiting {
        ForPod { member: MemberName, pod: MemberPod } => WaitingForPod,
            "member {member} waits to join: {pod}";
        ForEnsemble { member: MemberName, why: Objection } => WaitingForEnsemble,
            "member {member} waits to join: {why}";
        Starting { member: MemberName, server: Server } => Joining,
            "member {member} is joining the ensemble: {server}";
        Completing { member: MemberName, server: Server } => Joining,
            "the server of member {member} votes: {server}";
        Retry { member: MemberName, at: Timestamp } => Joining,
            "the start of member {member} failed and is tried again at {at}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { member: MemberName, server: Server, namespace: String } => JoinFailed,
            "member {member} could not join after several tries: {server}; correct the cause, and run `kubectl delete pod -n {namespace} {member}` to have it tried again";
        NoServerId { member: MemberName } => JoinFailed,
            "member {member} cannot join: every server ID from 1 to 254 was given to a volume before, and none is given twice; create another ZookeeperCluster and migrate the data";
    }

    /// Events.
    pub enum Happened {
        Joined { member: MemberName, id: ServerId } => Joining,
            "member {member} has joined the ensemble as server {id}";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, id: ServerId } => "begin the join of member {member} as server {id}";
        LeaveOldData { member: MemberName, volume: VolumeId } => "have member {member} note that the server on volume {volume} has left";
        Again { member: MemberName } => "let member {member} try again to join";
    }
}
