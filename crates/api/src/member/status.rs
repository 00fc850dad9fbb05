//! Status of a `CassandraMember`: what its agent sees. Written by that agent alone.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::ring::{Evidence, RingSummary};
use crate::runtime::RuntimeSettings;

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
    /// Runtime settings that the server has been given.
    #[serde(default, skip_serializing_if = "RuntimeSettings::is_empty")]
    pub runtime_settings: RuntimeSettings,
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
