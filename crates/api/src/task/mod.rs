//! `CassandraTask`: one job that a user wants done once on a ring. The operator
//! starts it, reports its progress, and keeps it as history.

use crate::rules::task as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod bodies;
mod status;
pub use bodies::ReplaceTask;
pub use status::{CassandraTaskStatus, TaskPhase};

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
