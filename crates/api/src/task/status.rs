//! How a task goes, and how it ended.

use crate::conditions::{COMPLETE, FAILED};
use crate::ids::HostId;
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
    /// Host ID of the member that is being replaced, or was.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// When the task started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the task finished, failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`: True when the task is done. `Failed`: True when it has ended in another way; the reason is TaskRefused, TaskAborted or TaskFailed. Both are False, with the progress, until it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Kind of a task.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum TaskKind {
    /// `spec.replace`.
    Replace,
}

impl TaskKind {
    /// All kinds.
    pub const ALL: &'static [TaskKind] = &[TaskKind::Replace];

    /// The field of the spec that asks for it.
    pub fn field(self) -> &'static str {
        match self {
            TaskKind::Replace => "replace",
        }
    }
}

/// Phase of a task.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPhase {
    /// In progress.
    Running,
    /// Complete.
    Done,
    /// Refused; nothing was changed.
    Refused,
    /// Aborted before anything was changed.
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
            Some(_) => Some(TaskPhase::Failed),
            None => of(COMPLETE).map(|_| TaskPhase::Running),
        }
    }

    /// Has it ended, so that nothing more is done for it?
    pub fn is_final(self) -> bool {
        self != TaskPhase::Running
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
        assert_eq!(of(true, false, Reason::TaskDone), Some(TaskPhase::Done));
        assert_eq!(of(false, true, Reason::TaskRefused), Some(TaskPhase::Refused));
        assert_eq!(of(false, true, Reason::TaskAborted), Some(TaskPhase::Aborted));
        assert_eq!(of(false, true, Reason::TaskFailed), Some(TaskPhase::Failed));
    }
}
