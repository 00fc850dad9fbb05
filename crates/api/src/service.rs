//! What a service shows to those that depend on it: the same words for every
//! kind, so that dependents read nothing else of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a service is, for those that depend on it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ServiceState")]
pub struct Service {
    /// Whether a majority of its members is ready.
    #[serde(default)]
    pub active: bool,
    /// Members that the spec asks for.
    #[serde(default)]
    pub wanted: i32,
    /// Members that are ready.
    #[serde(default)]
    pub ready: i32,
    /// Members on record, by name: those that have joined and do not leave. A member that restarts stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub nodes: Vec<ServiceNode>,
    /// Ports by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<String, i32>,
    /// What else dependents need to know, such as a datacenter or the name of a Secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// A member on record.
#[derive(
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
)]
#[serde(rename_all = "camelCase")]
pub struct ServiceNode {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
}
