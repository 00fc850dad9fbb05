//! Permission to start a server of a service.

use super::operation::Peer;
use crate::ids::{Nonce, PodUid, VolumeId};
use crate::rabbitmq::NodeName;
use crate::rules::service_member as rules;
use crate::word::Word;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Permission to start a server, given to one volume in one pod.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::only_a_join_has_peers(), validation = rules::only_a_join_has_nodes())]
#[serde(rename_all = "camelCase")]
pub struct ServicePermit {
    /// What kind of start is permitted.
    pub kind: ServicePermitKind,
    /// Nonce of the turn; the agent acknowledges it.
    pub nonce: Nonce,
    /// The pod that the permit is for.
    #[serde(rename = "podUID")]
    pub pod_uid: PodUid,
    /// The volume that the permit is for.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Why the permit was given, in words.
    #[schemars(length(max = 1024))]
    pub reason: String,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// `Join`: the members that the server connects to. It is itself an observer until it is added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub peers: Vec<Peer>,
    /// RabbitMQ, `Join`: nodes of the cluster that run. The server joins through the first that answers. None of them is its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub nodes: Vec<NodeName>,
    /// RabbitMQ, `Join`: feature flags that are enabled in the cluster. The node starts with exactly these (`RABBITMQ_FEATURE_FLAGS`), as one that has others cannot join.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(length(min = 1, max = 128)))]
    pub flags: Vec<String>,
    /// What the agent does with the data directories before the start.
    #[serde(default)]
    pub data: DataBeforeServiceStart,
}

/// What the agent does with the data directories before a start by permit.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum DataBeforeServiceStart {
    /// The volume must be empty; otherwise the agent refuses the permit.
    #[default]
    MustBeEmpty,
    /// The data is kept (`Rescue`, and a `Join` of a server that votes already).
    Keep,
    /// What an unfinished start, or a member that has left, has left behind is removed. The agent refuses where the ledger names a full member.
    Wipe,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// The starts that need a permit.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServicePermitKind {
    /// The first member of a new service, on an empty volume. Given once. RabbitMQ: the agent creates the user, the virtual host and its own user, deletes `guest`, and imports the definitions if there are any; then the permit is done.
    Initialize,
    /// A member on an empty volume joins the service. The permit is done when the server serves as a full member; until then the same permit starts it again. RabbitMQ: the node starts closed, joins, and is started again with its listeners and plugins; that it has caught up is not part of the permit.
    Join,
    /// ZooKeeper: the majority is lost, and this server goes on alone, with its data. The agent stops the server and replaces its dynamic configuration by one that contains it alone, without a version; the permit is done when the server leads.
    Rescue,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}
