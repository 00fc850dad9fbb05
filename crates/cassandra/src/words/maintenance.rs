//! Repairs, cleanups, system keyspaces, seed lists and runtime settings.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::member::{DebtKind, OperationKind};
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// What pending maintenance waits for.
    pub enum Waiting {
        Starting { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} is being started (reason: {cause})";
        Running { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} is running (reason: {cause})";
        Retried { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} failed and will be retried (reason for the {work}: {cause})";
        Postponed { work: Work, member: MemberName, why: Objection, cause: String } => MaintenancePending,
            "the {work} of member {member} (reason: {cause}) is postponed: {why}";
        BehindRepair { work: Work, member: MemberName, lacking: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} (reason: {cause}) cannot start until the repair of member {lacking} has finished: {lacking} may lack rows that the {work} would delete";
        BeforeReplacement { lost: MemberName, member: MemberName, cause: String } => MaintenancePending,
            "member {lost} cannot be replaced or removed until the repair of member {member} has finished (reason for the repair: {cause})";
        BeforeUnknown { lost: MemberName, member: MemberName, cause: String } => MaintenancePending,
            "member {lost} cannot be replaced or removed yet: member {member} has a pending maintenance task that this operator does not support (reason: {cause})";
        OldAgent { member: MemberName, agent: String, cause: String } => MaintenancePending,
            "member {member} needs a repair of all its ranges (reason: {cause}), which its agent (version {agent}) does not support; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        Down { member: MemberName, since: Timestamp } => WaitingForRing,
            "member {member} has been down since {since}";
    }

    /// What the replication of the system keyspaces waits for.
    pub enum Replicating {
        Quiet { why: Objection } => SystemKeyspaces,
            "the replication of the system keyspaces cannot be changed yet: {why}";
        Closed { factor: u32 } => SystemKeyspaces,
            "the replication factor of the system keyspaces cannot be set to {factor}: no member takes clients, so nobody can run the statement. Members open again when `datacenter.leave` is false";
        Postponed { factor: u32, operation: Operation, why: Objection } => SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: the {operation} is postponed: {why}";
        Starting { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: starting the {operation} on member {member}";
        Requested { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: waiting for member {member} to start the {operation}";
        Running { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: the {operation} on member {member} is running";
        Retried { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: the {operation} on member {member} failed and will be retried";
    }

    /// What a datacenter that was added to a ring waits for.
    pub enum Added {
        NotNamed { members: Count, datacenter: String } => RebuildOwed,
            "{members} joined, and take no clients: no keyspace of clients names datacenter {datacenter} yet. Name it with a CassandraTask with `replication`, or with ALTER KEYSPACE, in a datacenter that takes clients";
        NotReplicated { members: Count, datacenter: String } => RebuildOwed,
            "{members} joined, and take no clients: system_auth has no copies in datacenter {datacenter} yet, so nobody could log in. The operator of another datacenter adds them; where there is none, use ALTER KEYSPACE there for system_auth, system_distributed and system_traces";
        NotCounted { done: usize, members: Count, unknown: Names } => RebuildOwed,
            "{done} of {members} are rebuilt, and take no clients: which keyspaces {unknown} need is not known yet";
        NotRebuilt { done: usize, members: Count, keyspaces: Names } => RebuildOwed,
            "{done} of {members} are rebuilt, and none takes clients before all have {keyspaces}";
        NotRepaired { members: Count, pending: Names } => RebuildOwed,
            "{members} are rebuilt from one copy of each row, and take no clients before these are repaired: {pending}";
        Uneven { members: Count, keyspaces: Names } => RebuildOwed,
            "{members} joined, and take no clients: {keyspaces} do not count copies by datacenter, so their rows would be looked for on other members as soon as they do. Set their replication to NetworkTopologyStrategy with ALTER KEYSPACE in a datacenter that takes clients";
        Joining { member: MemberName } => RebuildOwed,
            "no member takes clients before member {member} has joined";
        Opening { members: Names } => RebuildOwed, "waiting for members to take clients: {members}";
        Behind { keyspaces: Names, members: Names } => KeyspacesBehind,
            "reads of {keyspaces} at `LOCAL_` levels may find too few rows: they name the datacenter since it was opened, and are being rebuilt on {members}";
        Uncounted { member: MemberName } => RebuildOwed,
            "the rebuild of member {member} waits until its agent has counted the copies of each keyspace";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} (version {agent}) would drop the copies of other datacenters, so the replication of the system keyspaces is not changed; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        NoRoles { datacenter: String } => SystemKeyspaces,
            "nobody can log in in datacenter {datacenter}: of the system keyspaces it has copies of some, and none of system_auth. The operator adds copies only where none of the three has any; use ALTER KEYSPACE for system_auth";
        KeepsDeserted { member: MemberName, agent: String, datacenter: String } => AgentTooOld,
            "the agent of member {member} (version {agent}) cannot drop datacenter {datacenter}, which has no member any more, from the system keyspaces; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        Dropping { datacenter: String } => SystemKeyspaces,
            "dropping datacenter {datacenter}, which has no member any more, from the system keyspaces";
        Extending { datacenter: String, factor: u32 } => SystemKeyspaces,
            "giving the system keyspaces {factor} copies in datacenter {datacenter}, so that users can log in there";
    }

    /// Events.
    pub enum Happened {
        Opened { datacenter: String, members: Count } => Synced,
            "Datacenter {datacenter} takes clients: {members} are rebuilt and repaired";
        Extended { factor: u32, datacenter: String } => Synced,
            "The system keyspaces have {factor} copies in datacenter {datacenter}, which other members of the ring are in";
        Dropped { datacenter: String } => Synced,
            "Datacenter {datacenter} has no member any more, and was dropped from the system keyspaces";
        NotExtended { datacenter: String } => SystemKeyspaces,
            "The members see no copies of all system keyspaces in datacenter {datacenter}, although they were set: somebody has changed them meanwhile, or a member does not count them. Where they have none at all, they are set again; otherwise use ALTER KEYSPACE for the keyspaces that lack them";
        Waived { work: Work, member: MemberName, cause: String } => MaintenanceWaived,
            "The pending {work} of member {member} (reason: {cause}) was removed before the operator carried it out; nothing waits for it any more";
        ReturnedLate { member: MemberName, since: Timestamp, until: Timestamp, seconds: u32 } => ReturnsTooLate,
            "Member {member} was down or cut off from {since} to {until}, longer than the {seconds} s for which some tables keep deletions (`gc_grace_seconds`). A start is refused only after a day: rows of these tables that were deleted meanwhile may be back. Delete them again, and raise `gc_grace_seconds` of tables in which rows are deleted to a day or more";
        Replicated { factor: u32, datacenter: String } => Synced,
            "The system keyspaces now have a replication factor of {factor} in datacenter {datacenter}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { work: Work, member: MemberName, why: String, cause: String } => MaintenancePending,
            "the {work} of member {member} (reason: {cause}) failed and will be retried: {why}";
        Overdue { lost: MemberName, member: MemberName, since: Timestamp, cause: String } => RepairOverdue,
            "member {lost} cannot be replaced or removed yet: the repair of member {member} (reason: {cause}), requested at {since}, has not finished. Check its progress with `nodetool compactionstats` and `nodetool netstats` on {member}. If it makes no progress, remove it from `spec.pendingMaintenance` of CassandraMember {member}; {lost} is then replaced or removed without it. Afterwards, run `nodetool repair --full` on {member}: until that repair has finished, reads can miss writes that {member} missed";
        NewerWork { lost: MemberName, member: MemberName, cause: String } => FactUnknown,
            "member {lost} cannot be replaced or removed: this version of the operator does not support a pending maintenance task of member {member} (reason: {cause}), which may be a repair. Upgrade the operator, or, to skip the task, remove it from `spec.pendingMaintenance` of CassandraMember {member}";
        CutOffTooLong { member: MemberName, since: Timestamp } => ReturnsTooLate,
            "member {member} runs and has been cut off from the ring since {since}, for longer than tombstones are kept (`gc_grace_seconds`): rows that were deleted meanwhile come back with it. Before the network is whole again, terminate it (`kubectl palladion terminate {member}`) and replace it (`kubectl palladion replace {member}`), unless nothing was deleted";
        NotTogether { waiting: Names, others: Names } => DataTooOld,
            "the servers of {waiting} last ran longer ago than tombstones are kept, so they do not start by themselves, and no member is up from which they could be replaced. The operator starts them when all members report that they were down together, which {others} did not: no agent of theirs reports, or they ran for longer, or lack data from before. Bring those back as far as that is possible; no server needs to run. If they did not run meanwhile, or their data is gone, set `spec.allowStaleStart` of each CassandraMember that waits to the time in its `status.volume.lastRanAt`";
        EndedApart { ran: Names, complete: usize, all: usize, next: MemberName, at: Timestamp } => DataTooOld,
            "all members were down for longer than tombstones are kept, and the records do not show which of them has all writes: only {complete} of {all} members ended together and lacked nothing before, and the operator starts no fewer than a majority by itself. The servers ran last at: {ran}. Let one member start after the other, newest first; each is repaired when it is up, and none should be terminated before as many are up as copies are kept. Do not trust a time if the clock of that machine was wrong, or the machine was cut off from the others at the end: choose the member that served clients last. To start the newest, set `spec.allowStaleStart` of CassandraMember {next} to {at}";
        NextToStart { up: usize, copies: usize, waiting: Names, next: MemberName, at: Timestamp } => DataTooOld,
            "only {up} of the {copies} members that all copies of a row need are up, and the servers of {waiting} are not started, because they last ran longer ago than tombstones are kept. Rows may exist on them alone: do not terminate them yet. Let them start one after the other, newest first; each is repaired when it is up. For the next one, set `spec.allowStaleStart` of CassandraMember {next} to {at}";
        NotReplicated { factor: u32, operation: Operation, member: MemberName, why: String } =>
            SystemKeyspaces,
            "setting the replication factor of the system keyspaces to {factor}: the {operation} on member {member} failed and will be retried: {why}";
    }

    /// When a server ran last.
    pub enum Ran {
        Until { member: MemberName, at: Timestamp } => "{member} {at}";
        Noted { member: MemberName, at: Timestamp, since: String } =>
            "{member} {at} (the operator saw it down from {since})";
    }

    /// What a member still needs.
    pub enum Pending {
        Of { member: MemberName, work: Work, cause: String } =>
            "member {member} has a pending {work} (reason: {cause})";
    }

    /// Why a member needs maintenance.
    pub enum Cause {
        Joined { member: MemberName, at: Timestamp } => "member {member} joined at {at}";
        Replaced { member: MemberName, at: Timestamp } => "member {member} was replaced at {at}";
        Away { member: MemberName, since: Timestamp, until: Timestamp } =>
            "member {member} was down from {since} to {until}, longer than the hint window of the other members";
        /// Not longer than hints are kept.
        HintsLost { member: MemberName, lost: MemberName, at: Timestamp } =>
            "member {member} was down until member {lost} was lost at about {at}, or until shortly before, and hints for {member} may be lost with {lost}";
        SetBack { member: MemberName, to: Timestamp, until: Timestamp } =>
            "the volume of member {member} was set back to its state of {to}, and the member had run until about {until}";
        RingStood { since: Timestamp, until: Timestamp } =>
            "the whole ring was down from about {since} to {until}, longer than hints are kept (`gc_grace_seconds`)";
        Restored { restore: String } => "CassandraRestore {restore} has restored the ring as it was backed up";
        Upgraded { from: String, to: String } => "upgrade from {from} to {to}";
        NotRebuilt { member: MemberName, at: Timestamp } =>
            "keyspaces that name the datacenter were not rebuilt on member {member} by {at}";
        Rebuilt { member: MemberName, at: Timestamp } =>
            "member {member} was rebuilt from one copy of each row by {at}";
        Raised { task: String } => "CassandraTask {task} has given keyspaces more copies in this datacenter";
        RaisedSoFar { task: String, at: Timestamp } =>
            "CassandraTask {task}, whose part of {at} was interrupted, may have given keyspaces more copies in this datacenter";
        RaisedByDeleted { at: Timestamp } =>
            "a CassandraTask that was deleted at {at} or before may have given keyspaces more copies in this datacenter";
        Unheard { member: MemberName, by: Names, at: Timestamp } =>
            "member {member} joined at {at}, and {by} did not report while it joined that they see it";
        UnheardElsewhere { member: MemberName, at: Timestamp } =>
            "member {member} joined at {at}, and members of other datacenters cannot report that they saw it join";
        Unreadable { claim: String } =>
            "the annotation palladion.dev/pending-maintenance of PersistentVolumeClaim {claim} is not valid JSON";
    }

    /// Maintenance of a member.
    pub enum Work {
        Repair => "repair";
        Cleanup => "cleanup";
        UpgradeSstables => "SSTable upgrade";
        Rebuild => "rebuild";
        Unknown => "maintenance task that this operator does not support";
    }

    /// An operation on the system keyspaces.
    pub enum Operation {
        AlterReplication => "replication change";
        Repair => "repair";
    }

    /// Steps.
    pub enum Doing {
        RecordPending { member: MemberName } => "record the pending maintenance of member {member}";
        RecordDown { member: MemberName, since: Timestamp } =>
            "record that member {member} has been down since {since}";
        AllowStaleStart { member: MemberName, since: Timestamp } =>
            "allow member {member} to start: the whole ring has been down since about {since}";
        ForgetStaleStart { member: MemberName } =>
            "clear `spec.allowStaleStart` of CassandraMember {member}: the member is up";
        StaleStartRanOut { member: MemberName, since: Timestamp } =>
            "clear `spec.allowStaleStart` of CassandraMember {member}, which has been down since about {since} and did not start with the rest of the ring: the others may have dropped tombstones since";
        RecordRingStop { member: MemberName } =>
            "record that member {member} is stopped with the whole ring";
        ForgetRingStop { member: MemberName } =>
            "clear the record that member {member} was stopped with the whole ring: it is up";
        RecordMadeUp { member: MemberName, at: Timestamp } =>
            "clear `spec.repairOwedUntil` of CassandraMember {member}: all ranges were repaired since {at}";
        RecordUp { member: MemberName } => "record that member {member} is up again";
        RecordDone { work: Work, member: MemberName } =>
            "record that the {work} of member {member} is done";
        Withdraw { work: Work, member: MemberName } =>
            "withdraw the request for the {work} of member {member}: its agent is too old to carry it out";
        WithdrawUnbegunOperation { operation: Operation, member: MemberName } =>
            "withdraw the request for the {operation} of the system keyspaces on member {member}, which has not begun: its server does not accept clients";
        WithdrawUnbegun { work: Work, member: MemberName } =>
            "withdraw the request for the {work} of member {member}, which has not begun: its server does not accept clients";
        Start { work: Work, member: MemberName } => "start the pending {work} on member {member}";
        StartOperation { factor: u32, operation: Operation, member: MemberName } =>
            "start the {operation} on member {member} to set the replication factor of the system keyspaces to {factor}";
        IntendReplication { factor: u32 } =>
            "record that the replication factor of the system keyspaces is being changed to {factor}";
        RecordReplication { factor: u32 } => "record that the system keyspaces have a replication factor of {factor}";
        Open { member: MemberName } => "open member {member} to clients: it is rebuilt and repaired";
        Extend { datacenter: String, factor: u32 } =>
            "record that the system keyspaces get {factor} copies in datacenter {datacenter}";
        NoteElsewhere { datacenter: String } =>
            "record that the system keyspaces name datacenter {datacenter}";
        Drop { datacenter: String } =>
            "record that datacenter {datacenter}, which has no member any more, is dropped from the system keyspaces";
        Dropped { datacenter: String } =>
            "record that the system keyspaces do not name datacenter {datacenter}";
        Extended { datacenter: String } =>
            "record that the system keyspaces have copies in datacenter {datacenter}";
        NotExtended { datacenter: String } =>
            "wait no longer for copies of the system keyspaces in datacenter {datacenter}";
        SetSeeds { member: MemberName } => "update the seed list of member {member}";
        SetExternalSeeds { member: MemberName } =>
            "update the seeds in other datacenters of member {member}";
        SetRuntimeSettings { member: MemberName } =>
            "update the runtime settings of member {member}";
    }
}

impl From<DebtKind> for Work {
    fn from(kind: DebtKind) -> Self {
        match kind {
            DebtKind::Repair => Work::Repair,
            DebtKind::Cleanup => Work::Cleanup,
            DebtKind::UpgradeSstables => Work::UpgradeSstables,
            DebtKind::Rebuild => Work::Rebuild,
            DebtKind::Unknown(_) => Work::Unknown,
        }
    }
}

impl From<OperationKind> for Operation {
    /// Two kinds are run for the system keyspaces; what does not change replication repairs.
    fn from(kind: OperationKind) -> Self {
        match kind {
            OperationKind::AlterReplication => Operation::AlterReplication,
            OperationKind::Repair
            | OperationKind::Cleanup
            | OperationKind::Flush
            | OperationKind::UpgradeSstables
            | OperationKind::RemoveNode
            | OperationKind::Rebuild
            | OperationKind::Unknown(_) => Operation::Repair,
        }
    }
}
