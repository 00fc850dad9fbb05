//! Leaving: decommissions, those that were interrupted, why one is refused, and
//! what is left behind.

use super::maintenance::Pending;
use super::members::Server;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, RackName, StaticAddress};
use palladion_plan::words::{Count, Example, Names};
use std::fmt;

palladion_plan::sentences! {
    /// What a decommission waits for.
    pub enum Waiting {
        Maintenance { member: MemberName, pending: Pending } => MaintenancePending,
            "member {member} cannot leave yet: {pending}";
        NotRebuilt { member: MemberName, members: Names } => RebuildOwed,
            "member {member} cannot leave yet: the datacenter was added to a ring, and {members} do not have all of its data, so that ranges would pass to others without their rows";
        Recording { member: MemberName } => MemberLeaving,
            "member {member} cannot leave yet: its host ID is being recorded";
        Joining { member: MemberName } => MemberLeaving,
            "member {member} cannot leave yet: it is still joining";
        Withdrawn { member: MemberName } => MemberLeaving,
            "member {member} never joined and cannot be deleted yet: its agent has not confirmed that its permit to start was withdrawn; if it no longer runs, delete the pod";
        ForAddress { member: MemberName } => AddressChanged,
            "member {member} cannot go on leaving yet: its Service has another address than the ring knows";
        Silent { member: MemberName, node: String } => MemberLeaving,
            "member {member} never joined and cannot be deleted yet: its permit to start was withdrawn, but its server may still be running on Node {node}, which is not ready";
        Leaving { member: MemberName, server: Server } => MemberLeaving,
            "member {member} is leaving the ring: {server}";
        Resuming { member: MemberName, server: Server } => MemberLeaving,
            "member {member} is being started to complete its decommission: {server}";
        Unread { member: MemberName, rest: Unread } => CdcUndelivered,
            "member {member} cannot leave yet: {rest}";
        Undelivered { member: MemberName, rest: Unread } => CdcUndelivered,
            "member {member} has left the ring and its pod stays: {rest}";
        Ending { member: MemberName } => MemberLeaving,
            "member {member} has left the ring: its server is being stopped, so that its last segments are complete for readers of changes";
        Retry { member: MemberName, at: Timestamp } => MemberLeaving,
            "the decommission of member {member} will be retried at {at}";
    }

    /// A decommission that is refused, or that failed.
    pub enum Refused {
        Last { member: MemberName } => LeaveRefused,
            "member {member} is the only member of the ring and cannot leave until another member has joined; to delete the ring, delete the CassandraCluster";
        Obstructed { member: MemberName, obstacle: Obstacle } => LeaveRefused,
            "member {member} cannot leave: {obstacle}";
        Failed { member: MemberName, why: String } => LeaveRefused,
            "member {member} could not leave: {why}";
        Halfway { member: MemberName, since: Timestamp, why: String } => LeaveRefused,
            "the decommission of member {member} failed at {since}: {why}; the member still serves requests, but the other members see it as leaving, and the operator will retry. To keep the member, restore the previous value of `members` and delete its pod";
    }

    /// What needs a person.
    pub enum Problem {
        Elsewhere { member: MemberName, before: StaticAddress, now: StaticAddress } => AddressChanged,
            "member {member} was leaving the ring under address {before}, and its Service or its CassandraMember now has {now}, under which its server does not start again; make {before} available and delete the Service, so that it is recreated with that address, or replace the member (`kubectl palladion terminate`, then `kubectl palladion replace`)";
        AgentRefused { member: MemberName, why: String } => LeaveRefused,
            "the agent of member {member} refused to start the server so that its decommission completes: {why}; delete the pod of the member to try again";
    }

    /// What readers of changes have not read.
    pub enum Unread {
        Waits { segments: Count, bytes: Bytes, command: GiveUpChanges } =>
            "readers have not read {segments} of its changes (about {bytes}); start its reader, or let it leave without them: {command}";
        Unknown { command: GiveUpChanges } =>
            "its agent has not reported whether readers have read its changes; look at the log of the agent, or let it leave without them: {command}";
    }

    /// How a person lets a member leave although nobody has read its changes.
    pub enum GiveUpChanges {
        Command { namespace: String, cluster: String, annotation: &'static str, hosts: String } =>
            "`kubectl annotate -n {namespace} cassandracluster {cluster} --overwrite {annotation}={hosts}`";
    }

    /// What forbids a decommission.
    pub enum Obstacle {
        ReplicationUnknown => "no member has reported the replication of the keyspaces yet";
        Copies { keyspace: String, copies: u32, members: Count } =>
            "keyspace {keyspace} is replicated to {copies} members, but only {members} would be left; lower its replication factor with ALTER KEYSPACE first";
        EmptyRack { keyspace: String, copies: u32, rack: RackName } =>
            "keyspace {keyspace} has a replica in each of the {copies} racks, and rack {rack} would be left without members; lower the replication factor of the keyspace with ALTER KEYSPACE first";
        DiskUnknown { member: MemberName } =>
            "member {member} has not reported its disk usage; the operator will ask again";
        DiskFull { member: MemberName, share: Bytes, free: Bytes } =>
            "member {member} would receive about {share} and needs 1.5 times as much free space to compact it, but has only {free} free; expand its volume, or restore the previous value of `members`";
    }

    /// Why a decommission ends.
    pub enum Ended {
        HasLeft => "it has left";
        Marked => "its volume is marked for replacement";
        Interrupted => "its server exited before it had left";
        Failed { why: String } => "it could not leave: {why}";
        Obstructed { obstacle: Obstacle } => "{obstacle}";
        RequestedAgain => "it is no longer the next member to leave";
        RunsAgain => "its server is running again, so the member can leave";
        CouldNotStart { why: String } => "it could not start again: {why}";
        TooOld => "the other members still have it, and its data is too old to start its server";
        Elsewhere => "the other members still have it under another address than it has now";
        NotInterrupted => "it is no longer waiting for a permit to start";
        NoHostId => "its host ID is not recorded";
        StillJoins => "it is still joining";
    }

    /// Events.
    pub enum Happened {
        ScalingDown { rack: RackName, members: Count } => Synced,
            "Rack {rack} is scaling down to {members}";
        ScaledDown { rack: RackName, members: Count } => Synced,
            "Rack {rack} scaled down to {members}";
        Leaving { member: MemberName } => Synced, "Member {member} is leaving the ring";
        HasLeft { member: MemberName } => Synced, "Member {member} has left the ring";
        NeverJoined { member: MemberName } => Synced,
            "Member {member} never joined the ring and is being deleted";
        ToBeRemoved { member: MemberName } => Synced,
            "Member {member} cannot be started again, so its decommission cannot complete; another member will remove it from the ring";
        ClaimDeleted { claim: String } => Synced,
            "PersistentVolumeClaim {claim} was deleted: its member is not in the ring, and `deletionPolicy` is Delete";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the decommission of member {member}";
        StartAgain { member: MemberName } =>
            "retry the decommission of member {member}";
        Decommission { member: MemberName } => "decommission member {member}";
        FindOut { member: MemberName } => "check whether member {member} has left";
        AskAgain { member: MemberName } => "check again whether member {member} has left";
        RenewIntent { member: MemberName } => "renew the decommission intent of member {member}";
        WithdrawIntent { member: MemberName } => "withdraw the decommission intent of member {member}";
        AskWhetherJoined { member: MemberName } =>
            "check whether member {member} ever joined the ring";
        WithdrawPermit { member: MemberName } =>
            "withdraw the permit of member {member}: it is no longer wanted";
        RecordLeft { member: MemberName, proof: String } =>
            "record that member {member} has left: {proof}";
        RecordNeverJoined { member: MemberName, proof: String } =>
            "record that member {member} will not join the ring: {proof}";
        StartRemoval { member: MemberName, why: String } =>
            "start the removal of member {member}: {why}";
        DeleteMember { member: MemberName } =>
            "delete CassandraMember {member}: the member is not in the ring";
        DeleteClaim { claim: String } =>
            "delete PersistentVolumeClaim {claim}: its member is not in the ring, and `deletionPolicy` is Delete";
        MarkClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} that its member has left";
        LabelService { member: MemberName } => "update the decommission label on the Service of member {member}";
        RecordAddress { member: MemberName } =>
            "record that the Service of member {member} is now unused";
        AddressUsed { member: MemberName } =>
            "record that the Service of member {member} is in use again";
        FreeAddress { member: MemberName, since: Timestamp } =>
            "delete the Service of member {member}, unused since {since}, and free its address";
    }
}

const GIB: u64 = 1 << 30;

/// An amount of data: `512 MiB`, `1.5 GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people, with one decimal")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 < GIB {
            true => write!(f, "{} MiB", self.0 >> 20),
            false => write!(f, "{:.1} GiB", self.0 as f64 / GIB as f64),
        }
    }
}

impl Example for Bytes {
    fn examples(_field: &'static str) -> Vec<Self> {
        vec![Bytes(512 << 20), Bytes(3 * GIB / 2)]
    }
}
