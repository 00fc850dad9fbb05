//! Replacements of members whose volumes are lost.

use super::evidence::Objection;
use palladion_api::ids::MemberName;
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::members::Server;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a lost member is not replaced yet.
    pub enum Waiting {
        ForEnsemble { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} waits to be replaced: {why}";
        StillServes { member: MemberName, server: Server } => MemberReplacing,
            "member {member} waits to be replaced until its server has stopped: {server}";
        ForAddress { member: MemberName } => MemberReplacing,
            "member {member} waits for a new address";
        ForPod { member: MemberName, pod: MemberPod } => MemberReplacing,
            "member {member} waits for a pod on its new volume: {pod}";
    }

    /// Events.
    pub enum Happened {
        Replaced { member: MemberName, old: ServerId, new: ServerId } => MemberReplacing,
            "member {member} was replaced: server {new} has taken the place of server {old}";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, id: ServerId } => "begin the replacement of member {member} by server {id}";
        NewTurn { member: MemberName } => "go on with the replacement of member {member} on its new volume";
        Forget { member: MemberName } => "take the lost volume and its address off the record of member {member}";
    }
}
