//! Volumes of members that are lost.

use super::Span;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};

palladion_api::sentences! {
    /// Why a volume counts as lost.
    pub enum Lost {
        ByAgent { message: String } => "its agent reports: {message}";
        NodeGone { node: String, since: Timestamp } => "its Node {node} has been gone since {since}";
        LeftOut { member: MemberName } => "member {member} goes on alone, as a user allowed";
        ByUser { annotation: &'static str } =>
            "a user named the volume in the annotation {annotation}";
    }

    /// Why a volume does not count as lost any more.
    pub enum Back {
        Node => "its Node is back";
        NotNamed => "no annotation names the volume any more";
    }

    /// Why a lost member is not replaced yet.
    pub enum Waiting {
        Grace { member: MemberName, node: String, due: Timestamp } => NodeGone,
            "Node {node} of member {member} is gone; the member is replaced at {due} unless the Node comes back";
        ForVolume { member: MemberName } => MemberReplacing,
            "member {member} waits for a new volume";
    }

    /// What needs a person.
    pub enum Problem {
        Serves { member: MemberName, volume: VolumeId, annotation: &'static str } => ReplaceRefused,
            "member {member} serves on volume {volume}, so it is not replaced; remove the annotation {annotation}";
        NodeGone { member: MemberName, node: String, since: Timestamp } => NodeGone,
            "Node {node}, which holds the volume of member {member}, has been gone since {since}";
        OtherVolume { member: MemberName, named: String, volume: VolumeId, annotation: &'static str } => ReplaceRefused,
            "the annotation {annotation} of member {member} names volume {named}, but the member has volume {volume}; correct the annotation or remove it";
    }

    /// Events.
    pub enum Happened {
        Marked { member: MemberName, why: Lost } => VolumeLost,
            "the volume of member {member} is lost, so the member is replaced: {why}";
        NodeGone { node: String, member: MemberName, grace: Span } => NodeGone,
            "Node {node}, which holds the volume of member {member}, is gone; the member is replaced in {grace} unless the Node comes back";
        TakenBack { member: MemberName, why: Back } => VolumeLost,
            "the volume of member {member} does not count as lost any more: {why}";
        NodeBack { member: MemberName } => NodeGone, "the Node of member {member} is back";
        NewVolume { member: MemberName, node: String } => NodeGone,
            "member {member}, which never served, gets another volume: its Node {node} is gone";
        ClaimDeleted { claim: String, member: MemberName } => MemberReplacing,
            "PersistentVolumeClaim {claim} is deleted: the volume of member {member} is lost";
    }

    /// Steps.
    pub enum Doing {
        Mark { member: MemberName } => "record that the volume of member {member} is lost";
        Unmark { member: MemberName } => "record that the volume of member {member} does not count as lost any more";
        Hold { member: MemberName } => "record that the loss of the volume of member {member} is final";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim}, whose volume is lost";
        RecordNodeGone { node: String, member: MemberName } => "record that Node {node} of member {member} is gone";
        LookForNode { node: String, member: MemberName } => "record that Node {node} of member {member} is still gone";
        RecordNodeBack { member: MemberName } => "record that the Node of member {member} is back";
        DeletePod { member: MemberName } => "delete the pod of member {member}, which keeps the lost volume";
    }
}
