//! How a node is set up for its agent. Groups merge profiles in order.

use crate::rules::node_agents as rules;
use crate::staged::config::free;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How a node is set up for its agent.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "NodeAgentProfile",
    namespaced,
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::profile_says_something(),
    validation = rules::modes_are_exclusive()
)]
#[serde(rename_all = "camelCase")]
pub struct NodeAgentProfileSpec {
    /// The agent forwards packets in user space. Not together with `kernelModeConfiguration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpdk_configuration: Option<DpdkConfiguration>,
    /// The node shares its network cards by virtual functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sriov_configuration: Option<SriovConfiguration>,
    /// The agent forwards packets in the kernel. Not together with `dpdkConfiguration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_mode_configuration: Option<KernelModeConfiguration>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_config: Option<OtherConfiguration>,
}

/// Packets are forwarded in user space.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DpdkConfiguration {
    /// Mask of the cores that forward, for example `0xf0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub core_mask: Option<String>,
    /// Huge pages of 2 MB.
    #[serde(default, rename = "2MBHugePages", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub two_mb_huge_pages: Option<i32>,
    /// Huge pages of 1 GB.
    #[serde(default, rename = "1GBHugePages", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub one_gb_huge_pages: Option<i32>,
    /// Cores that threads are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub cpu_pinning: Option<String>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub more_config: Map<String, Value>,
}

/// Network cards are shared by virtual functions.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SriovConfiguration {
    /// Virtual functions of each card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub number_of_vfs: Option<i32>,
    /// Which network each card serves, by the card's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "mappings")]
    pub virtual_function_mappings: BTreeMap<String, String>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub more_config: Map<String, Value>,
}

/// Packets are forwarded in the kernel.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct KernelModeConfiguration {
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub more_config: Map<String, Value>,
}

/// Anything else.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OtherConfiguration {
    /// Keys and values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub more_config: Map<String, Value>,
}

fn mappings(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 64,
        "additionalProperties": { "type": "string", "minLength": 1, "maxLength": 255 }
    })
}
