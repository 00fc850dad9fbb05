//! Replacements: lost volumes, Nodes that are gone, and what users request.

use super::evidence::{NotClear, Objection};
use super::members::Server;
use super::turn::Work;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, RackName, StaticAddress};
use palladion_plan::words::{Names, Span};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What a replacement waits for.
    pub enum Waiting {
        Held { held: Held } => MemberReplacing, "{held}";
        ForPod { member: MemberName, pod: MemberPod } => MemberReplacing,
            "member {member} cannot be replaced yet: {pod}";
        ForRoles { member: MemberName } => MemberReplacing,
            "member {member} cannot be replaced before a member has closed the user `cassandra`: the agent of a sealed member cannot log in";
        ForVolume { member: MemberName } => MemberReplacing,
            "waiting for the PersistentVolumeClaim of member {member} to be deleted and recreated";
        ForAddress { member: MemberName } => MemberReplacing,
            "waiting for the Service of member {member} to be recreated with a new ClusterIP";
        ForStart { member: MemberName, pod: MemberPod } => MemberReplacing,
            "member {member} is being replaced: {pod}";
        Streams { member: MemberName, address: StaticAddress, server: Server } => MemberReplacing,
            "member {member} is being replaced (old address {address}): {server}";
        Recording { member: MemberName } => MemberReplacing,
            "member {member} has been replaced; its new host ID is being recorded";
        TriesAgain { member: MemberName, at: Timestamp } => MemberReplacing,
            "the replacement of member {member} will be retried at {at}";
        Grace { member: MemberName, node: String, due: Timestamp } => NodeGone,
            "member {member} will get a new volume after {due} unless its Node {node} comes back before then";
        SeenUp { member: MemberName, by: Names } => NodeGone,
            "member {member} cannot be replaced yet: waiting for {by} to see it as down";
        MayBeKnown { member: MemberName } => NodeGone,
            "member {member} cannot get a new volume yet: it may have joined the ring just before its Node was lost";
        NotClear { member: MemberName, why: NotClear } => NodeGone,
            "member {member} cannot get a new volume yet: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Held { held: Held } => ReplaceRefused, "{held}";
        HeldByLeave { leaver: MemberName, member: MemberName, namespace: String } => LeaveRefused,
            "the decommission of member {leaver} failed and cannot be retried while member {member} is down, and member {member} cannot be replaced or removed while member {leaver} is leaving. Run `kubectl delete pod -n {namespace} {leaver}`: member {leaver} then restarts as a full member of the ring (both members are down until it is up again). The operator then replaces or removes member {member} and retries the decommission";
        NodeGone { node: String, member: MemberName, since: Timestamp } => NodeGone,
            "Node {node}, which holds the volume of member {member}, has been gone since {since}";
    }

    /// A replacement or removal that cannot begin.
    pub enum Held {
        Replace { member: MemberName, why: Objection } =>
            "member {member} cannot be replaced yet: {why}";
        Remove { member: MemberName, why: Objection } =>
            "member {member} cannot be removed from the ring yet: {why}";
    }

    /// Events.
    pub enum Happened {
        Begins { member: MemberName } => Synced,
            "Member {member} is being replaced";
        Removal { member: MemberName } => Synced,
            "Member {member} is being removed from the ring";
        TriesUsedUp { member: MemberName, tries: u32 } => Synced,
            "The replacement of member {member} failed {tries} times; {member} will be removed from the ring and will then join as a new member";
        Ended { member: MemberName, why: Ended } => Synced,
            "The replacement of member {member} was stopped: {why}";
        Replaced { member: MemberName } => Synced, "Member {member} was replaced";
        ClaimDeleted { claim: String, member: MemberName } => Synced,
            "PersistentVolumeClaim {claim} was deleted; member {member} will get a new volume";
        JoinsAsNew { member: MemberName } => Synced,
            "Member {member} is no longer in the ring and will join as a new member";
        NodeGone { node: String, member: MemberName, grace: Span } => NodeGone,
            "Node {node}, which holds the volume of member {member}, is gone; the member will get a new volume unless the Node comes back within {grace}";
        NodeBack { member: MemberName } => Synced,
            "The Node that holds the volume of member {member} is back";
        NewVolume { member: MemberName, node: String } => Synced,
            "Member {member} will get a new volume because Node {node}, which held its old one, is gone";
        /// Under the reason of what speaks against it.
        Refused { member: MemberName, why: Refused } => ReplaceRefused,
            "Member {member} cannot be replaced: {why}";
    }

    /// Why a replacement that a user requested is refused.
    pub enum Refused {
        NoMember => NoSuchMember, "it is not in the ring";
        PinnedSeed { member: MemberName } => MemberIsPinnedSeed,
            "`spec.wanted.seed` of its CassandraMember is Always; run `kubectl palladion seed {member} auto`, then request the replacement again";
        UpAndNormal { seen_by: Names, instead: Instead } => MemberIsLive,
            "it is up and normal according to {seen_by}; {instead}";
        SeenUp { seen_by: Names, member: MemberName } => MemberIsLive,
            "{seen_by} still see it as up; if it is down, request the replacement again when they see it down too, or else run `kubectl palladion terminate {member}` first";
        CutOff { member: MemberName } => MemberIsLive,
            "its agent reports that it is serving requests, but all other members see it as down: it is cut off from them and may hold data that no other member has; restore the network or, to replace it anyway, run `kubectl palladion terminate {member}`, then request the replacement again";
        NotTerminated { member: MemberName, server: Server } => MemberNotTerminated,
            "its agent reports and would start it again on the data that it has ({server}); run `kubectl palladion terminate {member}`, then request the replacement again";
        HasTurn { work: Work } => MemberBusy,
            "its {work} is in progress; request the replacement again when it has ended";
        StillEnds { server: Server } => MemberBusy,
            "{server}; request the replacement again when it has stopped";
        Works { operation: String } => MemberBusy,
            "its operation {operation} is still running; request the replacement again when it has ended";
        WorksForTask { job: String } => MemberBusy,
            "its job {job} of a CassandraTask is still running; abort the task, or request the replacement again when the job has ended";
        OnlyMember => ReplaceRefused,
            "it is the only member of the ring, so no other member can stream its data to a new volume; restore a backup into a new ring, or delete and recreate the CassandraCluster";
    }

    /// What moves a member that lives to another volume.
    pub enum Instead {
        Terminate { member: MemberName } =>
            "to replace it anyway, run `kubectl palladion terminate {member}`, then request the replacement again";
        TerminateOrLeave { rack: RackName, member: MemberName } =>
            "to move it to a new volume, lower `members` of rack {rack} by one and, once it has left, raise `members` again; to replace it anyway, run `kubectl palladion terminate {member}`, then request the replacement again";
    }

    /// Why the turn of a replacement ends.
    pub enum Ended {
        NoMember => "the member no longer exists";
        PodGone => "its pod is gone";
        Refused { why: String } => "its agent refused to start the server: {why}";
        Forbidden { why: Objection } => "{why}";
    }

    /// Steps.
    pub enum Doing {
        BeginReplace { member: MemberName } => "begin the replacement of member {member}";
        BeginRemove { member: MemberName } =>
            "begin the removal of member {member} from the ring";
        OnNewVolume { member: MemberName } =>
            "continue the replacement of member {member} on its new volume";
        TryAgain { member: MemberName } => "retry the replacement of member {member}";
        RemoveInstead { member: MemberName } =>
            "remove member {member} from the ring instead of replacing it";
        RemoveLabel { label: &'static str, member: MemberName } =>
            "remove the label {label} from CassandraMember {member}";
        RemoveServiceLabel { label: &'static str, member: MemberName } =>
            "remove the label {label} from the Service of member {member}";
        RecordAddress { member: MemberName } => "record the new address of member {member}";
        ForgetVolume { member: MemberName } =>
            "clear the old address, host ID and volume ID of member {member}";
        FreeAddress { member: MemberName } =>
            "delete the Service of member {member} so that the member gets a new address";
        HoldAddress { address: StaticAddress, member: MemberName } =>
            "reserve the old address {address} of member {member}";
        RecordNodeGone { node: String, member: MemberName, since: Timestamp } =>
            "record that Node {node} of member {member} has been gone since {since}";
        RecordNodeBack { member: MemberName } =>
            "record that the Node of member {member} is back";
        DeleteClaim { claim: String, member: MemberName } =>
            "delete PersistentVolumeClaim {claim} so that member {member} gets a new volume";
        DeletePod { member: MemberName, node: String } =>
            "delete the pod of member {member} on Node {node}";
        ForgetClaim { claim: String } =>
            "clear the host ID, volume ID and address on PersistentVolumeClaim {claim}: its member is no longer in the ring";
        JoinAsNew { member: MemberName } => "let member {member} join as a new member";
    }
}
