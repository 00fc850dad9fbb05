//! `CassandraTask`: one piece of work that a person wants done once to a ring.
//! The operator takes it up, says how it goes, and keeps it as history.

use crate::rules::task as rules;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// One piece of work that a person wants done once to a ring. A task that has ended is history and can be deleted; to try again, make another one.
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
    /// Name of the `CassandraCluster`, in the task's namespace. A task that stays without a phase names no cluster that there is. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Replace a member that is dead. Immutable.
    pub replace: ReplaceTask,
    /// Take the task back. Possible until the member has its turn; the condition says so where it is too late. Once true it stays so. Default false.
    #[serde(default)]
    pub abort: bool,
}

/// Give up a dead member's volume, and let another one take its place in the ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceTask {
    /// Name of the `CassandraMember`.
    #[schemars(length(min = 1, max = 63))]
    pub member: String,
    /// The volume that is given up, as `spec.volumeID` of the member has it. The task is refused if the member is on another one. With it, those members that are left may speak for the ring where most of it is lost; one that sees the member up still forbids it. Default: the member's volume at that time, and a majority must speak.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub volume_id: Option<String>,
}

/// How it goes, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskStatus {
    /// Where it stands; none until the operator has looked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<TaskPhase>,
    /// Host ID of the member that is, or was, replaced.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
    /// When it was taken up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended, one way or another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The `metadata.generation` that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`: True when it was done; False says what is under way or why it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Where a task stands.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPhase {
    /// It was taken up.
    Running,
    /// It was done.
    Done,
    /// It cannot be done as it stands; nothing of it was.
    Refused,
    /// It was taken back before anything was done.
    Aborted,
    /// What it was for has ended without it.
    Failed,
}

impl TaskPhase {
    /// Has it ended, so that nothing more is done for it?
    pub fn is_final(self) -> bool {
        self != TaskPhase::Running
    }
}
