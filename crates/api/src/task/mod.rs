//! `CassandraTask`: one job that a user wants done once on a ring. The operator
//! starts it, reports its progress, and keeps it as history.

use crate::rules::task as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod bodies;
mod status;
pub use bodies::ReplaceTask;
pub use status::{CassandraTaskStatus, TaskKind, TaskPhase};

/// One job to run once on a ring. When it has ended, exactly one of the conditions `Complete` and `Failed` is True. A finished task is history and is deleted after `ttlSecondsAfterFinished`; to try again, create a new task.
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
    printcolumn(name = "Kind", type_ = "string", json_path = ".status.kind"),
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
    /// Seconds between the end of the task and its deletion; 0 deletes it at once. The last ended task of each kind is kept until another one of its kind has ended, and of all others of a cluster the operator keeps no more than the newest 50. Can be changed at any time. Default 604800, seven days.
    #[serde(default = "default_ttl")]
    #[schemars(range(max = 315_360_000))]
    pub ttl_seconds_after_finished: u32,
}

/// Seconds for which a task that has ended is kept, where it does not say so itself.
pub const DEFAULT_TTL: u32 = 604_800;

fn default_ttl() -> u32 {
    DEFAULT_TTL
}
