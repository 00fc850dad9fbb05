//! What is observed of a group of node agents.

use crate::component::PendingChange;
use crate::service::ServiceStatus;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

/// Overlaps that are shown at the most.
pub const MOST_OVERLAPS: usize = 50;

/// Groups that are named of each at the most.
pub const MOST_GROUPS: usize = 16;

/// What is observed of a `NodeAgentGroup`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeAgentGroupStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused, DependenciesReady, GatesPassed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// What services that depend on this one read; of a group, counts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// Ready agents out of all nodes of the group, for example `3/4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// How many gates are in which state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateCounts>,
    /// A change of the configuration that waits for a dependency to be complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_change: Option<PendingChange>,
    /// Nodes that more than one group of this agent selects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_OVERLAPS), extend("x-kubernetes-list-type" = "atomic"))]
    pub overlaps: Vec<Overlap>,
}

/// How many gates are in which state.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
#[serde(rename_all = "camelCase")]
pub struct GateCounts {
    /// Agents that may not start.
    #[serde(default)]
    pub closed: i32,
    /// Agents that may start and have not seen it yet.
    #[serde(default)]
    pub open: i32,
    /// Agents that have started.
    #[serde(default)]
    pub passed: i32,
}

/// A node that more than one group selects.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "camelCase")]
pub struct Overlap {
    /// The node.
    pub node: String,
    /// The other groups, as `<namespace>/<name>`, 16 at the most.
    #[schemars(length(max = MOST_GROUPS))]
    pub groups: Vec<String>,
}
