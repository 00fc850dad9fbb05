//! What every clustered service has in common, whatever its system: the part of
//! the status that dependents read, its storage, its one turn.

use crate::cluster::ClaimTemplate;
use crate::ids::{ClaimUid, MemberName, Nonce, StaticAddress, VolumeId};
use crate::rabbitmq::NodeName;
use crate::waits::LONGEST;
use crate::zookeeper::ServerId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Nodes that a status lists at the most.
pub const MOST_NODES: usize = 512;

/// A service as those that depend on it see it. They read nothing else.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    /// Whether more than half of its members are ready. Until as many members have joined as the spec asks for, those count; later the members of record.
    pub active: bool,
    /// Members that the spec asks for.
    pub wanted: u32,
    /// Members of record that are ready.
    pub ready: u32,
    /// The members of record, by name: they have joined and are not leaving. A restart does not change this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_NODES), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub nodes: Vec<ServiceNode>,
    /// Ports by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub ports: BTreeMap<String, u16>,
    /// What else clients need to know, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub attributes: BTreeMap<String, String>,
}

/// A member of record.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceNode {
    /// Name of the member, which is that of its pod.
    pub name: MemberName,
    /// Address at which it serves.
    pub address: StaticAddress,
}

/// The volume of each member.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ServiceStorage {
    /// Template of the PersistentVolumeClaim of each member. Default: `data`, 10Gi, of the default storage class. The access mode is ReadWriteOnce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_claim_template: Option<ClaimTemplate>,
}

/// The one turn of a clustered service: which member starts, stops, joins or leaves now.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceTurn {
    /// The member that has the turn.
    pub member: MemberName,
    /// The volume of that member.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// What the member does in its turn.
    pub step: ServiceStep,
    /// Nonce of the turn, used by its permit, intent and operations.
    pub nonce: Nonce,
    /// Epoch of the leader that gave it.
    pub epoch: i64,
    /// When the turn was given.
    pub since: Time,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// The question that members answer now, as `spec.evidence` of each. Every step asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// ZooKeeper: the server ID that the member gets in this turn.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
    /// `Replace`: the member that is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<LostMember>,
    /// RabbitMQ, `Leave` and `Replace`: the nonce with which a user has allowed this turn to leave queues behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Nonce>,
    /// What has failed since the last operation of this turn that was carried out. Absent if nothing has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<FailingOperation>,
}

/// Operations of a turn that have failed, or have left something as it was.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FailingOperation {
    /// The member that carried out the last one.
    pub executor: MemberName,
    /// How many have failed, one after the other.
    #[serde(default)]
    pub times: u32,
    /// Since when.
    pub since: Time,
    /// What the last one was, and why it has failed.
    #[schemars(length(max = LONGEST))]
    pub why: String,
}

/// A question to members, and since when it is asked.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Nonce of the question.
    pub nonce: Nonce,
    /// When it was put.
    pub since: Time,
    /// Since when this question and those before it have had no whole answer. Absent if the one before was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered_since: Option<Time>,
}

/// A member whose volume is lost, or was named by a user.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LostMember {
    /// The volume that is lost. It names no later one.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// ZooKeeper: the server ID of that volume.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
    /// RabbitMQ: the node name of that member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<NodeName>,
    /// The address by which the others know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// uid of its PersistentVolumeClaim.
    #[serde(default, rename = "claimUID", skip_serializing_if = "Option::is_none")]
    pub claim_uid: Option<ClaimUid>,
}

/// What a turn of a clustered service is for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceStep {
    /// The first member starts the service on an empty volume. Once.
    Initialize,
    /// A member joins.
    Join,
    /// A member leaves.
    Leave,
    /// A lost member makes way for a new one.
    Replace,
    /// A member is restarted.
    Restart,
    /// The majority is lost, and a user has allowed the rest to go on without it.
    Rescue,
    /// A server that no member accounts for is removed, as a user has allowed.
    Remove,
}

/// The start of a new service, recorded before anything is started. Never changed.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceInitialization {
    /// The member that starts the service.
    pub member: MemberName,
    /// The volume of that member.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Nonce of the permit.
    pub nonce: Nonce,
    /// When the member served for the first time. From then on there is a service, and all others join it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_at: Option<Time>,
}

/// Something that only a user may allow.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// What is to be allowed.
    pub kind: AskKind,
    /// The value of the annotation that allows it. It stands for what `about` lists and for nothing else.
    pub nonce: Nonce,
    /// The volumes or servers that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub about: Vec<String>,
    /// What it means, and how to allow it.
    #[schemars(length(max = 1024))]
    pub message: String,
}

/// What a user may be asked to allow.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskKind {
    /// Start a new service although volumes hold data, or cannot be looked at (`palladion.dev/allow-initialization`).
    Initialize,
    /// Go on with the members that are left (`palladion.dev/allow-rescue`).
    Rescue,
    /// Remove a server that no member accounts for (`palladion.dev/allow-remove`).
    Remove,
    /// Forget a member although queues would lose copies (`palladion.dev/allow-forget`).
    Forget,
}
