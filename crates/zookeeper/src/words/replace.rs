//! Replacements of members whose volumes are lost.

use super::evidence::Objection;
use super::members::Pod;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Why a lost member is not replaced yet.
    pub enum Waiting {
        ForEnsemble { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} waits to be replaced: {why}";
        ForVolume { member: MemberName } => MemberReplacing,
            "member {member} waits for a new volume";
        ForAddress { member: MemberName } => MemberReplacing,
            "member {member} waits for a new address";
        ForPod { member: MemberName, pod: Pod } => MemberReplacing,
            "member {member} waits for a pod on its new volume: {pod}";
    }

    /// What needs a person.
    pub enum Problem {
        Serves { member: MemberName, volume: VolumeId, annotation: &'static str } => ReplaceRefused,
            "member {member} serves on volume {volume}, so it is not replaced; remove the annotation {annotation}";
        OtherVolume { member: MemberName, named: String, volume: VolumeId, annotation: &'static str } => ReplaceRefused,
            "the annotation {annotation} of member {member} names volume {named}, but the member has volume {volume}; correct the annotation or remove it";
        MajorityLost { members: Names } => MajorityLost,
            "the volumes of {members} are lost, and the other servers are no majority, so they accept no change";
    }

    /// Events.
    pub enum Happened {
        ClaimDeleted { claim: String, member: MemberName } => MemberReplacing,
            "PersistentVolumeClaim {claim} is deleted: the volume of member {member} is lost";
        Replaced { member: MemberName, old: ServerId, new: ServerId } => MemberReplacing,
            "member {member} was replaced: server {new} has taken the place of server {old}";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, id: ServerId } => "begin the replacement of member {member} by server {id}";
        NewTurn { member: MemberName } => "go on with the replacement of member {member} on its new volume";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim}, whose volume is lost";
        DeletePod { member: MemberName } => "delete the pod of member {member}, which keeps the lost volume";
        Forget { member: MemberName } => "take the lost volume and its address off the record of member {member}";
    }
}
