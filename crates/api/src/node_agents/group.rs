//! A group of nodes, each of which runs one agent.

use super::status::NodeAgentGroupStatus;
use crate::names::SUBDOMAIN;
use crate::rules::node_agents as rules;
use crate::rules::staged as shared;
use crate::staged::config::{default_mount_path, free};
use crate::staged::template::pod_template;
use crate::staged::{Dependency, File, Port, Reload};
use k8s_openapi::api::core::v1::Toleration;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One agent on each node of a group.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "NodeAgentGroup",
    namespaced,
    status = "NodeAgentGroupStatus",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.pods"),
    printcolumn(name = "Agent", type_ = "string", json_path = ".spec.agent"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].reason"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::agent_is_fixed(),
    validation = rules::group_config_key_is_fixed(),
    validation = rules::group_is_not_recreated(),
    validation = rules::group_signal_is_complete(),
    validation = rules::group_signal_is_about_config(),
    validation = rules::group_signal_is_for_a_container()
)]
#[serde(rename_all = "camelCase")]
pub struct NodeAgentGroupSpec {
    /// The agent. Groups of one agent exclude each other: no node runs it twice, in whatever namespace. Immutable.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub agent: String,
    /// Labels of the nodes of this group.
    #[schemars(schema_with = "node_labels")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints of nodes that the agent runs on all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub tolerations: Vec<Toleration>,
    /// How a change of the template reaches the nodes. Default `rolling`.
    #[serde(default)]
    pub upgrade_strategy: UpgradeStrategy,
    /// Whether the later of two profiles wins that give a key different values. Default false: that is refused.
    #[serde(default, rename = "override")]
    pub overrides: bool,
    /// What the nodes of the group have in common.
    #[serde(default)]
    pub configuration: GroupConfiguration,
    /// The pod template, as in a DaemonSet. All fields are passed through; the operator adds the gate and the configuration.
    #[schemars(schema_with = "pod_template")]
    #[x_kube(
        validation = shared::containers_are_not_ours(),
        validation = shared::volumes_are_not_ours(),
        validation = shared::no_host_network()
    )]
    pub template: Value,
    /// Addresses and ports.
    #[serde(default)]
    pub network: GroupNetwork,
    /// Services that must be there before the agents start. An agent that runs is not stopped for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(
        validation = shared::dependencies_are_unique(),
        validation = shared::aliases_are_unique()
    )]
    pub depends_on: Vec<Dependency>,
    /// Configuration of the agents. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<GroupConfig>,
    /// How a change of the configuration reaches running agents.
    #[serde(default)]
    pub reload: Reload,
    /// While true, the operator writes only the status of this object. Default false.
    #[serde(default)]
    pub paused: bool,
}

/// How a change of the template reaches the nodes.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum UpgradeStrategy {
    /// One node after another.
    #[default]
    #[serde(rename = "rolling")]
    Rolling,
    /// When somebody deletes the pod of a node.
    #[serde(rename = "onDelete")]
    OnDelete,
}

/// What the nodes of a group have in common.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct GroupConfiguration {
    /// Gateway of the nodes; `gateway` in templates.
    #[serde(default, rename = "vRouterGateway", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub v_router_gateway: Option<String>,
    /// Names of NodeAgentProfiles, merged in this order; `profile` in templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "names")]
    #[x_kube(validation = rules::profiles_are_unique())]
    pub profiles: Vec<String>,
}

/// Addresses and ports of a group.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct GroupNetwork {
    /// By which address others reach an agent. Default `PodIP`. Immutable.
    #[serde(default)]
    #[x_kube(validation = rules::group_addresses_are_fixed())]
    pub addresses: NodeAddresses,
    /// Ports that the agents listen on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(validation = shared::ports_are_unique())]
    pub ports: Vec<Port>,
}

/// By which address others reach an agent.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum NodeAddresses {
    /// That of its pod.
    #[default]
    #[serde(rename = "PodIP")]
    PodIp,
    /// That of its node: the pod uses the network of the node.
    HostNetwork,
}

/// Configuration of the agents of a group.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct GroupConfig {
    /// Whether all agents have one text, or each its own. Immutable.
    #[serde(default)]
    pub key: GroupKey,
    /// Where the ConfigMap is mounted in every container. Default `/configs`.
    #[serde(default = "default_mount_path")]
    #[schemars(length(min = 2, max = 255), regex(pattern = r"^(/[A-Za-z0-9._-]+)+$"))]
    pub mount_path: String,
    /// Values for the templates, as `parameters`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub parameters: Map<String, Value>,
    /// The files of each agent.
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = shared::files_are_unique())]
    pub files: Vec<File>,
}

/// Whether all agents of a group have one text, or each its own.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum GroupKey {
    /// One text for all: templates have no `self`, and a group may have any number of nodes.
    #[default]
    Group,
    /// A text for each node, by its name.
    NodeName,
    /// A text for each pod, by its address, in which `-` stands for `:`.
    #[serde(rename = "PodIP")]
    PodIp,
}

fn names(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 16,
        "items": { "type": "string", "minLength": 1, "maxLength": 63, "pattern": SUBDOMAIN }
    })
}

fn node_labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut labels = crate::crd::label_values(16);
    labels.insert("minProperties".to_string(), 1.into());
    labels
}
