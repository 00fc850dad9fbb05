//! `CassandraCluster`: one datacenter of a Cassandra or Scylla ring.
//!
//! The shape of the thesis is kept name by name (`version`, `repository`,
//! `mode`, `sidecarImage`, `datacenter.racks[]` …); the rest is added beside it.

use k8s_openapi::api::core::v1::{
    Affinity, EnvVar, LocalObjectReference, NodeAffinity, PersistentVolumeClaimSpec, PodAffinity,
    PodAntiAffinity, ResourceRequirements, Toleration, TopologySpreadConstraint,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One datacenter of a ring of Apache Cassandra or ScyllaDB.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraCluster",
    namespaced,
    status = "CassandraClusterStatus",
    shortname = "cassandra",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Members", type_ = "string", json_path = ".status.members"),
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
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct CassandraClusterSpec {
    /// Version of the server: the image's tag, for example `5.0.5`.
    pub version: String,
    /// Image repository without tag. Default: `cassandra`, or `scylladb/scylla` in mode `scylla`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Which server to run. Default `cassandra`. Immutable.
    #[serde(default)]
    pub mode: Mode,
    /// Image of the agent that is put into every member pod. Default: the one this operator was released with, or `OperatorConfig`'s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar_image: Option<SidecarImage>,
    /// Name of the ring as the server sees it. Default: the object's name. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_name: Option<String>,
    /// The datacenter and its racks.
    pub datacenter: Datacenter,
    /// Annotations for the StatefulSets and pods of all racks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Settings of `cassandra.yaml` (or `scylla.yaml`) by their own names. Those that the operator sets itself (addresses, seeds, names, directories) are refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "free_map")]
    pub config: BTreeMap<String, serde_json::Value>,
    /// Further options for the server's JVM, one each, for example `-Dcassandra.ring_delay_ms=1000`. Not for Scylla.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    /// Heap of the server's JVM, for example `4Gi`. Default: from the container's memory limit by Cassandra's own rule, max(min(memory/2, 1 GiB), min(memory/4, 8 GiB)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_size: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
    /// Further environment variables of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Number of tokens of each member. Default 16. Immutable.
    #[serde(default = "default_num_tokens")]
    pub num_tokens: u32,
    /// How many members of each rack are seeds. Default 2.
    #[serde(default = "default_seeds_per_rack")]
    pub seeds_per_rack: u32,
    /// Least time in seconds between the start of one joining member and the start of the next. Default 0: the next starts as soon as the last is a full member.
    #[serde(default)]
    pub bootstrap_grace_seconds: u32,
    /// How long a member may take to drain before it is killed, in seconds. Default 900.
    #[serde(default = "default_termination_grace")]
    pub termination_grace_period_seconds: u32,
    /// Secrets to pull images with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// What becomes of the data when this object is deleted. Default `Retain`.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// While true, nothing but status is written for this cluster. Default false.
    #[serde(default)]
    pub paused: bool,
}

fn default_num_tokens() -> u32 {
    16
}
fn default_seeds_per_rack() -> u32 {
    2
}
fn default_termination_grace() -> u32 {
    900
}

fn free_map(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 512,
        "additionalProperties": { "x-kubernetes-preserve-unknown-fields": true }
    })
}

/// Which server a ring runs.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Apache Cassandra.
    #[default]
    Cassandra,
    /// ScyllaDB.
    Scylla,
}

/// What becomes of the data when the object is deleted.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum DeletionPolicy {
    /// Claims stay.
    #[default]
    Retain,
    /// Claims that carry this object's uid are deleted after it.
    Delete,
}

/// An image by repository and tag.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SidecarImage {
    /// Repository without tag.
    pub repository: String,
    /// Tag.
    pub version: String,
}

/// A datacenter.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Datacenter {
    /// Name of the datacenter as the server sees it. Immutable.
    pub name: String,
    /// Racks, each one StatefulSet.
    pub racks: Vec<Rack>,
}

