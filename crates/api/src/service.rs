//! What every clustered service has in common, whatever its system: the part of
//! the status that dependents read.

use crate::ids::{MemberName, StaticAddress};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Nodes that a status lists at the most.
pub const MOST_NODES: usize = 512;

/// A service as those that depend on it see it. They read nothing else.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    /// Whether more than half of its members are ready. Until as many members have joined as the spec asks for, those count; later the members of record.
    pub active: bool,
    /// Members that the spec asks for.
    pub wanted: u32,
    /// Members of record that are ready.
    pub ready: u32,
    /// The members of record, by name: they have joined and are not leaving. A restart does not change this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_NODES), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub nodes: Vec<ServiceNode>,
    /// Ports by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub ports: BTreeMap<String, u16>,
    /// What else clients need to know, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub attributes: BTreeMap<String, String>,
}

/// A member of record.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceNode {
    /// Name of the member, which is that of its pod.
    pub name: MemberName,
    /// Address at which it serves.
    pub address: StaticAddress,
}
