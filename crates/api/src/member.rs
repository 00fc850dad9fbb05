//! `CassandraMember`: the record of intent (`spec`, written by the operator)
//! and of fact (`status`, written by that member's agent alone).
//!
//! The operator and the agent never call each other; this object is all they
//! share. The rules of each field are in `docs/concepts/member-protocol.md`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    printcolumn(
        name = "Host-ID",
        type_ = "string",
        json_path = ".status.hostID",
        priority = 1
    ),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.server.reason"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct CassandraMemberSpec {
    /// Name of the `CassandraCluster`. Immutable.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the cluster of a member is fixed"))]
    pub cluster: String,
    /// Name of the ring as the server sees it. Immutable.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the ring name of a member is fixed"))]
    pub ring: String,
    /// Datacenter of the member. Immutable.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the datacenter of a member is fixed"))]
    pub datacenter: String,
    /// Rack of the member. Immutable.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the rack of a member is fixed"))]
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
    pub seeds: Vec<String>,
    /// A question to answer with a fresh view of the ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRequest>,
    /// Work that this member still owes to the ring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owes: Vec<Debt>,
    /// Epoch of the leader that last took over the turn naming this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_epoch: Option<i64>,
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
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
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
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Unique ID; the ledger on the volume remembers it.
    pub id: String,
    /// What to do.
    pub kind: OperationKind,
    /// Keyspaces it is for; empty means all that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyspaces: Vec<String>,
    /// `AlterReplication` only: datacenter name → replication factor (NetworkTopologyStrategy).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replication: BTreeMap<String, u32>,
    /// `RemoveNode` and `Assassinate` only: host ID (or address) of the dead member.
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
}

/// What the agent of this member sees. Written by that agent alone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraMemberStatus {
    /// `metadata.generation` that this status answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The agent that writes this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentStatus>,
    /// The volume as found before any start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeStatus>,
    /// The server process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerStatus>,
    /// Host ID from the ledger, confirmed by the server when it runs.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
    /// Address that the server broadcasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Nonce of the last permit that the agent has seen, and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// Nonce of the last intent and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentStatus>,
    /// The operation that runs, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationStatus>,
    /// How this member sees the ring, compact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingSummary>,
    /// Copies of the data of each keyspace that is replicated: the largest
    /// number of members that hold one range. Read again when the schema or
    /// the ring changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies: BTreeMap<String, u32>,
    /// Answer to `spec.evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Starts of the server, newest first, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_history: Vec<StartRecord>,
}

/// The agent of a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    /// Version of the agent.
    pub version: String,
    /// Version of the member protocol that it speaks.
    pub protocol: u32,
    /// The pod that it runs in.
    #[serde(rename = "podUID")]
    pub pod_uid: String,
    /// Revision of that pod (`controller-revision-hash`).
    pub revision: String,
    /// Node that the pod runs on.
    pub node: String,
}

/// The volume of a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStatus {
    /// ID of the volume: random, from the marker file.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// What is on it.
    pub state: VolumeState,
    /// Identity of the file system that is mounted there.
    pub file_system: String,
    /// Ring that the ledger on it names, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<String>,
    /// What is wrong, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What an agent found on its volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeState {
    /// No data of a server, and the ledger names no host ID.
    Empty,
    /// Data of a join or replace that did not finish.
    Incomplete,
    /// Data of a member that has joined; its host ID is in the status.
    Joined,
    /// Data of a member that has left the ring.
    Left,
    /// The marker is missing on the recorded file system: the data is lost.
    Lost,
    /// The file system is not the recorded one: the volume is not mounted.
    NotMounted,
    /// The ledger names another ring.
    Foreign,
    /// Data that no ledger accounts for.
    Unaccounted,
}

