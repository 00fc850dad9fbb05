//! `Stack`: many services from one manifest, with one status. The services start
//! in the order of what they depend on; the Stack itself orders nothing.

pub mod status;

pub use status::{LeftBehind, ServiceStatus, StackStatus};

use crate::rules::stack as rules;
use k8s_openapi::api::core::v1::{LocalObjectReference, Toleration};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Label of services: the Stack that writes them.
pub const STACK: &str = "palladion.dev/stack";
/// Annotation of services: uid of the Stack that created them.
pub const CREATED_BY: &str = "palladion.dev/created-by-stack";

/// Services of a stack at the most.
pub const MOST_SERVICES: usize = 64;

/// Many services from one manifest, with one status.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "Stack",
    namespaced,
    status = "StackStatus",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.ready"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].reason"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].message",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct StackSpec {
    /// The services.
    #[schemars(length(min = 1, max = MOST_SERVICES))]
    #[x_kube(validation = rules::services_are_unique())]
    pub services: Vec<StackService>,
    /// What all services have in common, as far as their kind has it. What a service says itself counts more.
    #[serde(default)]
    pub common: Common,
    /// What happens to the services when the Stack is deleted. Default `Orphan`. A service that is taken out, is not active, or has lost the label `palladion.dev/stack` stays, whatever the policy.
    #[serde(default)]
    pub deletion_policy: StackDeletionPolicy,
    /// While true, the operator writes only the status of this object. Only an owner reference by which a service would be deleted against `deletionPolicy` is removed all the same. Default false.
    #[serde(default)]
    pub paused: bool,
}

/// A service of a stack.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::create_needs_activate())]
#[serde(rename_all = "camelCase")]
pub struct StackService {
    /// Its name.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Its kind.
    pub kind: StackKind,
    /// Whether the operator writes the object. Default false: an object of this name is left as it is.
    #[serde(default)]
    pub activate: bool,
    /// Whether the operator creates the object where it does not exist. Default false.
    #[serde(default)]
    pub create: bool,
    /// The spec of the object, as in a manifest of its own.
    #[serde(default)]
    #[schemars(schema_with = "spec")]
    pub spec: Value,
}

/// Kinds of services of a stack.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum StackKind {
    /// A ring of Cassandra or Scylla.
    CassandraCluster,
    /// A ZooKeeper ensemble.
    ZookeeperCluster,
    /// A RabbitMQ cluster.
    RabbitmqCluster,
    /// A staged service.
    Component,
    /// Calls that tell one service of others.
    Registration,
    /// How nodes are set up.
    NodeAgentProfile,
    /// Agents on nodes.
    NodeAgentGroup,
}

/// What all services have in common.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Common {
    /// Number of members: `replicas`, `servers` or `nodes` of the services that have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub replicas: Option<i32>,
    /// Whether pods use the network of their nodes: `network.addresses: HostNetwork` of the services that have it. Default false.
    #[serde(default)]
    pub host_network: bool,
    /// Secrets by which images are pulled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Labels of the nodes on which pods may run: `nodeSelector` of Components, `nodeAffinity` in the `placement` of clusters that have none. Node agents have nodes of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "node_labels")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints of nodes on which pods may run all the same: of Components, of node agents, and in the `placement` of clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub tolerations: Vec<Toleration>,
}

/// What happens to the services when the Stack is deleted.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum StackDeletionPolicy {
    /// They stay.
    #[default]
    Orphan,
    /// Those that the Stack has created are deleted, each as its own policy says.
    Delete,
}

fn spec(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

fn node_labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    crate::crd::label_values(16)
}
