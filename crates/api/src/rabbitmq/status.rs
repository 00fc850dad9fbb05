//! Status of a `RabbitmqCluster`.

use super::NodeName;
use crate::ids::{MemberName, VolumeId};
use crate::member::LONGEST_MESSAGE;
use crate::service::{Ask, ServiceInitialization, ServiceStatus, ServiceTurn};
use crate::service_member::QueueNames;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// What is observed, what is being done, and what the operator waits for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RabbitmqClusterStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused, AllNodesSeen (every node that serves sees every other one run), Partitioned (nodes report a partition).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The cluster as those that depend on it see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// What only a user may allow, and how. Absent when nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Ready nodes out of all that the spec asks for, for example `3/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The nodes that a node names as members of the cluster, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub cluster: Vec<ClusterNode>,
    /// The start of this cluster, recorded once. The whole cluster grows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialized: Option<ServiceInitialization>,
    /// The Secret with the credentials, recorded once it exists. It is never created again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<RabbitmqCredentials>,
    /// The one turn of the cluster: which member may start, stop, join or leave now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<ServiceTurn>,
    /// Epoch of the operator's leader that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// Highest release line that a node has run, for example `3.12`. A lower line is rejected, and so is one above the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub highest_release_line: Option<String>,
    /// Whether as many nodes as the spec asks for have joined at least once. Until then, `Available` and `service.active` count what the spec asks for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete_once: bool,
    /// Whether members were restarted or replaced since the leaders of queues were spread last. The operator spreads them when no member is left to restart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rebalance_pending: bool,
    /// Members whose turn has ended because queues need or name their nodes, or cannot be moved off them, or because an operation of it has failed each time. Each is asked about again ten minutes later, or when the spec changes; others have the turn meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub postponed: Vec<PostponedTurn>,
    /// Hash of the definitions that a node has imported last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub definitions_hash: Option<String>,
}

/// A turn that has ended before its work was done.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PostponedTurn {
    /// The member.
    pub member: MemberName,
    /// When it ended.
    pub since: Time,
    /// Queues that were not moved off the node of the member, which is to leave. Absent if the turn has ended for another reason.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub unmoved: QueueNames,
    /// Why the move, or another operation of the turn, has failed each time. Absent if the move has ended, and has left those queues where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub failure: Option<String>,
    /// The member that was ordered to carry out the operation that failed last. Absent if that was the move of a leaver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<MemberName>,
}

/// The Secret with the credentials.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RabbitmqCredentials {
    /// Its name.
    #[schemars(length(max = 253))]
    pub secret_name: String,
    /// When it was recorded.
    pub since: Time,
}

/// A node of the cluster, and whose it is.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNode {
    /// Its name.
    pub name: NodeName,
    /// The member that it is. Absent if no member accounts for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// The volume of that member. Absent if no member accounts for it.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    pub volume_id: Option<VolumeId>,
    /// Whether a node sees it run.
    pub running: bool,
}