/// The server process.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// What the agent is doing with it.
    pub state: ServerState,
    /// Since when it is in this state.
    pub since: Time,
    /// Why, as a documented reason: one of [`crate::reasons`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, for people, with the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Operation mode as the server says it (`NORMAL`, `JOINING` …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Is the native transport up?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_transport: Option<bool>,
    /// Version that the server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Schema version of this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
    /// Hash of this member's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_hash: Option<String>,
    /// Hash of the configuration that the server was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_hash: Option<String>,
    /// Seeds that the server knows now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<String>,
    /// Restart token that the agent acted on last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
}

/// What the agent is doing with the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Not started: the reason says what it waits for.
    Waiting,
    /// The process runs and has not reported NORMAL yet.
    Starting,
    /// The process runs and has reported NORMAL since its start.
    Running,
    /// Stopped because the spec says so.
    Stopped,
    /// Being stopped (drain).
    Stopping,
    /// The process ended by itself; the agent backs off before the next start.
    Failed,
    /// Decommissioned; never started again on this volume.
    Decommissioned,
}

/// What became of a permit.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PermitStatus {
    /// Nonce of the permit. Kept after a withdrawal.
    pub nonce: String,
    /// State of the permit.
    pub state: PermitState,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// States of a permit.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitState {
    /// Used: the server was started with it.
    Used,
    /// The start led to a member that is NORMAL.
    Done,
    /// The start failed; the server does not run.
    Failed,
    /// Not applicable to this pod, volume or state; nothing was done.
    Refused,
    /// Withdrawn by the operator and acknowledged: no server runs by it.
    Withdrawn,
}

/// What became of an intent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct IntentStatus {
    /// Nonce of the intent.
    pub nonce: String,
    /// State of it.
    pub state: IntentState,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when it is in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// States of an intent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentState {
    /// Names another host ID or volume; nothing was done.
    Refused,
    /// Under way.
    Running,
    /// Failed; the message says how. The member is a full one again or stuck; its mode tells.
    Failed,
    /// Done.
    Done,
}

/// Progress of an operation.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OperationStatus {
    /// ID of the operation.
    pub id: String,
    /// State of it.
    pub state: OperationState,
    /// Percentage done, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
}

/// States of an operation.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationState {
    /// Under way.
    Running,
    /// Done.
    Succeeded,
    /// Failed; the message says how.
    Failed,
    /// Was under way when the agent or the server ended; it was not run again.
    Interrupted,
}

/// How a member sees the ring: one line while all is well.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingSummary {
    /// How many members it knows, itself included.
    pub members: u32,
    /// Hash of the sorted host IDs.
    pub hash: String,
    /// Do all members share one schema version, as far as they are reachable?
    pub schema_agreed: bool,
    /// Members that are not up and normal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<RingMember>,
}

/// A full view of the ring, read after the nonce was seen.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The nonce answered.
    pub nonce: String,
    /// When the view was read.
    pub read_at: Time,
    /// Own operation mode at that time; absent where no server runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Do all reachable members share one schema version?
    pub schema_agreed: bool,
    /// Every member known to the server, itself included. Absent where the server could not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<RingMember>>,
}

/// One member as another one sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingMember {
    /// Host ID, or empty where gossip does not tell one.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Broadcast address.
    pub address: String,
    /// Up or down, as the failure detector has it.
    pub liveness: Liveness,
    /// Place in the ring.
    pub state: MemberState,
}

/// Up or down.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The failure detector has it up.
    Up,
    /// The failure detector has it down.
    Down,
}

/// nodetool's N, J, L, M.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// A full member.
    Normal,
    /// Joining.
    Joining,
    /// Leaving.
    Leaving,
    /// Moving.
    Moving,
}

/// One start of the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct StartRecord {
    /// When the process was started.
    pub started_at: Time,
    /// Why it was started: a permit's kind, or `Autonomous`.
    pub cause: String,
    /// When it became NORMAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Exit code, or 128 + signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The last telling line of its log, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Version of the member protocol that this build speaks.
pub const PROTOCOL: u32 = 1;
