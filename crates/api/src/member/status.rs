//! Status of a `CassandraMember`: what its agent sees. Written by that agent alone.

use crate::ids::{ClientAddress, HostId, Nonce, PodUid, StaticAddress, VolumeId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::access::AccessProblem;
use super::begin::BeginQuestion;
use super::cdc::CdcStatus;
use super::guard::{Guard, MOST_GUARDS};
use super::health::{HealthRecord, MOST_HEALTH_RECORDS};
use super::job::JobStatus;
use super::missed::Missed;
use super::rebuild::{MOST_REBUILT, RebuildStatus};
use super::ring::{Evidence, RingSummary};
use super::tls::MemberTlsStatus;
use crate::backup::{ArchiveStatus, TransferStatus};
use crate::repair::{Pressure, RepairStatus};
use crate::runtime::RuntimeSettings;

/// What the agent of this member sees. Written by that agent alone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraMemberStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The agent that writes this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentStatus>,
    /// The volume, as found before any start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeStatus>,
    /// The server process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerStatus>,
    /// Health of the server, newest first, at most 5. The newest result holds as long as it has no `until`. Agents of protocol 4 report it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_HEALTH_RECORDS))]
    pub health: Vec<HealthRecord>,
    /// Host ID from the ledger, confirmed by the running server.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// Address that the server broadcasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// The last permit and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// The last intent and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentStatus>,
    /// May the permit or the intent in hand be begun? Asked only where that was given under a region lock, until it is begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<BeginQuestion>,
    /// The running operation, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationStatus>,
    /// The running job, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobStatus>,
    /// The work at a backup that the spec asks for, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferStatus>,
    /// The archive of the commit log. Only with `spec.archive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveStatus>,
    /// What waits for readers of changes. Only while its server is started for `cdc.mode: On`, and after that until nothing waits any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdc: Option<CdcStatus>,
    /// The repository of backups of this ring, as it is noted on the volume.
    #[serde(default, rename = "repositoryID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub repository_id: Option<String>,
    /// How far the repair of its primary ranges is. Only with `spec.repair`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairStatus>,
    /// That the server has more to do than it gets done: more than 20 compactions are pending (until fewer than 10 are), it drops writes of others, or writes take twice as long as in the hour before. Repairs are careful with it then. Only with `spec.repair`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Summary of the ring as this member sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingSummary>,
    /// Number of copies of each replicated keyspace: the largest number of
    /// members that hold one range. Updated when the schema or the ring changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies: BTreeMap<String, u32>,
    /// The same by datacenter, of keyspaces with copies in it. Only in rings with several datacenters. Agents of protocol 13 report it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies_by_datacenter: BTreeMap<String, BTreeMap<String, u32>>,
    /// Keyspaces whose ranges do not have the same number of copies in each datacenter: those with SimpleStrategy. Their members change when they are converted, so an added datacenter stays closed while one is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_REBUILT))]
    pub not_by_datacenter: Vec<String>,
    /// What it has of the data of the ring. Only in a datacenter that was added to a ring. Agents of protocol 13 report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildStatus>,
    /// The answer to `spec.evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// What keeps the agent from logging in to its server over CQL. Absent if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessProblem>,
    /// What the agent asks the operator to sign, and what it has of it. Only with `spec.tls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<MemberTlsStatus>,
    /// What no server is started without on this volume, as the agent has noted it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MOST_GUARDS))]
    pub security_floor: Option<Vec<Guard>>,
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
    /// uid of the pod that it runs in.
    #[serde(rename = "podUID")]
    pub pod_uid: PodUid,
    /// Revision of that pod (`controller-revision-hash`).
    pub revision: String,
    /// Node that the pod runs on.
    pub node: String,
}

/// The volume of a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStatus {
    /// Random ID of the volume, from the marker file.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// What is on it.
    pub state: VolumeState,
    /// Identity of the mounted file system.
    pub file_system: String,
    /// The ring that the ledger names, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<String>,
    /// What is wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the server on it ran last, or since when it misses writes, if that is too long ago to start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ran_at: Option<Time>,
    /// When the server on it was down and is not known to have caught up yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
    /// Smallest `gc_grace_seconds` of the tables of users: for how long all of them keep deletions. Absent while the agent has not learned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_grace_seconds: Option<u32>,
    /// Number of former members whose data is kept in the directory `retired` of the volume, one directory for each, named by host ID. Nothing uses it, and nothing deletes it. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<u32>,
}

