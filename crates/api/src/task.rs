//! `CassandraTask`: one job that a user wants done once on a ring. The operator
//! starts it, reports its progress, and keeps it as history.

use crate::ids::{HostId, MemberName, VolumeId};
use crate::rules::task as rules;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// One job to run once on a ring. A finished task is history and can be deleted; to try again, create a new task.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraTask",
    namespaced,
    status = "CassandraTaskStatus",
    shortname = "ctask",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Complete\")].message"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("cluster"),
    validation = rules::is_fixed("replace"),
    validation = rules::abort_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskSpec {
    /// Name of the `CassandraCluster` in the namespace of the task. A task that stays without a phase names a cluster that does not exist. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Replace a dead member. Immutable.
    pub replace: ReplaceTask,
    /// Abort the task. Possible until the member has its turn; if it is too late, the condition says so. Cannot be set back to false. Default false.
    #[serde(default)]
    pub abort: bool,
}

/// Replace a dead member: delete its volume claim and stream its data to a new volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceTask {
    /// Name of the `CassandraMember`.
    #[schemars(length(min = 1, max = 63))]
    pub member: MemberName,
    /// The volume to replace: `spec.volumeID` of the member. The task is refused if the member is on another volume. If most of the ring is lost, a task with this field lets the remaining members decide; one that sees the member up still refuses it. Default: the member's current volume, and a majority must agree.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub volume_id: Option<VolumeId>,
}

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
