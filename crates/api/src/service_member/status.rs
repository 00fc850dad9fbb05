//! Status of a `ServiceMember`: what its agent sees. Written by that agent alone.

use super::broker::{BrokerView, QueueNames, QueuesView};
use super::ensemble::EnsembleView;
use crate::ids::{Nonce, StaticAddress, VolumeId};
use crate::member::{AgentStatus, IntentStatus, OperationState, PermitStatus};
use crate::rabbitmq::NodeName;
use crate::zookeeper::{ServerId, Zxid};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// As many results of looking at the server, and starts, are kept.
const MOST_RECORDS: usize = 5;
/// Characters of a message at the most.
const LONGEST_MESSAGE: usize = 1024;

/// What the agent of this member sees. Written by that agent alone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceMemberStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The agent that writes this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentStatus>,
    /// The volume, as found before any start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<MemberVolume>,
    /// The server process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<MemberServer>,
    /// Health of the server, newest first, at most 5. The newest result holds as long as it has no `until`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_RECORDS))]
    pub health: Vec<MemberHealthRecord>,
    /// ZooKeeper: the server ID that the ledger on the volume names.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
    /// RabbitMQ: the node name that the ledger on the volume names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<NodeName>,
    /// Address that the server was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// ZooKeeper: the ensemble as the server sees it. Written when it changes; an answer to `spec.evidence` is in `evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<EnsembleView>,
    /// RabbitMQ: the cluster as the node sees it. Written when it changes; absent while the node does not answer. An answer to `spec.evidence` is in `evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<BrokerView>,
    /// RabbitMQ: hash of the definitions that the pod mounts (the first 32 hex digits of the SHA-256 of the file). Absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub definitions_hash: Option<String>,
    /// The last permit and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// The last intent and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentStatus>,
    /// The running operation, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<MemberOperationStatus>,
    /// The answer to `spec.evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<MemberEvidence>,
    /// Starts of the server, newest first, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_RECORDS))]
    pub start_history: Vec<ServiceStart>,
}

/// The volume of a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MemberVolume {
    /// Random ID of the volume, from the marker file.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// What is on it.
    pub state: MemberVolumeState,
    /// Identity of the mounted file system.
    #[schemars(length(max = 255))]
    pub file_system: String,
    /// Start counter of the ledger: raised at each start of a server, and at each turn of the member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<i64>,
    /// The cluster that the ledger names, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub cluster: Option<String>,
    /// ZooKeeper: the epoch that the server on it accepted last (`currentEpoch`). Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// ZooKeeper: the last transaction on it. Absent while its server is in touch with a quorum, or if it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_zxid: Option<Zxid>,
    /// What is wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
}

/// What an agent found on its volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberVolumeState {
    /// No server data, and the ledger names no member.
    Empty,
    /// Data of an unfinished start by permit: the server never was a full member.
    Incomplete,
    /// Data of a full member.
    Joined,
    /// Data of a member that has left.
    Left,
    /// On the recorded file system the marker, or data that the ledger accounts for, is missing: what the server on it has acknowledged may be gone.
    Lost,
    /// The file system is not the recorded one: the volume is not mounted.
    NotMounted,
    /// The ledger names another cluster.
    Foreign,
    /// Data without a ledger.
    Unaccounted,
    /// The start counter is lower than `spec.starts`: an old copy of the volume.
    RolledBack,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The server process.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MemberServer {
    /// State of the server.
    pub state: MemberServerState,
    /// Time of the last change of state.
    pub since: Time,
    /// Why, as a documented reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub reason: Option<String>,
    /// Why, in words, with the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
    /// Version that the server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub version: Option<String>,
    /// Hash of the configuration that the server was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub config_hash: Option<String>,
    /// The last restart token that the agent carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub restart_token: Option<String>,
}

/// State of the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberServerState {
    /// Not started; the reason says why.
    Waiting,
    /// The process runs and does not serve as a member yet.
    Starting,
    /// The process runs and has served as a member since its start.
    Running,
    /// Stopped because the spec says so.
    Stopped,
    /// Being stopped.
    Stopping,
    /// The process exited; the agent waits before the next start.
    Failed,
    /// It has left; the server never starts again on this volume.
    Left,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl MemberServerState {
    /// Is there a process, or may there be one? What is not known may be.
    pub fn may_run(self) -> bool {
        match self {
            Self::Starting | Self::Running | Self::Stopping | Self::Unknown => true,
            Self::Waiting | Self::Stopped | Self::Failed | Self::Left => false,
        }
    }
}

/// A result of looking at the server, for as long as it held.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MemberHealthRecord {
    /// The result. It counts once three looks in a row agree.
    pub result: MemberHealth,
    /// When the first of those looks was taken.
    pub since: Time,
    /// When it ended. Absent while it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
}

/// Results of looking at a server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberHealth {
    /// The server serves as a member.
    Healthy,
    /// The server answers, and does not.
    Unhealthy,
    /// The server does not answer, or none runs.
    NoAnswer,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The service as a member sees it, read after the nonce was seen.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemberEvidence {
    /// The nonce answered.
    pub nonce: Nonce,
    /// When the view was read.
    pub read_at: Time,
    /// The volume of the member that answers.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// ZooKeeper: the ensemble, read after a session was opened, which is a write that a quorum has taken. Absent if no session could be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<EnsembleView>,
    /// RabbitMQ: the cluster as the node sees it, read after the nonce was seen. Absent if a part of it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<BrokerView>,
    /// RabbitMQ: the queues as the node sees them, read after the nonce was seen. Absent if they could not be read, which is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesView>,
}

/// Progress of an operation.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MemberOperationStatus {
    /// ID of the operation.
    #[schemars(length(max = 128))]
    pub id: String,
    /// Its state.
    pub state: OperationState,
    /// What the server answered, where it matters for what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<OperationAnswer>,
    /// RabbitMQ: queues that the operation left as they were, though it was for them. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueNames>,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
}

/// What ZooKeeper answers to a change of its configuration. Whether it was made, only the configuration says that is read afterwards.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationAnswer {
    /// It was made.
    Made,
    /// The configuration has another version by now.
    BadVersion,
    /// The new configuration would have no quorum of servers that are in touch.
    NewConfigNoQuorum,
    /// Another change is under way.
    ReconfigInProgress,
    /// The connection ended before an answer. It may have been made.
    NoAnswer,
    /// Anything else; the message has the words.
    Other,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// One start of the server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStart {
    /// When the process was started.
    pub started_at: Time,
    /// Cause of the start: the kind of the permit, or `Autonomous`.
    #[schemars(length(max = 64))]
    pub cause: String,
    /// When it served as a member for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_at: Option<Time>,
    /// When it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Exit code, or 128 + signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The decisive line of its log, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
}
