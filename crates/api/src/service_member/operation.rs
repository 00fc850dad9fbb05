//! Jobs for one member of a service.

use crate::ids::{StaticAddress, VolumeId};
use crate::rules::service_member as rules;
use crate::word::Word;
use crate::zookeeper::{ServerId, Zxid};
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// A job for one member. Runs once per `id`, across crashes of agent, pod and node.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::operation_is_complete())]
#[serde(rename_all = "camelCase")]
pub struct MemberOperation {
    /// Unique ID, recorded in the ledger on the volume.
    #[schemars(length(min = 1, max = 128))]
    pub id: String,
    /// Volume of the member. An agent on another volume reports `Failed` and does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// What to do.
    pub kind: MemberOperationKind,
    /// `Reconfig`: the change of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconfig: Option<Reconfig>,
    /// `Forget`: node name of the member that is forgotten. It does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub node: Option<String>,
}

/// Kinds of [`MemberOperation`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberOperationKind {
    /// ZooKeeper: change the configuration of the ensemble, if it still has the version that is named.
    Reconfig,
    /// RabbitMQ: move the replicas of this member to others.
    MoveReplicas,
    /// RabbitMQ: forget a member that does not run.
    Forget,
    /// RabbitMQ: give queues replicas on this member.
    Grow,
    /// RabbitMQ: spread the leaders of queues.
    Rebalance,
    /// RabbitMQ: enable all stable feature flags.
    EnableFeatureFlags,
    /// RabbitMQ: import the definitions.
    ImportDefinitions,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// A change of the configuration of an ensemble, in one step.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Reconfig {
    /// The configuration that is changed. The servers refuse the change (`BadVersion`) if there is another one by then.
    pub version: Zxid,
    /// Servers that are added as participants. Each serves as an observer already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub add: Vec<Peer>,
    /// Servers that are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub remove: Vec<ServerId>,
}

/// A server of an ensemble, by its ID and where it is.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// Its server ID.
    #[serde(rename = "serverID")]
    pub server_id: ServerId,
    /// Its static address.
    pub address: StaticAddress,
}