/// A rack: one StatefulSet `<cluster>-<datacenter>-<rack>`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Rack {
    /// Name of the rack as the server sees it.
    pub name: String,
    /// How many members the rack should have.
    pub members: i32,
    /// Volumes of each member. Default: one claim named `data` of 10Gi of the default storage class.
    #[serde(default)]
    pub storage: Storage,
    /// Resources of the server's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Where the members may run. Default: members prefer different nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// ConfigMap with key `cassandra.yaml` (merged over `spec.config`; `scylla.yaml` in mode scylla) and `jvm-server.options` (lines added to `spec.jvmOptions`). A change of its data is a rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_name: Option<String>,
    /// ConfigMap with key `jmx_exporter_config.yaml`: adds the Prometheus JMX exporter on port 9180. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jmx_exporter_config_map_name: Option<String>,
    /// Annotations for the StatefulSet and pods of this rack; they win over the cluster's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Volumes of each member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The claim for the data, as in a StatefulSet. One claim; its access mode is ReadWriteOnce.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume_claim_templates: Vec<ClaimTemplate>,
}

/// A claim template.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ClaimTemplate {
    /// Name and labels of the claim.
    #[serde(default)]
    pub metadata: ClaimMetadata,
    /// The claim.
    pub spec: PersistentVolumeClaimSpec,
}

/// Name and labels of a claim.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClaimMetadata {
    /// Name of the claim template. Default `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Labels of the claims.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Where the members of a rack may run.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Node affinity, applied as it is (T3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_affinity: Option<NodeAffinity>,
    /// Pod affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_affinity: Option<PodAffinity>,
    /// Pod anti-affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
    /// Tolerations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Topology spread constraints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
}

impl Placement {
    /// The affinity of the pod template.
    pub fn affinity(&self) -> Affinity {
        Affinity {
            node_affinity: self.node_affinity.clone(),
            pod_affinity: self.pod_affinity.clone(),
            pod_anti_affinity: self.pod_anti_affinity.clone(),
        }
    }
}

/// What is so, what is being done, and what is waited for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraClusterStatus {
    /// `metadata.generation` that this status answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// `ready/wanted`, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<String>,
    /// Each rack by name (thesis' shape).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub racks: BTreeMap<String, RackStatus>,
    /// The one founding of this ring. Never given twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founding: Option<Founding>,
    /// The ring's one turn: who may start, stop, join or leave now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// When the last turn that started a server was given (M14's time gap).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_start_time: Option<Time>,
    /// Leader epoch that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// Addresses of the seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<String>,
    /// Replication of the system keyspaces as last set: replication factor in this datacenter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_replication: Option<u32>,
}

/// State of a rack.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RackStatus {
    /// Members that exist.
    #[serde(default)]
    pub members: i32,
    /// Members that are ready.
    #[serde(default)]
    pub ready_members: i32,
    /// Members in pods of the newest revision.
    #[serde(default)]
    pub updated_members: i32,
    /// Conditions of the rack: `MemberLeaving`, `MemberReplacing`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// The founding of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Founding {
    /// The member that founds.
    pub member: String,
    /// The volume that it founds on.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// Nonce of the permit.
    pub nonce: String,
    /// Host ID of the founder, once it is NORMAL: the ring exists.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
}

/// The ring's one turn (safety rules, section 3).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Whose turn it is.
    pub member: String,
    /// The volume that it is for.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// What it is for.
    pub step: TurnStep,
    /// Nonce of the turn: of its permits, intents and evidence.
    pub nonce: String,
    /// Epoch of the leader that gave it.
    pub epoch: i64,
    /// When it was given.
    pub since: Time,
    /// Number of the try, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// `Replace` only: whose place is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaced>,
}

/// The member whose place a replacement takes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// Its host ID.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Its static address, which the ring still knows it by.
    pub address: String,
}

/// What a turn is for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnStep {
    /// Found the ring.
    Found,
    /// Join the ring.
    Join,
    /// Replace a dead member.
    Replace,
    /// Come back to go on leaving.
    ResumeLeave,
    /// Leave the ring.
    Leave,
    /// Restart, for a rollout or by request.
    Restart,
    /// Remove what a failed procedure left in the ring.
    Remove,
}
