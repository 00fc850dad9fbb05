//! Replacements of members whose volumes are lost.

use super::evidence::Objection;
use super::members::Server;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::Span;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a lost member is not replaced yet.
    pub enum Waiting {
        ForEnsemble { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} waits to be replaced: {why}";
        Grace { member: MemberName, node: String, due: Timestamp } => NodeGone,
            "Node {node} of member {member} is gone; the member is replaced at {due} unless the Node comes back";
        StillServes { member: MemberName, server: Server } => MemberReplacing,
            "member {member} waits to be replaced until its server has stopped: {server}";
        ForVolume { member: MemberName } => MemberReplacing,
            "member {member} waits for a new volume";
        ForAddress { member: MemberName } => MemberReplacing,
            "member {member} waits for a new address";
        ForPod { member: MemberName, pod: MemberPod } => MemberReplacing,
            "member {member} waits for a pod on its new volume: {pod}";
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
        NodeGone { node: String, member: MemberName, grace: Span } => NodeGone,
            "Node {node}, which holds the volume of member {member}, is gone; the member is replaced in {grace} unless the Node comes back";
        NodeBack { member: MemberName } => NodeGone, "the Node of member {member} is back";
        NewVolume { member: MemberName, node: String } => NodeGone,
            "member {member}, which never served, gets another volume: its Node {node} is gone";
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
        RecordNodeGone { node: String, member: MemberName } => "record that Node {node} of member {member} is gone";
        RecordNodeBack { member: MemberName } => "record that the Node of member {member} is back";
        DeletePod { member: MemberName } => "delete the pod of member {member}, which keeps the lost volume";
        Forget { member: MemberName } => "take the lost volume and its address off the record of member {member}";
    }
}
