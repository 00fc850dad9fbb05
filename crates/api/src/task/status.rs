//! How a task goes, and how it ended.

use super::TaskKind;
use crate::conditions::{COMPLETE, FAILED};
use crate::ids::{HostId, MemberName};
use crate::member::JobUnit;
use crate::reasons::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Progress of the task, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskStatus {
    /// Kind of the task, by what its spec asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TaskKind>,
    /// Phase of the task, as its conditions say; unset until the operator has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<TaskPhase>,
    /// Position in the queue of the ring, from 1. Absent when it runs or has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// How far the task is over all its members, for example `41%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub progress: Option<String>,
    /// What runs now. Written every 10 seconds at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<TaskCurrent>,
    /// The members of the task, in the order in which they come, with how each of them ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub members: Vec<TaskMember>,
    /// Host ID of the member that is being replaced, or was.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// Name of the authority that a rotation has made, as in `status.authorities` of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub authority: Option<String>,
    /// When the task started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the task finished, failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`: True when the task is done. `Failed`: True when it has ended in another way; the reason is TaskRefused, TaskAborted, TaskPartial or TaskFailed. Both are False, with the progress, until it has ended; the reason of `Failed` is TaskWaiting then until the first member was begun, and TaskRunning from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// What a task does now.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TaskCurrent {
    /// The member.
    pub member: MemberName,
    /// The keyspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspace: Option<String>,
    /// The table.
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
}

/// A member of a task.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TaskMember {
    /// Name of the member.
    pub name: MemberName,
    /// Host ID of the member when it was begun: who did the work.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// How it goes.
    pub state: MemberTaskState,
    /// How often it was begun.
    #[serde(default)]
    pub tries: u32,
    /// When it was begun the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended. Of a repair that failed and is tried once more: when that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Since when its agent does not report while it works, as the operator has seen it. Ten minutes later, if its server is down as well, its part is interrupted, so that other tasks go on. At a repair of what is due also: since when its server serves nobody, or its agent does not answer when it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<Time>,
    /// Why it waits, or how it ended, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub reason: Option<String>,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
    /// How each keyspace ended. Of tasks with more than 2000 of them over all members, only those that did not succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyspaces: Vec<KeyspaceResult>,
}

/// How a member of a task goes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberTaskState {
    /// Not begun, or not again after an interruption.
    Waiting,
    /// In progress.
    Running,
    /// Done.
    Succeeded,
    /// Failed; the message says how.
    Failed,
    /// Left out.
    Skipped,
    /// Its server, agent or pod ended, or a turn came first; it is tried again.
    Interrupted,
    /// Aborted.
    Aborted,
}

/// How one keyspace of a job ended.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct KeyspaceResult {
    /// Name of the keyspace.
    pub name: String,
    /// How it ended.
    pub state: KeyspaceState,
    /// How long it took, in seconds.
    #[serde(default)]
    pub seconds: u64,
    /// Details, in words, where it did not succeed; of `replication`, what it was before; of
    /// `repair`, why it is not recorded as repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
    /// `replication` only: copies in the datacenter before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies_before: Option<u32>,
}

impl KeyspaceResult {
    /// A keyspace that ended so.
    pub fn of(name: String, state: KeyspaceState, seconds: u64, message: Option<String>) -> Self {
        Self { name, state, seconds, message, copies_before: None }
    }
}

/// How a keyspace of a job ended.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyspaceState {
    /// Done.
    Succeeded,
    /// Failed; the message says how.
    Failed,
    /// Stopped on request.
    Aborted,
    /// The server or its agent ended while it ran.
    Interrupted,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Phase of a task.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPhase {
    /// Not begun: it waits in the queue of its ring, or for its first member.
    Waiting,
    /// In progress.
    Running,
    /// Complete.
    Done,
    /// Ended, but members failed or were left out.
    Partial,
    /// Refused; nothing was changed.
    Refused,
    /// Aborted.
    Aborted,
    /// Its purpose was lost, or reached in another way.
    Failed,
}

impl TaskPhase {
    /// The phase that the conditions of a task amount to; `None` where there are none yet.
    pub fn of(conditions: &[Condition]) -> Option<Self> {
        let of = |type_: &str| conditions.iter().find(|c| c.type_ == type_);
        let is_true = |c: &&Condition| c.status == "True";
        if of(COMPLETE).filter(is_true).is_some() {
            return Some(TaskPhase::Done);
        }
        match of(FAILED).filter(is_true) {
            Some(failed) if failed.reason == Reason::TaskRefused.as_str() => {
                Some(TaskPhase::Refused)
            }
            Some(failed) if failed.reason == Reason::TaskAborted.as_str() => {
                Some(TaskPhase::Aborted)
            }
            Some(failed) if failed.reason == Reason::TaskPartial.as_str() => {
                Some(TaskPhase::Partial)
            }
            Some(_) => Some(TaskPhase::Failed),
            None if of(FAILED).is_some_and(|c| c.reason == Reason::TaskWaiting.as_str()) => {
                Some(TaskPhase::Waiting)
            }
            None => of(COMPLETE).map(|_| TaskPhase::Running),
        }
    }

    /// Has it ended, so that nothing more is done for it?
    pub fn is_final(self) -> bool {
        match self {
            TaskPhase::Waiting | TaskPhase::Running => false,
            TaskPhase::Done
            | TaskPhase::Partial
            | TaskPhase::Refused
            | TaskPhase::Aborted
            | TaskPhase::Failed => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::condition;

    #[test]
    fn the_phase_is_what_the_conditions_say() {
        let of = |complete: bool, failed: bool, reason: Reason| {
            let one = |type_, is_true| {
                condition(type_, is_true, reason.as_str(), "", None, jiff::Timestamp::UNIX_EPOCH)
            };
            TaskPhase::of(&[one(COMPLETE, complete), one(FAILED, failed)])
        };
        assert_eq!(TaskPhase::of(&[]), None);
        assert_eq!(of(false, false, Reason::TaskRunning), Some(TaskPhase::Running));
        assert_eq!(of(false, false, Reason::TaskWaiting), Some(TaskPhase::Waiting));
        assert_eq!(of(false, true, Reason::TaskPartial), Some(TaskPhase::Partial));
        assert_eq!(of(true, false, Reason::TaskDone), Some(TaskPhase::Done));
        assert_eq!(of(false, true, Reason::TaskRefused), Some(TaskPhase::Refused));
        assert_eq!(of(false, true, Reason::TaskAborted), Some(TaskPhase::Aborted));
        assert_eq!(of(false, true, Reason::TaskFailed), Some(TaskPhase::Failed));
    }
}
