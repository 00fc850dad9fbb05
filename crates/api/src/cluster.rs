//! `CassandraCluster`: one datacenter of a Cassandra or Scylla ring.
//!
//! The fields of Rook's Cassandra operator keep their names (`version`,
//! `repository`, `mode`, `sidecarImage`, `datacenter.racks[]` …, see
//! `docs/sources.md`); the rest is added beside them.

use crate::rules::{
    audit as audit_rules, backup as backup_rules, cdc as cdc_rules, cluster as rules,
    network as network_rules, ring as ring_rules, security as security_rules,
    sidecar as sidecar_rules,
};
use crate::runtime::RuntimeSettings;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod audit;
mod backup;
mod cdc;
mod datacenter;
mod health;
mod image;
mod network;
mod placement;
mod retention;
mod ring;
mod security;
mod sidecar;
mod status;
mod storage;
mod unmet;
mod update;
pub use audit::{Audit, AuditCategory, is_keyspace};
pub use backup::{
    ArchiveMode, AzureStore, BackupArchive, BackupEncryption, BackupLimits, BackupSpec,
    BackupStore, GcsStore, MINIMUM_BYTES_PER_SECOND, S3Addressing, S3Checksum, S3Store,
    StoreTransport, VolumeStore,
};
pub use cdc::{Cdc, CdcMode, CdcOnFull, DEFAULT_CDC_BYTES, SidecarCdc};
pub use datacenter::{Datacenter, KEPT_KEYSPACES, Rack, RackTemplate};
pub use health::{Check, CheckResult, MOST_CHECKS, MOST_CONTACT_POINTS, RingHealth, Verdict};
pub use image::SidecarImage;
pub use network::{
    Broadcast, ClientAddresses, MOST_PEERS, MOST_SOURCE_RANGES, Network, PolicyMode,
};
pub use placement::Placement;
pub use retention::{ClusterRetention, ExpiringBackup, RetentionWork};
pub use ring::{
    ExternalSeeds, MOST_EXTERNAL_SEEDS, MOST_SEED_ADDRESSES, MOST_SEED_NETWORKS, Ring, RingLock,
    RingOrigin,
};
pub use security::{
    AdditionalTrust, Auth, AuthMode, CertificateSource, ClientTls, ClientTlsMode,
    InternodeCertificates, InternodeTls, InternodeTlsMode, MOST_ADDITIONAL, SecurityStatus,
    Settled, SignedByOperator, Tls,
};
pub use sidecar::{MOST_SIDECARS, Sidecar, SidecarPort};
pub use status::{
    Authority, CassandraClusterStatus, ClusterBackup, ClusterJob, ClusterRestore, DecidedWith,
    Initialization, InitializedElsewhere, JobOrigin, MOST_AUTHORITIES, RackStatus, RegionDown,
    Replaced, RestoredPlace, Rotation, RotationStep, SystemReplicationChange, Turn, TurnStep,
    WholeRing,
};
pub use storage::{ClaimMetadata, ClaimTemplate, Storage};
pub use unmet::{MOST_UNMET, Unmet};
pub use update::{StatefulSetReplace, UpdateStrategy};

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
    printcolumn(name = "Health", type_ = "string", json_path = ".status.health.verdict"),
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
    validation = rules::ring_name_is_fixed(),
    validation = rules::mode_is_fixed(),
    validation = rules::num_tokens_is_fixed(),
    validation = rules::scylla_has_no_jvm(),
    validation = rules::scylla_takes_no_runtime_settings(),
    validation = security_rules::scylla_takes_no_auth(),
    validation = security_rules::scylla_takes_no_tls(),
    validation = backup_rules::scylla_takes_no_backup(),
    validation = backup_rules::a_ring_begins_with_a_restore(),
    validation = network_rules::scylla_takes_no_network(),
    validation = ring_rules::scylla_is_one_datacenter(),
    validation = ring_rules::scylla_does_not_leave(),
    validation = ring_rules::origin_is_fixed(),
    validation = ring_rules::existing_needs_seeds(),
    validation = ring_rules::external_seeds_need_routes(),
    validation = ring_rules::seeds_have_networks_with_a_policy(),
    validation = ring_rules::external_seeds_need_their_authorities(),
    validation = audit_rules::scylla_takes_no_audit(),
    validation = cdc_rules::scylla_takes_no_cdc(),
    validation = cdc_rules::dropping_needs_4_1(),
    validation = cdc_rules::readers_need_segments(),
    validation = cdc_rules::segments_need_a_reader(),
    validation = sidecar_rules::scylla_takes_no_sidecars(),
    validation = sidecar_rules::sidecars_need_4_1(),
    validation = security_rules::client_tls_needs_4_1(),
    validation = security_rules::internode_tls_needs_4_1(),
    validation = rules::memory_suffices(),
    validation = rules::heap_fits_into_memory()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraClusterSpec {
    /// Version of the server: the image's tag, for example `5.0.5`.
    #[schemars(length(min = 1, max = 128))]
    pub version: String,
    /// Image repository without tag. Default: `cassandra`, or `scylladb/scylla` in mode `scylla`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub repository: Option<String>,
    /// Which server to run. Default `cassandra`. Immutable.
    #[serde(default)]
    pub mode: Mode,
    /// Image of the agent in every member pod; another one starts a rollout. Default: the image in `OperatorConfig`, or else the one released with this operator, for pods that are created or replaced for another reason; an upgrade of the operator replaces no pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar_image: Option<SidecarImage>,
    /// Cluster name of the server (`cluster_name`). Default: the object's name. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub ring_name: Option<String>,
    /// The ring that this datacenter belongs to. Default: one that begins with it. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<Ring>,
    /// Seeds of the ring in other datacenters, which other CassandraClusters describe or nobody does. They are appended to the seeds of every member, and restart nobody. Not for Scylla.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = ring_rules::seed_places_are_unique())]
    #[schemars(length(max = MOST_EXTERNAL_SEEDS))]
    pub external_seeds: Vec<ExternalSeeds>,
    /// The datacenter and its racks.
    pub datacenter: Datacenter,
    /// Annotations for the StatefulSets and pods of all racks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = rules::annotations_are_not_reserved())]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: BTreeMap<String, String>,
    /// Settings of `cassandra.yaml` (or `scylla.yaml`) by name. The API server rejects the settings that the operator manages: addresses, seeds, names and directories.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "crate::reserved::config_schema")]
    pub config: BTreeMap<String, serde_json::Value>,
    /// Settings that are applied to running servers without a restart. Not for Scylla.
    #[serde(default, skip_serializing_if = "RuntimeSettings::is_empty")]
    pub runtime_settings: RuntimeSettings,
    /// Whether servers ask for a user and a password. Default: they do as `config` says. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// TLS. Default: as `config` says. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// What servers log of what their clients do. A change restarts the members, one after the other. Default: they do as `config` says, which is nothing. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// Whether members keep what is written to tables with `cdc = true`, for a reader. Default: they do as `config` says, which is not. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdc: Option<Cdc>,
    /// Where backups of the ring are stored. A `CassandraBackup` takes one. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupSpec>,
    /// Who may connect to the members. Default: whoever reaches them. Not for Scylla.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Additional options of the server's JVM, one per entry, for example `-Dcassandra.available_processors=4`. `cassandra.ring_delay_ms` must not be shorter than the default, 30 s, where data matters: a coordinator that hears of a joining member later leaves it out of its writes. Not for Scylla.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::rules::jvm_options::schema")]
    pub jvm_options: Vec<String>,
    /// Heap size of the server's JVM, for example `4Gi`. Default: computed from the container's memory limit as Cassandra does, max(min(memory/2, 1 GiB), min(memory/4, 8 GiB)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::crd::quantity_text")]
    pub heap_size: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
    /// Additional environment variables of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::env_is_not_reserved(), validation = rules::env_names_are_unique())]
    #[schemars(length(max = 64))]
    pub env: Vec<EnvVar>,
    /// Containers of your own in each pod, beside the server. Every change is a rolling restart. The servers of a ring with sidecars ask for a password over JMX. Not for Cassandra 4.0, and not for Scylla.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = sidecar_rules::names_are_unique(), validation = sidecar_rules::ports_are_free())]
    #[schemars(length(max = MOST_SIDECARS))]
    pub sidecars: Vec<Sidecar>,
    /// Number of tokens of each member. Default 16. Immutable.
    #[serde(default = "default_num_tokens")]
    #[schemars(range(min = 1, max = 256))]
    pub num_tokens: u32,
    /// Number of seeds in each rack: its first members, unless `wanted.seed` of a `CassandraMember` says otherwise. Default 2.
    #[serde(default = "default_seeds_per_rack")]
    #[schemars(range(min = 1, max = 16))]
    pub seeds_per_rack: u32,
    /// Minimum seconds between the starts of two members that join, or that are started because a user wants it. Default 0: the next member starts as soon as the last one is a full member.
    #[serde(default)]
    #[schemars(range(max = 86400))]
    pub bootstrap_grace_seconds: u32,
    /// Seconds between the deletion of the Node that holds a member's local volume and the replacement of the member. A Node that is not ready or not reachable does not count as deleted. Default 300.
    #[serde(default = "default_node_gone_grace")]
    #[schemars(range(max = 604_800))]
    pub node_gone_grace_seconds: u32,
    /// Seconds that a member may take to drain before it is killed. Default 900.
    #[serde(default = "default_termination_grace")]
    #[schemars(range(min = 1, max = 604_800))]
    pub termination_grace_period_seconds: u32,
    /// How a change reaches the StatefulSets. Default: they are changed in place where Kubernetes allows it.
    #[serde(default, skip_serializing_if = "UpdateStrategy::is_default")]
    pub update_strategy: UpdateStrategy,
    /// Secrets for pulling images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// What happens to the data when this object is deleted. Default `Retain`.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// Whether the ring runs. A `Stopped` ring has no pods and keeps its volumes, members and addresses. Default `Running`.
    #[serde(default)]
    pub run: RingRun,
    /// A new value restarts every member once, one at a time, drained first. Any text, for example the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// While true, the operator writes only the status of this cluster, and which members are away and need a repair for it. Default false.
    #[serde(default)]
    pub paused: bool,
}

/// Whether the ring has pods.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RingRun {
    /// Every member has a pod.
    #[default]
    Running,
    /// No member has a pod; volumes, members and addresses are kept.
    Stopped,
}

fn default_num_tokens() -> u32 {
    16
}
fn default_seeds_per_rack() -> u32 {
    2
}
fn default_node_gone_grace() -> u32 {
    300
}
fn default_termination_grace() -> u32 {
    900
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

/// What happens to the data when the object is deleted.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum DeletionPolicy {
    /// PersistentVolumeClaims are kept.
    #[default]
    Retain,
    /// PersistentVolumeClaims that carry the uid of this object are deleted with it.
    Delete,
}
