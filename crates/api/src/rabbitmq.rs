//! `RabbitmqCluster`: a cluster of RabbitMQ nodes.

use crate::cluster::{DeletionPolicy, Placement, SidecarImage};
use crate::names::SUBDOMAIN;
use crate::rules::{rabbitmq as rules, service as shared};
use crate::service::ServiceStorage;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod ids;
mod reserved;
mod server;
mod status;
pub use ids::NodeName;
pub(crate) use reserved::env_names;
pub use reserved::{
    CONFIG, ENV_PREFIXES, LEAST_MEMORY_MIB, PLUGINS, config, env, is_plugin, is_setting, is_value,
    plugin,
};
pub use server::{
    AGENT_PASSWORD_KEY, AGENT_USER, COOKIE_KEY, CREDENTIALS_DIR, DEFINITIONS_DIR, DEFINITIONS_KEY,
    MANAGEMENT_PLUGIN, PASSWORD_KEY, RABBITMQ_CONFIG_FILE, RABBITMQ_DATA_DIR, RabbitmqServerConfig,
    USERNAME_KEY, closed, rabbitmq_settings,
};
pub use status::{ClusterNode, PostponedTurn, RabbitmqClusterStatus, RabbitmqCredentials};

/// A cluster of RabbitMQ.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "RabbitmqCluster",
    namespaced,
    status = "RabbitmqClusterStatus",
    shortname = "rabbitmq",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Nodes", type_ = "string", json_path = ".status.nodes"),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Available')].status"
    ),
    printcolumn(
        name = "Progressing",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].reason"
    ),
    printcolumn(
        name = "Partitioned",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Partitioned')].status"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].message",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::version_is_supported(),
    validation = rules::nodes_are_odd(),
    validation = rules::ports_are_fixed(),
    validation = rules::vhost_stays(),
    validation = rules::memory_suffices()
)]
#[serde(rename_all = "camelCase")]
pub struct RabbitmqClusterSpec {
    /// Number of nodes: 1, 3, 5 or 7. It may be changed at any time; nodes join and leave one by one without a restart of the others. Default 3.
    #[serde(default = "default_nodes")]
    pub nodes: u32,
    /// Version of the server: the image's tag, for example `3.12.14`. Lines 3.10 to 3.13; an upgrade goes to the next line, and never back.
    #[schemars(length(min = 1, max = 128))]
    pub version: String,
    /// Image repository without tag. Default `rabbitmq`.
    #[serde(default = "default_repository")]
    #[schemars(length(min = 1, max = 255))]
    pub repository: String,
    /// Settings of `rabbitmq.conf` by name, as texts, for example `vm_memory_high_watermark.relative: "0.5"`. The API server rejects the settings that the operator manages: how nodes find each other, listeners, users, definitions, and those with which a node would go on without its data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "rules::config_schema")]
    pub config: BTreeMap<String, String>,
    /// Plugins that are enabled besides `rabbitmq_management`, which the agent needs. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "rules::plugins_schema")]
    pub plugins: Vec<String>,
    /// What nodes do that have lost touch with each other. Default `PauseMinority`.
    #[serde(default)]
    pub partition_handling: PartitionHandling,
    /// Ports of the nodes. Immutable.
    #[serde(default)]
    pub ports: RabbitmqPorts,
    /// The volume of each node.
    #[serde(default)]
    pub storage: ServiceStorage,
    /// Name of the Secret with `erlang-cookie`, `agent-password`, `username` and `password`. Default: `<name>-rmq`, which the operator creates once with random values. A Secret that is named here is yours to create. It may be changed until the first node has served; then its credentials are on the volumes, and what the Secret says later changes little: a node keeps the cookie that its volume began with, `agent-password` is set again for a node that does not accept it, and `username` and `password` are read when the cluster is initialized, and by a node that starts while nobody has permissions in `vhost`. To change the password of that user, run `rabbitmqctl change_password`, and edit the Secret for those who read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub secret_name: Option<String>,
    /// The virtual host that is created with the cluster, and that the user of the Secret may use. Default `/`. Immutable. A cluster that is created again over volumes that were kept gets it where they do not have it; the former one stays, with its queues.
    #[serde(default = "default_vhost")]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"^[^\x00-\x1f\x7f]+$"))]
    pub vhost: String,
    /// Name of a Secret with `definitions.json`. One node imports it when the cluster is initialized, and again whenever it changes. Definitions are added or changed by an import, never deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub definitions_secret_name: Option<String>,
    /// Domain of the Kubernetes cluster, which ends the nodes' names. Default `cluster.local`. It may be changed until the first node has served.
    #[serde(default = "default_cluster_domain")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub cluster_domain: String,
    /// Additional environment variables of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::env_is_not_reserved(), validation = shared::env_names_are_unique())]
    #[schemars(length(max = 64))]
    pub env: Vec<EnvVar>,
    /// Resources of the server's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Where the pods may run. Default: on different nodes, if there are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Annotations for the StatefulSet and its pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = shared::annotations_are_not_reserved())]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: BTreeMap<String, String>,
    /// Secrets for pulling images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Image of the agent in every pod; another one starts a rollout. Default: the image released with this operator, for pods that are created or replaced for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar_image: Option<SidecarImage>,
    /// A new value restarts every node once, one at a time. Any text, for example the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Seconds that a node may take to hand over its queues and stop before it is killed. Default 180.
    #[serde(default = "default_termination_grace")]
    #[schemars(range(min = 1, max = 604_800))]
    pub termination_grace_period_seconds: u32,
    /// Seconds between the deletion of the Node that holds a member's local volume and the replacement of the member. A Node that is not ready does not count as deleted. Default 300.
    #[serde(default = "default_node_gone_grace")]
    #[schemars(range(max = 604_800))]
    pub node_gone_grace_seconds: u32,
    /// What happens to the data when this object is deleted. Default `Retain`.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// While true, the operator writes only the status of this cluster. Default false.
    #[serde(default)]
    pub paused: bool,
}

