//! Tasks: why they are refused, how they go, and how they end.

use super::replace;
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName, VolumeId};
use palladion_plan::Reason;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// How a task goes.
    pub enum Running {
        Waits { member: MemberName } => TaskRunning,
            "waiting for member {member} to be replaced; the replacement does not start until the other members confirm that the member is dead";
        TooLate { member: MemberName } => TaskRunning,
            "too late to abort: member {member} is already being replaced or removed from the ring";
    }

    /// It reached its end.
    pub enum Done {
        Replaced { member: MemberName, host_id: HostId } => TaskDone,
            "member {member} was replaced; its new host ID is {host_id}";
        Removed { member: MemberName } => TaskDone, "member {member} was removed from the ring";
    }

    /// It lost its purpose.
    pub enum Failed {
        NotReplaced { member: MemberName } => TaskFailed,
            "member {member} was not replaced: it is up again, or its replacement was cancelled";
    }

    /// It was aborted in time.
    pub enum Aborted {
        InTime => TaskAborted, "the task was aborted before anything was changed";
    }

    /// It cannot be done as it stands, and nothing was changed.
    pub enum Refused {
        OtherCluster { member: MemberName, cluster: String, named: String } => TaskRefused,
            "member {member} belongs to cluster {cluster}, not to {named}";
        NoSuchMember { reason: Reason, cluster: String, member: MemberName, members: Names } => TaskRefused,
            "{reason}: cluster {cluster} has no member {member}; existing members: {members}";
        OtherVolume { reason: Reason, member: MemberName, volume_id: VolumeId, named: VolumeId } => TaskRefused,
            "{reason}: member {member} has volume ID {volume_id}, but `spec.replace.volumeID` of the task is {named}";
        UnknownVolume { reason: Reason, member: MemberName, named: VolumeId } => TaskRefused,
            "{reason}: no volume ID is recorded for member {member}, but `spec.replace.volumeID` of the task is {named}";
        NoAddress { member: MemberName } => TaskRefused,
            "member {member} cannot be replaced: no address is recorded for it yet";
        AlreadyReplacing { reason: Reason, member: MemberName, task: String } => TaskRefused,
            "{reason}: CassandraTask {task} is already replacing member {member}; wait for it, or abort it first";
        Replace { reason: Reason, member: MemberName, why: replace::Refused } => TaskRefused,
            "{reason}: member {member} cannot be replaced: {why}";
    }

    /// Steps.
    pub enum Doing {
        Report { task: String } => "update the status of CassandraTask {task}";
        Delete { task: String, ended: Timestamp } => "delete CassandraTask {task}, which ended at {ended}";
    }
}
