//! What is so, what is being done, and what is waited for.

use crate::ids::PodUid;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is observed of a `ZonedStatefulSet`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ZonedStatefulSetStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// Whether all pods of all zones are ready in the newest version.
    #[serde(default)]
    pub ready: bool,
    /// Ready pods out of all pods in all zones, for example `5/6`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// Replicas of each zone, within `spec.scaling`. Read by the scale subresource.
    #[serde(default)]
    pub replicas: i32,
    /// Selector of the pods of the first zone, for the scale subresource, which scales one zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The newest version, from 1.
    #[serde(default)]
    pub version: i64,
    /// State of the rollout over all zones: `Failed` if a zone failed, else the state of the zone in progress, else of one that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutState>,
    /// The StatefulSets by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sets: BTreeMap<String, SetStatus>,
    /// Names of the pods that are labelled active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_pods: Option<String>,
    /// With `activePassiveMode: Single`: uid of the pod that may be labelled active. Written before the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_uid: Option<PodUid>,
    /// A change of configuration that has not been rolled out yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_config: Option<PendingConfig>,
    /// Newest number of each versioned Secret in the template, by name without the number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secret_versions: BTreeMap<String, u32>,
}

/// State of a rollout; the most important first.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum RolloutState {
    /// The canary or the rollout took too long. A new template replaces it.
    Failed,
    /// `Recreate`: the old pods are being deleted.
    Stopping,
    /// The first pod of the zone runs the new template and is being proven.
    Canary,
    /// The canary is available and the other pods follow, one at a time.
    Rollout,
    /// The new template is written; no pod has it yet.
    Pending,
    /// All pods have the newest template and were ready.
    Done,
}

impl RolloutState {
    /// All states.
    pub const ALL: [RolloutState; 6] = [
        RolloutState::Failed,
        RolloutState::Stopping,
        RolloutState::Canary,
        RolloutState::Rollout,
        RolloutState::Pending,
        RolloutState::Done,
    ];

    /// The word in annotations and status.
    pub fn as_str(self) -> &'static str {
        match self {
            RolloutState::Failed => "Failed",
            RolloutState::Pending => "Pending",
            RolloutState::Stopping => "Stopping",
            RolloutState::Canary => "Canary",
            RolloutState::Rollout => "Rollout",
            RolloutState::Done => "Done",
        }
    }
}

/// One StatefulSet.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SetStatus {
    /// Index of its zone, from 0.
    pub zone_index: usize,
    /// Its zone; empty without zones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zone: String,
    /// Its version.
    pub version: i64,
    /// State of its rollout.
    pub state: RolloutState,
    /// When the rollout of this StatefulSet started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Time>,
    /// Pods that the StatefulSet should have.
    pub replicas: i32,
    /// Ready pods.
    pub ready_replicas: i32,
    /// Pods of the newest template.
    pub updated_replicas: i32,
    /// What it waits for, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A change of configuration that was seen and is not rolled out yet.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PendingConfig {
    /// Hash of the data that all references hold now.
    pub hash: String,
    /// When the first of the collected changes was seen.
    pub since: Time,
}
