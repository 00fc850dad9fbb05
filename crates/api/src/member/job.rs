//! The part of a task that one member does: what the operator asks for, and
//! what the member's agent makes of it.

use crate::ids::{HostId, Uid, VolumeId};
use crate::reasons::Reason;
use crate::task::{KeyspaceResult, KeyspaceState, Work};
use crate::word::Word;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// A job for one member. Begun once per `id`, across crashes of agent, pod and node.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Unique ID: nonce of the cluster's job, number of the unit, number of the try. Recorded on the volume.
    #[schemars(length(min = 1, max = 128))]
    pub id: String,
    /// What the tries of one job have in common: uid of the task. A later try goes on after the tables, or keyspaces, that an earlier one finished on the same volume.
    #[schemars(length(min = 1, max = 64))]
    pub task: Uid,
    /// Epoch of the leader that gave it. An agent that has seen a higher one reports `Refused` and does nothing.
    pub epoch: i64,
    /// Host ID of the member. An agent with another host ID reports `Refused` and does nothing.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Volume of the member. An agent on another volume reports `Refused` and does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Seconds that it may take, by the clock of the agent. Then it is stopped and has failed.
    pub deadline_seconds: u32,
    /// Whether it should run. Default `Run`.
    #[serde(default)]
    pub wanted: JobWanted,
    /// Only of a repair of what is due: seconds of work and of pauses in which the part of this member should be done. It pauses after each segment as far as that allows, and to a tenth of its speed at the most. Absent: no pauses, unless `intensityPercent` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_seconds: Option<u32>,
    /// Only of a repair of what is due that goes on beside that of other members: what may be repaired now. Absent: all, one range after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
    /// What is done: exactly one of these fields.
    #[serde(flatten)]
    pub work: Work,
}

/// Whether a job should run.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum JobWanted {
    /// It runs until it has ended.
    #[default]
    Run,
    /// It is stopped; one that has not begun is not begun, and reports `Aborted`.
    Stop,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// What a member may repair now: the ranges of which exactly these members have copies.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Grows with each grant of a job. 0: none yet.
    pub number: u32,
    /// Sorted host IDs of the members that have the copies, this one among them. Empty: none yet.
    #[serde(default, rename = "hostIDs")]
    #[schemars(length(max = 64))]
    pub host_ids: Vec<HostId>,
}

/// Ranges that are due, of which the same members have copies. All of them are up, as this member sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// Sorted host IDs of the members that have the copies, this one among them.
    #[serde(rename = "hostIDs")]
    #[schemars(length(max = 64))]
    pub host_ids: Vec<HostId>,
    /// Since when the first of them is due. Absent: a part of them was never repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
}

/// Progress of a job, and how it ended.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// ID of the job.
    pub id: String,
    /// Its state.
    pub state: JobState,
    /// Why it was refused, failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<JobCause>,
    /// Percentage done of the whole job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// The keyspace that is worked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspace: Option<String>,
    /// The table that is worked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// How much of it is done, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// How much there is of it, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What `done` and `total` count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<JobUnit>,
    /// Only of a job with `grant`: what is due and can be granted, the first of it. At most 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub batches: Vec<Batch>,
    /// Number of the last grant that is over: nothing is repaired by it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_grant: Option<u32>,
    /// How each keyspace ended, so far. A keyspace that an earlier try finished is among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2000))]
    pub results: Vec<KeyspaceResult>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// States of a job.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// In progress.
    Running,
    /// Being stopped: on request, or because its deadline has passed.
    Stopping,
    /// Done.
    Succeeded,
    /// Failed; the message says how.
    Failed,
    /// The agent, the pod or the server ended while it ran; it is not run again under this ID.
    Interrupted,
    /// Stopped on request.
    Aborted,
    /// Not begun; the cause says why.
    Refused,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl JobState {
    /// Has it ended, so that the agent does nothing more for it?
    pub fn is_final(self) -> bool {
        match self {
            JobState::Running | JobState::Stopping | JobState::Unknown => false,
            JobState::Succeeded
            | JobState::Failed
            | JobState::Interrupted
            | JobState::Aborted
            | JobState::Refused => true,
        }
    }
}

