//! Tasks: why they are refused, how they go, and how they end.

use super::replace;
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName, VolumeId};
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// How a task goes.
    pub enum Running {
        Waits { member: MemberName } => TaskRunning,
            "member {member} will be replaced as soon as the other members confirm that it is dead";
        TooLate { member: MemberName } => TaskRunning,
            "too late to abort: member {member} is being replaced";
    }

    /// It reached its end.
    pub enum Done {
        Replaced { member: MemberName, host_id: HostId } => TaskDone,
            "member {member} was replaced; its host ID is {host_id}";
        Removed { member: MemberName } => TaskDone, "member {member} was removed from the ring";
    }

    /// It lost its purpose.
    pub enum Failed {
        NotReplaced { member: MemberName } => TaskFailed,
            "member {member} was not replaced: it is alive, or its replacement was cancelled";
    }

    /// It was aborted in time.
    pub enum Aborted {
        InTime => TaskAborted, "the task was aborted before anything was changed";
    }

    /// It cannot be done as it stands, and nothing was changed.
    pub enum Refused {
        OtherCluster { member: MemberName, cluster: String, named: String } => TaskRefused,
            "member {member} belongs to cluster {cluster}, not to {named}";
        NoSuchMember { cluster: String, member: MemberName, members: Names } => TaskRefused,
            "cluster {cluster} has no member {member}; its members are {members}";
        OtherVolume { member: MemberName, volume_id: VolumeId, named: VolumeId } => TaskRefused,
            "member {member} is on volume {volume_id}, not on {named}";
        UnknownVolume { member: MemberName, named: VolumeId } => TaskRefused,
            "no volume is recorded for member {member}, but the task names {named}";
        NoAddress { member: MemberName } => TaskRefused, "member {member} has no address yet";
        Replace { member: MemberName, why: replace::Refused } => TaskRefused,
            "member {member} cannot be replaced: member {member} cannot be replaced: {why}";
    }

    /// Steps.
    pub enum Doing {
        Report { task: String } => "report the progress of task {task}";
        Delete { task: String, ended: Timestamp } => "delete task {task}, which ended at {ended}";
    }
}