/// What an agent found on its volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeState {
    /// No server data, and the ledger names no host ID.
    Empty,
    /// Data of an unfinished join or replacement.
    Incomplete,
    /// Data of a member that has joined; the status shows its host ID.
    Joined,
    /// Data of a member that has left the ring.
    Left,
    /// The marker is missing on the recorded file system: the data is lost.
    Lost,
    /// The file system is not the recorded one: the volume is not mounted.
    NotMounted,
    /// The ledger names another ring.
    Foreign,
    /// Data without a ledger.
    Unaccounted,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The server process.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// State of the server.
    pub state: ServerState,
    /// Time of the last change of state.
    pub since: Time,
    /// Why, as a documented reason: one of [`crate::reasons`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, in words, with the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Operation mode that the server reports (`NORMAL`, `JOINING` …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether the native transport is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_transport: Option<bool>,
    /// Version that the server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Bytes of data that the server holds, approximately: the agent reports another figure when it differs by more than a tenth and by 64 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_bytes: Option<u64>,
    /// Schema version of this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
    /// Hash of this member's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_hash: Option<String>,
    /// Hash of the configuration that the server was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_hash: Option<String>,
    /// Seeds that the server uses now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<StaticAddress>,
    /// Runtime settings that were applied to the server.
    #[serde(default, skip_serializing_if = "RuntimeSettings::is_empty")]
    pub runtime_settings: RuntimeSettings,
    /// What keeps others out of the server that runs. Agents of protocol 8 report it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_GUARDS))]
    pub guards: Vec<Guard>,
    /// The server takes its own agent alone, since its ring is being restored. Agents of protocol 11 report it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// The server runs without its native transport, since its datacenter was added to a ring and the member was not rebuilt yet. Agents of protocol 13 report it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_rebuild: bool,
    /// Address that the server that runs announces to clients, where that is not its static address. Agents of protocol 16 report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_address: Option<ClientAddress>,
    /// The last restart token that the agent carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
}

/// State of the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Not started; the reason says why.
    Waiting,
    /// The process runs but has not reported NORMAL yet.
    Starting,
    /// The process runs and has reported NORMAL since its start.
    Running,
    /// Stopped because the spec says so.
    Stopped,
    /// Draining.
    Stopping,
    /// The process exited; the agent waits before the next start.
    Failed,
    /// Decommissioned; the server never starts again on this volume.
    Decommissioned,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl ServerState {
    /// Is there a process, or may there be one? What is not known may be.
    pub fn may_run(self) -> bool {
        match self {
            Self::Starting | Self::Running | Self::Stopping | Self::Unknown => true,
            Self::Waiting | Self::Stopped | Self::Failed | Self::Decommissioned => false,
        }
    }
}

/// Result of a permit.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PermitStatus {
    /// Nonce of the permit. Kept after a withdrawal.
    pub nonce: Nonce,
    /// State of the permit.
    pub state: PermitState,
    /// Details, in words.
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
    /// Not valid for this pod, volume or state; nothing was done.
    Refused,
    /// Withdrawn by the operator and acknowledged; no server runs by it.
    Withdrawn,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Result of an intent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct IntentStatus {
    /// Nonce of the intent.
    pub nonce: Nonce,
    /// Its state.
    pub state: IntentState,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Time of the last change of state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// States of an intent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentState {
    /// Names another host ID or volume; nothing was done.
    Refused,
    /// In progress.
    Running,
    /// Failed; the message says how. The mode of the server shows whether it is still a full member.
    Failed,
    /// Done.
    Done,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Progress of an operation.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OperationStatus {
    /// ID of the operation.
    pub id: String,
    /// Its state.
    pub state: OperationState,
    /// Percentage done, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// Details, in words.
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
    /// In progress.
    Running,
    /// Done.
    Succeeded,
    /// Failed; the message says how.
    Failed,
    /// The agent or the server exited while it ran; it is not run again.
    Interrupted,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// One start of the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct StartRecord {
    /// When the process was started.
    pub started_at: Time,
    /// Cause of the start: the kind of the permit, or `Autonomous`.
    pub cause: String,
    /// When it became NORMAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_at: Option<Time>,
    /// When it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Exit code, or 128 + signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The decisive line of its log, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
