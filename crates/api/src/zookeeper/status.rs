//! Status of a `ZookeeperCluster`.

use super::{ServerId, Zxid};
use crate::ids::{MemberName, VolumeId};
use crate::service::{Ask, ServiceInitialization, ServiceStatus, ServiceTurn};
use crate::service_member::ServerRole;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

/// What is observed, what is being done, and what the operator waits for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ZookeeperClusterStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The ensemble as those that depend on it see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// What only a user may allow, and how. Absent when nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Ready servers out of all that the spec asks for, for example `3/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<String>,
    /// The member that leads. Absent where nobody does, or more than one says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<MemberName>,
    /// Version of the newest configuration that a server has reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_version: Option<Zxid>,
    /// The servers of that configuration, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ensemble: Vec<EnsembleMember>,
    /// The start of this ensemble, recorded once. The whole ensemble grows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialized: Option<ServiceInitialization>,
    /// Highest server ID that was ever given in this ensemble. Each new volume gets a higher one.
    #[serde(default, rename = "highestServerID", skip_serializing_if = "Option::is_none")]
    pub highest_server_id: Option<ServerId>,
    /// The one turn of the ensemble: which member may start, stop, join or leave now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<ServiceTurn>,
    /// Epoch of the operator's leader that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// Highest release line that a server has run, for example `3.9`. A lower line is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub highest_release_line: Option<String>,
    /// Whether as many servers as the spec asks for have joined at least once. Until then, `Available` and `service.active` count what the spec asks for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete_once: bool,
}

/// A server of the ensemble, and whose it is.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EnsembleMember {
    /// Its server ID.
    pub id: ServerId,
    /// The member that it is. Absent if no member accounts for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// The volume to which that ID was given. Absent if no member accounts for it.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    pub volume_id: Option<VolumeId>,
    /// Whether it votes.
    pub role: ServerRole,
}
