//! The state of all services in one place.

use super::{MOST_SERVICES, StackKind};
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

/// What is observed of a `Stack`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct StackStatus {
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
    /// Services that are ready out of all that are active, for example `7/9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Every service, in the order of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_SERVICES), extend("x-kubernetes-list-type" = "atomic"))]
    pub services: Vec<ServiceStatus>,
    /// Services that were in the spec and are no more. They run on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_SERVICES), extend("x-kubernetes-list-type" = "atomic"))]
    pub left_behind: Vec<LeftBehind>,
}

/// The state of one service.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: StackKind,
    /// Whether the operator writes it.
    #[serde(default)]
    pub active: bool,
    /// Whether this Stack has created it.
    #[serde(default)]
    pub created: bool,
    /// Whether it is available, as it says itself, and its spec is accepted.
    #[serde(default)]
    pub ready: bool,
    /// Length of the longest chain of services that it depends on. Absent for profiles, for registrations, and for what is in a circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// Why it is not as its spec says, or what is wrong with it although it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub message: Option<String>,
}

/// A service that was in the spec and is no more.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "camelCase")]
pub struct LeftBehind {
    /// Its kind.
    pub kind: StackKind,
    /// Its name.
    pub name: String,
}
