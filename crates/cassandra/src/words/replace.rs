//! Replacements: lost volumes, Nodes that are gone, and what users request.

use super::evidence::{NotClear, Objection};
use super::members::{Pod, Server};
use jiff::Timestamp;
use palladion_api::ids::{MemberName, RackName, StaticAddress};
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What a replacement waits for.
    pub enum Waiting {
        Held { held: Held } => MemberReplacing, "{held}";
        ForPod { member: MemberName, pod: Pod } => MemberReplacing,
            "member {member} waits to be replaced: {pod}";
        ForVolume { member: MemberName } => MemberReplacing, "member {member} gets a new volume";
        ForAddress { member: MemberName } => MemberReplacing, "waiting for a new address of member {member}";
        ForStart { member: MemberName, pod: Pod } => MemberReplacing,
            "member {member} is being replaced: {pod}";
        Streams { member: MemberName, address: StaticAddress, server: Server } => MemberReplacing,
            "member {member} streams the data of {address}: {server}";
        Recording { member: MemberName } => MemberReplacing,
            "member {member} was replaced; its host ID is being recorded";
        TriesAgain { member: MemberName, at: Timestamp } => MemberReplacing,
            "the next attempt to replace member {member} is at {at}";
        Grace { member: MemberName, node: String, due: Timestamp } => NodeGone,
            "member {member} is replaced at {due} unless its Node {node} comes back";
        SeenUp { member: MemberName, by: Names } => NodeGone,
            "member {member} is not replaced yet: it is not down according to {by}";
        MayBeKnown { member: MemberName } => NodeGone,
            "member {member} waits for a new volume: other members may still know it";
        NotClear { member: MemberName, why: NotClear } => NodeGone,
            "member {member} waits for a new volume: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Held { held: Held } => ReplaceRefused, "{held}";
        NodeGone { node: String, member: MemberName, since: Timestamp } => NodeGone,
            "Node {node} with the volume of member {member} has been gone since {since}";
    }

    /// A replacement or removal that cannot begin.
    pub enum Held {
        Replace { member: MemberName, why: Objection } =>
            "member {member} has lost its data and waits to be replaced: {why}";
        Remove { member: MemberName, why: Objection } =>
            "member {member} has lost its data and waits to be removed from the ring: {why}";
    }

    /// Events.
    pub enum Happened {
        Begins { member: MemberName } => Synced,
            "Member {member} has lost its data and is being replaced";
        Removal { member: MemberName } => Synced,
            "Member {member} has lost its data and is being removed from the ring";
        TriesUsedUp { member: MemberName, tries: u32 } => Synced,
            "Member {member} could not be replaced in {tries} attempts; another member removes it from the ring, and it joins as a new member";
        Ended { member: MemberName, why: Ended } => Synced,
            "Replacement of member {member} ended: {why}";
        ClaimDeleted { claim: String, member: MemberName } => Synced,
            "PersistentVolumeClaim {claim} is deleted; member {member} gets a new volume";
        JoinsAsNew { member: MemberName } => Synced,
            "Member {member} is out of the ring and joins as a new one";
        NodeGone { node: String, member: MemberName, grace: u32 } => NodeGone,
            "Node {node} with the volume of member {member} is gone; the member is replaced unless it comes back within {grace} s";
        NodeBack { member: MemberName } => Synced,
            "The Node with the volume of member {member} is back";
        NewVolume { member: MemberName, node: String } => Synced,
            "Member {member} gets a new volume: Node {node} with the old one is gone";
        Refused { member: MemberName, why: Refused } => ReplaceRefused,
            "Member {member} is not replaced: {why}";
    }

    /// Why a replacement that a user requested is refused.
    pub enum Refused {
        NoMember => "it is not a member of the ring; there is nothing to replace";
        UpAndNormal { seen_by: Names, instead: Instead } =>
            "it is up and normal according to {seen_by}; {instead}";
        OnlyMember =>
            "it is the only member of the ring, so no other member can stream its data to a new volume; restore a backup into a new ring, or delete and recreate the CassandraCluster";
        CutOff =>
            "its own agent reports that it serves, and all others see it down: it is cut off from them and may hold what nobody else has; mend the network, or stop it first";
    }

    /// What moves a member that lives to another volume.
    pub enum Instead {
        Stop => "to replace it all the same, set `spec.run` of it to Stopped first";
        StopOrLeave { rack: RackName } =>
            "to move it, lower `members` of rack {rack} and raise it again; to replace it all the same, set `spec.run` of it to Stopped first";
    }

    /// Why the turn of a replacement ends.
    pub enum Ended {
        NoMember => "the member is gone";
        PodGone => "its pod is gone";
        Refused { why: String } => "the agent refused: {why}";
        Forbidden { why: Objection } => "{why}";
        Replaced => "it was replaced";
    }

    /// Steps.
    pub enum Doing {
        BeginReplace { member: MemberName } => "give member {member} the turn to be replaced";
        BeginRemove { member: MemberName } =>
            "give member {member} the turn to be removed from the ring";
        OnNewVolume { member: MemberName } =>
            "continue the replacement of member {member} on its new volume";
        TryAgain { member: MemberName } => "try again to replace member {member}";
        RemoveInstead { member: MemberName } =>
            "remove member {member} from the ring instead of replacing it";
        RemoveLabel { label: &'static str, member: MemberName } =>
            "remove the label {label} from member {member}";
        RemoveServiceLabel { label: &'static str, member: MemberName } =>
            "remove the label {label} from the Service of member {member}";
        RecordAddress { member: MemberName } => "record the new address of member {member}";
        ForgetVolume { member: MemberName } =>
            "remove the lost volume from the record of member {member}";
        FreeAddress { member: MemberName } =>
            "delete the Service of member {member} so that it gets a new address";
        HoldAddress { address: StaticAddress, member: MemberName } =>
            "reserve the old address {address} of member {member}";
        RecordNodeGone { node: String, member: MemberName, since: Timestamp } =>
            "record that Node {node} of member {member} has been gone since {since}";
        RecordNodeBack { member: MemberName } =>
            "record that the Node of member {member} is back";
        DeleteClaim { claim: String, member: MemberName } =>
            "delete PersistentVolumeClaim {claim} with the lost volume of member {member}";
        DeletePod { member: MemberName, node: String } =>
            "delete the pod of member {member} on node {node}";
        ForgetClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} that its member is out of the ring";
        JoinAsNew { member: MemberName } => "let member {member} join as a new one";
    }
}
