//! Jobs for one member of a service.

use crate::ids::{StaticAddress, VolumeId};
use crate::rabbitmq::NodeName;
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
    /// `MoveReplicas`: the node whose replicas are moved: the member's own, or that of a lost member. `Forget`: the node that is forgotten; it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// `Forget`: what happens to queues that still name the node. Default `MustNotName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<ForgetQueues>,
    /// `ImportDefinitions`: hash of the definitions that are meant (`status.definitionsHash`). An agent whose file has another one reports `Failed` and does nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub definitions_hash: Option<String>,
}

/// What happens to queues that name a node when it is forgotten.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ForgetQueues {
    /// The agent looks once more right before it forgets the node, and fails if a quorum queue or a stream has a replica there, or a durable classic queue is there alone.
    #[default]
    MustNotName,
    /// A user has allowed it: classic queues that are there alone are deleted with the node, and quorum queues and streams that could not be moved keep naming it.
    MayName,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// Kinds of [`MemberOperation`]. Those of RabbitMQ are `Succeeded` when what they are for is so, not when a command has ended with exit code 0; each may be carried out twice.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberOperationKind {
    /// ZooKeeper: change the configuration of the ensemble, if it still has the version that is named.
    Reconfig,
    /// RabbitMQ: move the replicas of quorum queues and streams off `node`, one queue after the other: where another running node has none, `add_member` there, and wait until it has caught up; then `delete_member`, its answer checked. A queue without a majority of its replicas online elsewhere is left as it is, and so is every classic queue. `Succeeded` with what is left in `status.operation.queues`.
    MoveReplicas,
    /// RabbitMQ: forget a node that does not run (`forget_cluster_node`). `Succeeded` when the member's own view names it no more.
    Forget,
    /// RabbitMQ: give each quorum queue and stream that has fewer replicas than the smaller of its initial group size (3 without one) and the number of running nodes, or more than its initial group size and an even number, a replica on this member, one after the other, never on another. `Succeeded` when all of them have caught up.
    Grow,
    /// RabbitMQ: spread the leaders of queues.
    Rebalance,
    /// RabbitMQ: enable all stable feature flags; never an experimental one.
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
