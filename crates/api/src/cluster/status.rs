//! Status of a `CassandraCluster`: what is so, and the ring's one turn.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Each rack by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub racks: BTreeMap<String, RackStatus>,
    /// The one founding of this ring. Never given twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founding: Option<Founding>,
    /// The ring's one turn: who may start, stop, join or leave now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// When the last turn that started a server was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_start_time: Option<Time>,
    /// Leader epoch that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// Addresses of the seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<String>,
    /// Newest release line that a member has run, for example `5.0`: there is no way back from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub newest_line: Option<String>,
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
