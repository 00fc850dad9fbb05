//! A datacenter that leaves its ring.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// What it waits for.
    pub enum Waiting {
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "the datacenter does not leave yet: the agent of member {member} (version {agent}) cannot close its server to clients; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        Turn { member: MemberName } => DatacenterLeaving,
            "the datacenter does not leave before the change of member {member} has finished";
        Quiet { why: Objection } => DatacenterLeaving,
            "the datacenter does not leave yet: {why}";
        NotCounted { members: Names } => DatacenterLeaving,
            "the datacenter does not leave before {members} have counted the copies of each keyspace by datacenter";
        Closing { members: Names } => DatacenterLeaving,
            "waiting for members to close their native transport: {members}";
        Repairing { members: Names } => DatacenterLeaving,
            "all members are closed to clients, and nobody leaves before these are repaired, since rows that were written at `LOCAL_` levels may be here alone: {members}";
    }

    /// Why it does not leave.
    pub enum Refused {
        NowhereElse { datacenter: String } => LeaveRefused,
            "datacenter {datacenter} cannot leave: its members see no member of another datacenter, so nobody would have its data. To delete the ring, set `datacenter.leave` to false and delete the CassandraCluster";
        Uneven { keyspaces: Names, datacenter: String } => LeaveRefused,
            "datacenter {datacenter} cannot leave: {keyspaces} do not count copies by datacenter, so their rows would be looked for on other members. Set their replication to NetworkTopologyStrategy with ALTER KEYSPACE first";
        OnlyHere { keyspaces: Names, datacenter: String } => LeaveRefused,
            "datacenter {datacenter} cannot leave: {keyspaces} have copies in no other datacenter. Give another datacenter copies with a CassandraTask with `replication`, and let it be rebuilt there, or drop the keyspaces";
        Named { keyspaces: Names, datacenter: String } => LeaveRefused,
            "datacenter {datacenter} is closed to clients and repaired, and its members leave when no keyspace of clients has copies there; these have: {keyspaces}. Create a CassandraTask in another datacenter, with `replication` for these keyspaces, `datacenter: {datacenter}`, `factor: 0` and `lowering: Allow`";
    }

    /// What needs a person.
    pub enum Problem {
        LastInterrupted { member: MemberName, datacenter: String } => LeaveRefused,
            "the server of member {member}, the last one of datacenter {datacenter}, exited while it left, and only members of other datacenters know whether it has left. If they show it as down, remove it there with a CassandraTask with `removeDatacenter`; when they do not show it any more, delete the CassandraCluster";
    }

    /// All members have left.
    pub enum Left {
        All { datacenter: String, claims: usize } => DatacenterLeft,
            "no member of datacenter {datacenter} is in the ring; the other datacenters drop it from the system keyspaces. Delete the CassandraCluster when nobody needs it; claims with the data of former members: {claims}. They are kept unless `deletionPolicy` is Delete, and may be deleted";
    }

    /// Not all have left, as far as is known.
    pub enum Leaving {
        NobodyKnown { datacenter: String } => DatacenterLeaving,
            "this CassandraCluster has no record of any member of datacenter {datacenter}, and nothing starts while `datacenter.leave` is true. To start the datacenter, set it to false; if the other datacenters show none of its members, delete the CassandraCluster";
        Members { datacenter: String, members: Count } => DatacenterLeaving,
            "{members} of datacenter {datacenter} are in the ring and leave one after the other";
        Held { datacenter: String, members: Count, why: String } => DatacenterLeaving,
            "{members} of datacenter {datacenter} are in the ring: {why}";
        TakenBack { datacenter: String, members: Count } => UpToDate,
            "datacenter {datacenter} is not to leave any more; {members} are in the ring";
    }

    /// Why its members need maintenance.
    pub enum Cause {
        Leaves { datacenter: String, at: Timestamp } =>
            "datacenter {datacenter} leaves the ring, and by {at} rows may be on its members alone";
    }

    /// Events.
    pub enum Happened {
        Closing { datacenter: String } => Synced,
            "Datacenter {datacenter} leaves the ring: its members are being closed to clients";
    }

    /// Steps.
    pub enum Doing {
        Close { member: MemberName } =>
            "close member {member} to clients: its datacenter leaves the ring";
        RecordRepair { member: MemberName } =>
            "record that member {member} is repaired before its datacenter leaves";
        TakeBack { member: MemberName } =>
            "withdraw the order to close member {member}: its datacenter does not leave";
    }
}
