//! `ServiceMember`: one member of a clustered service that is no ring
//! (ZooKeeper, RabbitMQ). Its `spec` is the record of intent, written by the
//! operator; its `status` is the record of fact, written by that member's agent
//! alone. The operator and the agent never call each other; this object is all
//! they share.
//!
//! What belongs to one system stands in fields of its own (`serverID`,
//! `ensemble`, `reconfig` for ZooKeeper; `nodeName`, `broker`, `queues` for
//! RabbitMQ), so that the other has none of it.
//!
//! How a member of RabbitMQ is led, by these fields:
//!
//! - **Initialize, Join**: a permit. `Join` names the `nodes` to join through and the
//!   feature `flags` of the cluster. It is done when the node is booted with its
//!   listeners and plugins, and in the view of itself; then follows the operation `Grow`.
//! - **Leave**: the operation `MoveReplicas` on the leaver; the intent `StopApp`, with
//!   which its virtual machine stays; `Forget` by another member; the intent `Leave`.
//! - **Replace**: `MoveReplicas` about the lost node by another member, `Forget` by the
//!   same, a new volume, a permit to join.
//! - **Restart**: the pod is evicted; its preStop hook hands over and drains.
//! - At the end of a rollout: `Rebalance`, `EnableFeatureFlags`; `ImportDefinitions`
//!   whenever the file in the pods has another hash than the one imported last.

use crate::ids::{Nonce, StaticAddress, VolumeId};
use crate::member::{EvidenceRequest, RunState};
use crate::rabbitmq::NodeName;
use crate::rules::service_member as rules;
use crate::service::LostMember;
use crate::word::Word;
use crate::zookeeper::ServerId;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod broker;
mod ensemble;
mod operation;
mod permit;
mod status;
mod unknown;
pub use broker::{Alarm, BrokerView, FeatureFlags, NodeQueues, QueueNames, QueuesView};
pub use ensemble::{EnsembleServer, EnsembleView, ServerMode, ServerRole};
pub use operation::{ForgetQueues, MemberOperation, MemberOperationKind, Peer, Reconfig};
pub use permit::{DataBeforeServiceStart, ServicePermit, ServicePermitKind};
pub use status::{
    MemberEvidence, MemberHealth, MemberHealthRecord, MemberOperationStatus, MemberServer,
    MemberServerState, MemberVolume, MemberVolumeState, OperationAnswer, ServiceMemberStatus,
    ServiceStart,
};

/// Version of the member protocol that this build speaks about a `ServiceMember`.
pub const PROTOCOL: u32 = 1;

/// What one member of a clustered service should do, and what its agent sees.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "ServiceMember",
    namespaced,
    status = "ServiceMemberStatus",
    shortname = "smember",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "System", type_ = "string", json_path = ".spec.system"),
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.server.state"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".status.ensemble.mode"),
    printcolumn(name = "Address", type_ = "string", json_path = ".spec.address"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.server.reason"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("system"),
    validation = rules::is_fixed("cluster"),
    validation = rules::server_id_is_of_zookeeper(),
    validation = rules::node_name_is_of_rabbitmq(),
    validation = rules::server_id_changes_with_the_volume(),
    validation = rules::starts_never_fall(),
    validation = rules::terminated_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct ServiceMemberSpec {
    /// The system whose server this member runs. Immutable.
    pub system: ServiceSystem,
    /// Name of the `ZookeeperCluster` or `RabbitmqCluster`. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Static address of the member: the ClusterIP of its Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// Whether the server runs. Default `Running`.
    #[serde(default)]
    pub run: RunState,
    /// A new value restarts the server once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Pod revisions (`controller-revision-hash`) in which the agent may start the server.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub revisions: Vec<String>,
    /// Recorded volume of this member. An agent on another volume is a stale twin and stops its server.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub volume_id: Option<VolumeId>,
    /// Recorded file system of that volume. It distinguishes a volume that lost its data from one that is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub file_system: Option<String>,
    /// Highest start counter that was reported for that volume. A volume that reports a lower one was rolled back, and no server starts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<i64>,
    /// ZooKeeper: the server ID of that volume. It changes only with the volume.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 254))]
    pub server_id: Option<ServerId>,
    /// RabbitMQ: the node name of the server. It changes only with the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<NodeName>,
    /// Permit to start a server that is no member yet, or whose ensemble lost its majority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<ServicePermit>,
    /// A change of membership for the member to carry out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<ServiceIntent>,
    /// A job for the member to run. One at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<MemberOperation>,
    /// A request for a fresh view of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRequest>,
    /// The volume is lost, or a user has named it: the member is replaced, and no server starts on that volume as long as this is here. It names the volume, so it cannot apply to a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<VolumeLoss>,
    /// Epoch of the leader that last took over the turn naming this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_epoch: Option<i64>,
}

/// The system of a service.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ServiceSystem {
    /// Apache ZooKeeper.
    #[default]
    ZooKeeper,
    /// RabbitMQ.
    RabbitMQ,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// A volume that is lost, and why.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VolumeLoss {
    /// Whose volume it was.
    pub lost: LostMember,
    /// Who says so.
    pub cause: LossCause,
    /// Why, in words.
    #[schemars(length(max = 1024))]
    pub reason: String,
    /// May the record be taken back where its reason is gone? Not after the first step that rests on it, such as the deletion of the claim. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revocable: bool,
    /// ZooKeeper: server IDs of volumes that this member lost before, in whose place no server came yet.
    #[serde(default, rename = "earlierServerIDs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 254))]
    pub earlier_server_ids: Vec<ServerId>,
}

/// Who says that a volume is lost.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// The agent on the recorded file system: the data is gone, or a part of it.
    Agent,
    /// The operator: the Node with the local volume was deleted.
    NodeGone,
    /// A user, with an annotation that names the volume.
    User,
    /// The operator: the service went on without this volume, as a user allowed.
    Rescue,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// A change of membership.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServiceIntent {
    /// What to do.
    pub kind: ServiceIntentKind,
    /// Nonce of the turn.
    pub nonce: Nonce,
    /// Volume of the member. An agent on another volume reports `Refused` and does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
}

/// Kinds of [`ServiceIntent`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceIntentKind {
    /// The member is out of the service, or is about to be: stop the server, record in the ledger that it has left, and never start it on this volume again.
    Leave,
    /// RabbitMQ: drain the node and stop its application (`stop_app`), but keep its virtual machine alive: of two nodes the last one would pause otherwise, and could forget nobody. The intent is `Done` when the application is stopped; the state of the server is `Stopping` then, as its process runs. While the intent stands, the agent keeps it so, also after a restart of its own; after a restart of the pod it starts nothing. When the intent is withdrawn and no `Leave` follows, the agent starts the application again and ends the drain. Its nonce is another one than that of the `Leave` that follows.
    StopApp,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}
