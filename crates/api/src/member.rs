//! `CassandraMember`: the record of intent (`spec`, written by the operator)
//! and of fact (`status`, written by that member's agent alone).
//!
//! The operator and the agent never call each other; this object is all they
//! share. The rules of each field are in `docs/concepts/member-protocol.md`.

use crate::rules::member as rules;
use crate::runtime::RuntimeSettings;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod ring;
mod status;
pub use ring::{Disk, Evidence, Liveness, MemberState, RingMember, RingSummary};
pub use status::{
    AgentStatus, CassandraMemberStatus, IntentState, IntentStatus, OperationState, OperationStatus,
    PermitState, PermitStatus, ServerState, ServerStatus, StartRecord, VolumeState, VolumeStatus,
};

/// What one ring member should do, and what its agent sees.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraMember",
    namespaced,
    status = "CassandraMemberStatus",
    shortname = "cm6r",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Rack", type_ = "string", json_path = ".spec.rack"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.server.state"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".status.server.mode"),
    printcolumn(name = "Address", type_ = "string", json_path = ".spec.address"),
    printcolumn(name = "Host-ID", type_ = "string", json_path = ".status.hostID", priority = 1),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.server.reason"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("cluster"),
    validation = rules::is_fixed("ring"),
    validation = rules::is_fixed("datacenter"),
    validation = rules::is_fixed("rack"),
    validation = rules::terminated_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraMemberSpec {
    /// Name of the `CassandraCluster`. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Name of the ring as the server sees it. Immutable.
    #[schemars(length(min = 1, max = 128))]
    pub ring: String,
    /// Datacenter of the member. Immutable.
    #[schemars(length(min = 1, max = 48))]
    pub datacenter: String,
    /// Rack of the member. Immutable.
    #[schemars(length(min = 1, max = 48))]
    pub rack: String,
    /// The member's static address (ClusterIP of its Service), which it broadcasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Should the server run? Default `Running`.
    #[serde(default)]
    pub run: RunState,
    /// A new value restarts the server once, drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
    /// Pod revisions (`controller-revision-hash`) in which the agent may start the server.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub revisions: Vec<String>,
    /// Host ID that the operator has recorded for this member.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
    /// Volume that the operator has recorded for this member. An agent on another volume is the stale twin and stops its server.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    pub volume_id: Option<String>,
    /// File system that the operator has recorded for this member's volume: tells a lost volume from one that is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Permit to start a server that may not start by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartPermit>,
    /// A change of ring membership that the member should carry out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// One job at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Addresses of the seeds. Applied without a restart (4.0 and later).
    #[serde(default)]
    #[schemars(length(max = 512))]
    pub seeds: Vec<String>,
    /// Settings that the server takes while it runs. Applied without a restart.
    #[serde(default, skip_serializing_if = "RuntimeSettings::is_empty")]
    pub runtime_settings: RuntimeSettings,
    /// A question to answer with a fresh view of the ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRequest>,
    /// Work that this member still owes to the ring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub owes: Vec<Debt>,
    /// The member's volume is given up: it is replaced, or removed where it is not wanted any more, as soon as the ring proves it dead. Set by the operator for a Node that is gone, or from the label `palladion.dev/replace` or a `CassandraTask`; names what it is for, so that it can never hit what comes after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replacement>,
    /// Epoch of the leader that last took over the turn naming this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_epoch: Option<i64>,
}

/// A volume that is given up, and whose place is to be taken.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    /// The volume that is given up.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// Host ID of the member that was on it.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Static address by which the ring knows that member.
    pub address: String,
    /// uid of the claim that is deleted with it.
    #[serde(default, rename = "claimUID", skip_serializing_if = "Option::is_none")]
    pub claim_uid: Option<String>,
    /// Who has given it up.
    pub cause: ReplacementCause,
    /// Why, for people.
    pub reason: String,
}

/// Who has given a volume up.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementCause {
    /// The operator: the Node that holds the local volume is gone.
    NodeGone,
    /// A person, by label, or by a task that names no volume.
    Person,
    /// A person, by a task that names the volume: those members that are left may speak for the ring.
    Task,
}

