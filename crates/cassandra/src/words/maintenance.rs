//! Repairs, cleanups, system keyspaces, seed lists and runtime settings.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::member::{DebtKind, OperationKind};
use palladion_plan::words::Count;

palladion_plan::sentences! {
    /// What pending maintenance waits for.
    pub enum Waiting {
        Starting { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} is being started ({cause})";
        Running { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} is running ({cause})";
        Retried { work: Work, member: MemberName, cause: String } => MaintenancePending,
            "the {work} of member {member} failed and will be retried ({cause})";
        Postponed { work: Work, member: MemberName, why: Objection, cause: String } => MaintenancePending,
            "the {work} of member {member} waits: {why} ({cause})";
        BeforeReplacement { lost: MemberName, member: MemberName, cause: String } => MaintenancePending,
            "member {lost} waits to be replaced until member {member} is repaired ({cause})";
        OldAgent { member: MemberName, agent: String, cause: String } => MaintenancePending,
            "member {member} waits for the repair of all its ranges, which its agent {agent} cannot run; change an annotation in `spec.annotations` to roll out the newer agent ({cause})";
        Down { member: MemberName, since: Timestamp } => WaitingForRing,
            "member {member} has been down since {since}";
    }

    /// What the replication of the system keyspaces waits for.
    pub enum Replicating {
        Quiet { why: Objection } => SystemKeyspaces,
            "replication of the system keyspaces waits: {why}";
        Starting { operation: Operation, member: MemberName } => SystemKeyspaces,
            "the {operation} of the system keyspaces is being started on member {member}";
        Requested { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the system keyspaces to replication factor {factor}: waiting for member {member} to start the {operation}";
        Running { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the system keyspaces to replication factor {factor}: the {operation} on member {member} is running";
        Retried { factor: u32, operation: Operation, member: MemberName } => SystemKeyspaces,
            "setting the system keyspaces to replication factor {factor}: the {operation} on member {member} failed and will be retried";
    }

    /// Events.
    pub enum Happened {
        Replicated { copies: Count, datacenter: String } => Synced,
            "System keyspaces have {copies} in datacenter {datacenter}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { work: Work, member: MemberName, why: String, cause: String } => MaintenancePending,
            "the {work} of member {member} failed: {why}; it will be retried ({cause})";
        NotReplicated { factor: u32, operation: Operation, member: MemberName, why: String } =>
            SystemKeyspaces,
            "setting the system keyspaces to replication factor {factor}: the {operation} on member {member} failed: {why}; it will be retried";
    }

    /// What a member still needs.
    pub enum Pending {
        Of { member: MemberName, work: Work, cause: String } =>
            "member {member} has a pending {work}: {cause}";
    }

    /// Why a member needs maintenance.
    pub enum Cause {
        Joined { member: MemberName, at: Timestamp } => "member {member} joined at {at}";
        Replaced { member: MemberName, at: Timestamp } =>
            "member {member} replaced a lost one at {at}";
        Away { since: Timestamp, until: Timestamp } =>
            "it was down from {since} to {until}, longer than the other members keep hints";
        Upgraded { from: String, to: String } => "upgraded from {from} to {to}";
    }

    /// Maintenance of a member.
    pub enum Work {
        Repair => "repair";
        Cleanup => "cleanup";
        UpgradeSstables => "SSTable upgrade";
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
            "allow the start of member {member}: the whole ring has been down since {since}";
        ForgetStaleStart { member: MemberName } =>
            "remove `allowStaleStart` of member {member}, which is up";
        RecordUp { member: MemberName } => "record that member {member} is back";
        RecordDone { work: Work, member: MemberName } =>
            "record that the {work} of member {member} is done";
        Withdraw { work: Work, member: MemberName } =>
            "withdraw the {work} from the older agent of member {member}";
        Start { work: Work, member: MemberName } => "start the pending {work} on member {member}";
        StartOperation { operation: Operation, member: MemberName } =>
            "start the {operation} of the system keyspaces on member {member}";
        IntendReplication { copies: Count } =>
            "record that the system keyspaces are being changed to {copies}";
        RecordReplication { copies: Count } => "record that the system keyspaces have {copies}";
        SetSeeds { member: MemberName } => "update the seed list of member {member}";
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
            | OperationKind::RemoveNode => Operation::Repair,
        }
    }
}
