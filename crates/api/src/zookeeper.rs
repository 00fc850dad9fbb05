//! `ZookeeperCluster`: an ensemble of Apache ZooKeeper.

use crate::cluster::{DeletionPolicy, Placement, SidecarImage};
use crate::rules::{service as shared, zookeeper as rules};
use crate::service::ServiceStorage;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod ids;
mod reserved;
mod server;
mod status;
pub use ids::{ServerId, Zxid};
pub(crate) use reserved::env_names;
pub use reserved::{
    CONFIG, ENV_PREFIXES, JVM_OPTIONS, LEAST_MEMORY_MIB, config, env, is_setting, is_value,
    jvm_option,
};
pub use server::{DATA_DIR, LOG_DIR, ZOOKEEPER_CONFIG_FILE, ZookeeperServerConfig, settings};
pub use status::{EnsembleMember, ZookeeperClusterStatus};

/// An ensemble of Apache ZooKeeper.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "ZookeeperCluster",
    namespaced,
    status = "ZookeeperClusterStatus",
    shortname = "zookeeper",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Servers", type_ = "string", json_path = ".status.servers"),
    printcolumn(name = "Leader", type_ = "string", json_path = ".status.leader"),
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
    validation = rules::servers_are_odd(),
    validation = rules::ports_are_fixed(),
    validation = rules::memory_suffices(),
    validation = rules::heap_fits_into_memory()
)]
#[serde(rename_all = "camelCase")]
pub struct ZookeeperClusterSpec {
    /// Number of servers: 1, 3, 5 or 7. It may be changed at any time; servers join and leave one by one without a restart of the others. Default 3.
    #[serde(default = "default_servers")]
    pub servers: u32,
    /// Version of the server: the image's tag, for example `3.9.3`. Lines 3.8 and 3.9; it never goes back to an older line.
    #[schemars(length(min = 1, max = 128))]
    pub version: String,
    /// Image repository without tag. Default `zookeeper`.
    #[serde(default = "default_repository")]
    #[schemars(length(min = 1, max = 255))]
    pub repository: String,
    /// Settings of `zoo.cfg` by name, as texts, for example `tickTime: "2000"`. The API server rejects the settings that the operator manages: addresses, ports, directories, membership, and those with which a server that has lost its data would vote.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "rules::config_schema")]
    pub config: BTreeMap<String, String>,
    /// Ports of the servers. Immutable.
    #[serde(default)]
    pub ports: ZookeeperPorts,
    /// The volume of each server.
    #[serde(default)]
    pub storage: ServiceStorage,
    /// Additional options of the server's JVM, one per entry, for example `-XX:+UseG1GC`. Properties of ZooKeeper are set in `config`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "rules::jvm_options_schema")]
    pub jvm_options: Vec<String>,
    /// Heap size of the server's JVM, for example `1Gi`. Default: half of the memory limit, at most 4 GiB; 512 MiB without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::crd::quantity_text")]
    pub heap_size: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
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
    /// A new value restarts every server once, one at a time, the leader last. Any text, for example the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Seconds that a server may take to stop before it is killed. Default 60.
    #[serde(default = "default_termination_grace")]
    #[schemars(range(min = 1, max = 604_800))]
    pub termination_grace_period_seconds: u32,
    /// Seconds between the deletion of the Node that holds a server's local volume and the replacement of the server. A Node that is not ready does not count as deleted. Default 300.
    #[serde(default = "default_node_gone_grace")]
    #[schemars(range(max = 604_800))]
    pub node_gone_grace_seconds: u32,
    /// What happens to the data when this object is deleted. Default `Retain`.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// While true, the operator writes only the status of this ensemble. Default false.
    #[serde(default)]
    pub paused: bool,
}

/// Ports of the servers of an ensemble.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::ports_differ())]
#[serde(rename_all = "camelCase")]
pub struct ZookeeperPorts {
    /// Port for clients. Default 2181.
    #[serde(default = "default_client_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub client: u16,
    /// Port on which the leader takes its followers. Default 2888.
    #[serde(default = "default_quorum_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub quorum: u16,
    /// Port for elections. Default 3888.
    #[serde(default = "default_election_port")]
    #[schemars(range(min = 1024, max = 65_535))]
    pub election: u16,
}

impl Default for ZookeeperPorts {
    fn default() -> Self {
        Self {
            client: default_client_port(),
            quorum: default_quorum_port(),
            election: default_election_port(),
        }
    }
}

impl Default for ZookeeperClusterSpec {
    fn default() -> Self {
        Self {
            servers: default_servers(),
            version: String::new(),
            repository: default_repository(),
            config: BTreeMap::new(),
            ports: ZookeeperPorts::default(),
            storage: ServiceStorage::default(),
            jvm_options: Vec::new(),
            heap_size: None,
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

fn default_client_port() -> u16 {
    2181
}
fn default_quorum_port() -> u16 {
    2888
}
fn default_election_port() -> u16 {
    3888
}
fn default_servers() -> u32 {
    3
}
fn default_repository() -> String {
    "zookeeper".to_string()
}
fn default_termination_grace() -> u32 {
    60
}
fn default_node_gone_grace() -> u32 {
    300
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The derived one would have no servers, and no grace.
    #[test]
    fn a_default_in_code_is_that_of_the_schema() {
        let read: ZookeeperClusterSpec =
            serde_json::from_value(json!({ "version": "" })).expect("nothing else is required");
        assert_eq!(read, ZookeeperClusterSpec::default());
        let ports: ZookeeperPorts =
            serde_json::from_value(json!({ "client": 2182 })).expect("the others have defaults");
        assert_eq!((ports.client, ports.quorum, ports.election), (2182, 2888, 3888));
    }
}
