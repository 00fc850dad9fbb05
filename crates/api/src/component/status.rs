//! What is so, what is being done, and what is waited for.

use crate::service::ServiceStatus;
use crate::staged::Gate;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Gates that are shown at the most: as many as there may be pods.
pub const MOST_GATES: usize = 100;

/// What is observed of a `Component`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ComponentStatus {
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
    /// What services that depend on this one read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// Ready pods out of all pods, for example `1/2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// Whether as many members as are wanted were ready at once. From then on a majority is counted of the members on record, so that growth closes no gate.
    #[serde(default)]
    pub formed: bool,
    /// Length of the longest chain of Components and other services that this one depends on. Absent while they form a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// The gates of the pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_GATES), extend("x-kubernetes-list-type" = "atomic"))]
    pub gates: Vec<Gate>,
    /// A change of the configuration that waits for a dependency to be complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_change: Option<PendingChange>,
}

/// A change of the configuration that waits for a dependency to be complete.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PendingChange {
    /// Since when.
    pub since: Time,
    /// The dependency: its kind and name.
    pub dependency: String,
}
