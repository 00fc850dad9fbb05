//! How a task goes, and how it ended.

use crate::ids::HostId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Progress of the task, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskStatus {
    /// Phase of the task; unset until the operator has seen it.
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
    /// `Complete`: True when the task is done; False with the progress, or with the reason why it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
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
    /// Has it ended, so that nothing more is done for it?
    pub fn is_final(self) -> bool {
        self != TaskPhase::Running
    }
}
