//! The StatefulSet of each zone, as the user writes it. Fields that the rollout
//! manages itself (`updateStrategy`, `ordinals`) do not exist here.

use k8s_openapi::api::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The StatefulSet of each zone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct SetTemplate {
    /// Labels and annotations of the StatefulSets.
    #[serde(default)]
    pub metadata: ObjectMetadata,
    /// The StatefulSets.
    pub spec: SetSpec,
}

/// Labels and annotations.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Spec of each StatefulSet.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = Rule::new("!has(self.selector) || !has(self.selector.matchLabels) || self.selector.matchLabels.all(k, has(self.template.metadata) && has(self.template.metadata.labels) && k in self.template.metadata.labels && self.template.metadata.labels[k] == self.selector.matchLabels[k])")
        .message("`selector.matchLabels` must be among the labels of the pod template")
)]
#[serde(rename_all = "camelCase")]
pub struct SetSpec {
    /// Pods of each zone. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 1000))]
    pub replicas: i32,
    /// Selector of the pods. The operator's own labels are always added. Default: only those. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "selector")]
    pub selector: Option<LabelSelector>,
    /// The headless Service that gives the pods their DNS names. Default: the object's name; the operator creates that Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub service_name: Option<String>,
    /// How pods are created when the number changes. Default `Parallel`: a fix never waits for a broken pod. With `OrderedReady` Kubernetes creates no pod while one with a lower ordinal is not ready.
    #[serde(default)]
    pub pod_management_policy: PodManagementPolicy,
    /// Seconds for which a pod must be ready before it counts as available, also in a rollout. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub min_ready_seconds: i32,
    /// Number of old revisions that Kubernetes keeps. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub revision_history_limit: Option<i32>,
    /// What happens to PersistentVolumeClaims when pods or the StatefulSet are deleted. Default: they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim_retention_policy:
        Option<StatefulSetPersistentVolumeClaimRetentionPolicy>,
    /// PersistentVolumeClaims of each pod, as in a StatefulSet. A larger storage request is applied to existing claims; any other change is reported and not applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "claims")]
    pub volume_claim_templates: Vec<Value>,
    /// The pod template, as in a StatefulSet. Affinity, tolerations and all other fields are passed through; the zone is added to every node selector term.
    #[schemars(schema_with = "pod_template")]
    pub template: Value,
}

fn one() -> i32 {
    1
}

/// How a StatefulSet creates its pods.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum PodManagementPolicy {
    /// All at once.
    #[default]
    Parallel,
    /// One after another, each when those before it are ready.
    OrderedReady,
}

impl PodManagementPolicy {
    /// The word that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            PodManagementPolicy::Parallel => "Parallel",
            PodManagementPolicy::OrderedReady => "OrderedReady",
        }
    }
}

/// Limits keep the cost of the admission rules within what the API server allows.
fn label_map() -> Value {
    serde_json::json!({
        "type": "object",
        "maxProperties": 64,
        "additionalProperties": { "type": "string", "maxLength": 63 }
    })
}

fn selector(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "properties": { "matchLabels": label_map() }
    })
}

fn claims(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 16,
        "items": {
            "type": "object",
            "required": ["metadata", "spec"],
            "properties": {
                "metadata": {
                    "type": "object",
                    "required": ["name"],
                    "x-kubernetes-preserve-unknown-fields": true,
                    "properties": { "name": { "type": "string", "minLength": 1, "maxLength": 63 } }
                },
                "spec": { "type": "object", "x-kubernetes-preserve-unknown-fields": true }
            },
            "x-kubernetes-preserve-unknown-fields": true
        }
    })
}

/// Only what the admission rules need is spelled out; Kubernetes itself checks
/// the rest when the StatefulSet is written, so that a field of a newer
/// Kubernetes needs no newer operator.
fn pod_template(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let containers = serde_json::json!({
        "type": "array",
        "minItems": 1,
        "maxItems": 32,
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": { "name": { "type": "string", "minLength": 1, "maxLength": 63 } },
            "x-kubernetes-preserve-unknown-fields": true
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"]
    });
    schemars::json_schema!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "metadata": {
                "type": "object",
                "properties": { "labels": label_map() },
                "x-kubernetes-preserve-unknown-fields": true
            },
            "spec": {
                "type": "object",
                "required": ["containers"],
                "properties": {
                    "containers": containers,
                    "restartPolicy": { "type": "string", "enum": ["Always"] }
                },
                "x-kubernetes-preserve-unknown-fields": true
            }
        }
    })
}