/// Why a job was refused, failed or was interrupted.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCause {
    /// The member has another host ID.
    OtherHostID,
    /// The member is on another volume.
    OtherVolume,
    /// The agent has seen a later leader.
    OldEpoch,
    /// The agent or the server does not know this work.
    NotSupported,
    /// The server ended.
    ServerEnded,
    /// The pod ended.
    PodEnded,
    /// The agent ended.
    AgentEnded,
    /// The server answered with an error.
    ServerError,
    /// The server does not answer.
    NoAnswer,
    /// Other work on the same table did not end in time.
    TableBusy,
    /// Somebody else stopped it.
    StoppedByOther,
    /// There is less free disk space than the table needs.
    NotEnoughDisk,
    /// There is a snapshot of this name.
    SnapshotExists,
    /// A keyspace has SimpleStrategy, which has no copies by datacenter.
    SimpleStrategyInTheWay,
    /// The agent cannot keep its record of jobs on the volume.
    VolumeError,
    /// It did not end in time.
    DeadlineExceeded,
    /// It was to stop, and the server has not ended its repair, has not begun its rewrite, or has not responded to its flush or snapshot.
    LeftRunning,
    /// Ranges were left out of a repair because members that have copies of them are down.
    ReplicasDown,
    /// The agent could not reach the API server, so that it ended its part of a repair.
    ApiServerUnreachable,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl JobCause {
    /// Where the catalogue explains it: under this reason it stands in the status of its member
    /// (`status.job.cause`), and in that of a task where its part has failed or was refused; what
    /// was interrupted is `Interrupted` there. `None` if only a newer agent knows it.
    pub fn reason(self) -> Option<Reason> {
        Some(match self {
            JobCause::OtherHostID => Reason::OtherHostID,
            JobCause::OtherVolume => Reason::OtherVolume,
            JobCause::OldEpoch => Reason::OldEpoch,
            JobCause::NotSupported => Reason::NotSupported,
            JobCause::ServerEnded => Reason::ServerEnded,
            JobCause::PodEnded => Reason::PodEnded,
            JobCause::AgentEnded => Reason::AgentEnded,
            JobCause::ServerError => Reason::ServerError,
            JobCause::NoAnswer => Reason::NoAnswer,
            JobCause::TableBusy => Reason::TableBusy,
            JobCause::StoppedByOther => Reason::StoppedByOther,
            JobCause::NotEnoughDisk => Reason::NotEnoughDisk,
            JobCause::SnapshotExists => Reason::SnapshotExists,
            JobCause::SimpleStrategyInTheWay => Reason::SimpleStrategyInTheWay,
            JobCause::VolumeError => Reason::VolumeError,
            JobCause::DeadlineExceeded => Reason::DeadlineExceeded,
            JobCause::LeftRunning => Reason::LeftRunning,
            JobCause::ReplicasDown => Reason::ReplicasDown,
            JobCause::ApiServerUnreachable => Reason::ApiServerUnreachable,
            JobCause::Unknown => return None,
        })
    }
}

/// What the progress of a job counts.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobUnit {
    /// Bytes.
    Bytes,
    /// Keyspaces.
    Keyspaces,
    /// Segments of a repair.
    Segments,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl JobStatus {
    /// A job in this state, and no more.
    pub fn of(id: String, state: JobState) -> Self {
        Self {
            id,
            state,
            cause: None,
            progress: None,
            keyspace: None,
            table: None,
            done: None,
            total: None,
            unit: None,
            batches: Vec::new(),
            last_grant: None,
            results: Vec::new(),
            started_at: None,
            ended_at: None,
            message: None,
        }
    }

    /// Does it say something that this build does not know?
    pub fn has_unknown(&self) -> bool {
        self.state == JobState::Unknown
            || self.cause == Some(JobCause::Unknown)
            || self.unit == Some(JobUnit::Unknown)
            || self.results.iter().any(|r| r.state == KeyspaceState::Unknown)
    }
}