/// Whether the server of a member should run.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RunState {
    /// The server runs whenever it may.
    #[default]
    Running,
    /// The server is drained and stopped; data and membership stay.
    Stopped,
    /// The server is stopped for good and must never be started again.
    Terminated,
}

/// Permission to start a server, given to one volume in one pod.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::permit_names_whom_it_replaces())]
#[serde(rename_all = "camelCase")]
pub struct StartPermit {
    /// What kind of start is permitted.
    pub kind: PermitKind,
    /// The turn's nonce; the agent acknowledges it.
    pub nonce: String,
    /// The pod that the permit is for.
    #[serde(rename = "podUID")]
    pub pod_uid: String,
    /// The volume that the permit is for.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// Why the permit was given, for people.
    pub reason: String,
    /// Number of the try, from 1. A retry carries a new nonce.
    #[serde(default)]
    pub attempt: u32,
    /// `Replace` only: static address of the member whose place is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_address: Option<String>,
    /// `Replace` and `ResumeLeave`: host ID of the member whose place is taken or which is leaving.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
    /// The agent may empty the data directories before the start (left-overs of a failed try, with evidence that the host ID is not NORMAL).
    #[serde(default)]
    pub data: DataBeforeStart,
}

/// What the agent does with data directories before a permitted start.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum DataBeforeStart {
    /// The volume must be empty; anything else is a refusal.
    #[default]
    MustBeEmpty,
    /// Data stays (`ResumeLeave`).
    Keep,
    /// Left-overs of a failed join or replace are removed.
    Wipe,
    /// Data of a host ID that is proven gone is moved to `retired/<host ID>`.
    Retire,
}

/// The starts that need a permit (safety rules, section 2).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitKind {
    /// First member of a new ring; may list itself as seed on an empty volume. Given once.
    Found,
    /// An empty volume joins an existing ring.
    Join,
    /// An empty volume takes the place of a dead member.
    Replace,
    /// A member that was restarted while leaving may come back to leave again.
    ResumeLeave,
}

/// A change of membership.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// What to do.
    pub kind: IntentKind,
    /// The turn's nonce.
    pub nonce: String,
    /// The host ID it is meant for; an agent with another one ignores it and reports so.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// The volume it is meant for.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
}

/// Kinds of [`Intent`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentKind {
    /// Leave the ring, streaming all data to the others.
    Decommission,
}

/// A job for one member. Runs once per `id`, across crashes of agent, pod and node.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::operation_is_complete())]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Unique ID; the ledger on the volume remembers it.
    pub id: String,
    /// What to do.
    pub kind: OperationKind,
    /// Keyspaces it is for; empty means all that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub keyspaces: Vec<String>,
    /// `AlterReplication` only: datacenter name → replication factor (NetworkTopologyStrategy).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replication: BTreeMap<String, u32>,
    /// `RemoveNode` only: host ID (or address) of the dead member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Kinds of [`Operation`], named by nodetool's verbs where there is one.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Set the replication of keyspaces to NetworkTopologyStrategy, over CQL.
    AlterReplication,
    /// Full repair of this member's primary ranges.
    Repair,
    /// Drop data of ranges this member no longer owns.
    Cleanup,
    /// Write memtables to disk.
    Flush,
    /// Rewrite SSTables of an older version.
    UpgradeSstables,
    /// Remove a dead member from the ring.
    RemoveNode,
}

/// A request to report the ring as read after this nonce was seen.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceRequest {
    /// Fresh for every question.
    pub nonce: String,
}

/// Work owed to the ring (safety rules, section 5).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Debt {
    /// What is owed.
    pub kind: DebtKind,
    /// Why, and since when.
    pub reason: String,
}

/// Kinds of [`Debt`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebtKind {
    /// A replace or an outage that outlasted the hint window.
    Repair,
    /// Ranges were lost to a join.
    Cleanup,
    /// The server was upgraded; its SSTables are of the older line. Paid once all members run the newer one; nothing waits for it.
    UpgradeSstables,
}

/// Version of the member protocol that this build speaks.
pub const PROTOCOL: u32 = 1;