/// What nodes do that have lost touch with each other.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum PartitionHandling {
    /// Nodes that see no majority stop serving until they do. Nothing that was confirmed is lost.
    #[default]
    PauseMinority,
    /// All nodes go on, and one side's changes since the partition are thrown away when it heals: classic queues may lose confirmed messages.
    Autoheal,
}

impl PartitionHandling {
    /// As `rabbitmq.conf` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PauseMinority => "pause_minority",
            Self::Autoheal => "autoheal",
        }
    }
}

/// Ports of the nodes of a cluster.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::ports_differ())]
#[serde(rename_all = "camelCase")]
pub struct RabbitmqPorts {
    /// Port for clients. Default 5672.
    #[serde(default = "default_amqp_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub amqp: u16,
    /// Port on which nodes speak with each other. Default 25672.
    #[serde(default = "default_distribution_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub distribution: u16,
    /// Port of the management API and its pages. Default 15672.
    #[serde(default = "default_management_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub management: u16,
}

impl Default for RabbitmqPorts {
    fn default() -> Self {
        Self {
            amqp: default_amqp_port(),
            distribution: default_distribution_port(),
            management: default_management_port(),
        }
    }
}

impl Default for RabbitmqClusterSpec {
    fn default() -> Self {
        Self {
            nodes: default_nodes(),
            version: String::new(),
            repository: default_repository(),
            config: BTreeMap::new(),
            plugins: Vec::new(),
            partition_handling: PartitionHandling::default(),
            ports: RabbitmqPorts::default(),
            storage: ServiceStorage::default(),
            secret_name: None,
            vhost: default_vhost(),
            definitions_secret_name: None,
            cluster_domain: default_cluster_domain(),
            env: Vec::new(),
            resources: None,
            placement: None,
            annotations: BTreeMap::new(),
            image_pull_secrets: Vec::new(),
            sidecar_image: None,
            restart_token: None,
            termination_grace_period_seconds: default_termination_grace(),
            node_gone_grace_seconds: default_node_gone_grace(),
            deletion_policy: DeletionPolicy::default(),
            paused: false,
        }
    }
}

fn default_amqp_port() -> u16 {
    5672
}
fn default_distribution_port() -> u16 {
    25672
}
fn default_management_port() -> u16 {
    15672
}
fn default_nodes() -> u32 {
    3
}
fn default_repository() -> String {
    "rabbitmq".to_string()
}
fn default_vhost() -> String {
    "/".to_string()
}
fn default_cluster_domain() -> String {
    "cluster.local".to_string()
}
fn default_termination_grace() -> u32 {
    180
}
fn default_node_gone_grace() -> u32 {
    300
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The derived one would have no nodes, and no grace.
    #[test]
    fn a_default_in_code_is_that_of_the_schema() {
        let read: RabbitmqClusterSpec =
            serde_json::from_value(json!({ "version": "" })).expect("nothing else is required");
        assert_eq!(read, RabbitmqClusterSpec::default());
        let ports: RabbitmqPorts =
            serde_json::from_value(json!({ "amqp": 5673 })).expect("the others have defaults");
        assert_eq!((ports.amqp, ports.distribution, ports.management), (5673, 25672, 15672));
    }
}
