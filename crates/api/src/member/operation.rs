//! Jobs for one member, and the maintenance that it still needs.

use crate::ids::{HostId, VolumeId};
use crate::rules::member as rules;
use crate::word::Word;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A job for one member. Runs once per `id`, across crashes of agent, pod and node.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::operation_is_complete())]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Unique ID, recorded in the ledger on the volume.
    pub id: String,
    /// What to do.
    pub kind: OperationKind,
    /// Host ID of the member. An agent with another host ID reports `Failed` and does nothing.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// Volume of the member. An agent on another volume reports `Failed` and does nothing.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    pub volume_id: Option<VolumeId>,
    /// The keyspaces. Empty: all that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub keyspaces: Vec<String>,
    /// `AlterReplication` only: replication factor by datacenter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replication: BTreeMap<String, u32>,
    /// `Repair` only: the ranges. Default `Primary`.
    #[serde(default, skip_serializing_if = "RepairRanges::is_primary")]
    pub ranges: RepairRanges,
    /// `RemoveNode`: host ID (or address) of the dead member. `Repair`: host ID of a dead member that is left out of the repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<HostId>,
    /// `Rebuild` only: the datacenter whose copies are streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 48))]
    pub source_datacenter: Option<String>,
    /// When the operator asked for it, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_at: Option<Time>,
    /// When the operator asked for it first, if earlier tries were interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried_since: Option<Time>,
}

impl Operation {
    /// A job of this kind that says no more.
    pub fn of(id: String, kind: OperationKind) -> Self {
        Self {
            id,
            kind,
            host_id: None,
            volume_id: None,
            keyspaces: Vec::new(),
            replication: BTreeMap::new(),
            ranges: RepairRanges::default(),
            target: None,
            source_datacenter: None,
            requested_at: None,
            tried_since: None,
        }
    }
}

/// Kinds of [`Operation`], named by nodetool's verbs where there is one.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Set the copies of keyspaces in the datacenters that `replication` names, over CQL (NetworkTopologyStrategy). Agents of protocol 13 leave those in all other datacenters as they are; older ones drop them.
    AlterReplication,
    /// Full repair of this member's primary ranges, or of all its ranges.
    Repair,
    /// Drop data in ranges that this member no longer owns.
    Cleanup,
    /// Write memtables to disk.
    Flush,
    /// Rewrite SSTables of an older release line.
    UpgradeSstables,
    /// Remove a dead member from the ring.
    RemoveNode,
    /// Stream the data of keyspaces from another datacenter. Agents of protocol 13 know it.
    Rebuild,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// The ranges of a repair.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RepairRanges {
    /// The primary ranges of this member: such a repair of every member covers the ring once.
    #[default]
    Primary,
    /// All ranges of which this member holds a copy.
    All,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

impl RepairRanges {
    /// Is it the default?
    fn is_primary(&self) -> bool {
        *self == Self::Primary
    }
}

/// Pending maintenance (safety rule 5.1).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Debt {
    /// The kind of maintenance.
    pub kind: DebtKind,
    /// `Repair` only: the ranges. Default `Primary`.
    #[serde(default, skip_serializing_if = "RepairRanges::is_primary")]
    pub ranges: RepairRanges,
    /// Why, and since when.
    pub reason: String,
}

/// Kinds of [`Debt`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebtKind {
    /// A repair: of all members after a removal; of all ranges of one member after it replaced a lost one, or was down for longer than the other members keep hints for it.
    Repair,
    /// A cleanup, after another member joined and took over ranges.
    Cleanup,
    /// A rebuild from another datacenter: keyspaces name the datacenter of this member, and it has none of their data.
    Rebuild,
    /// The server was upgraded and its SSTables are of the older release line. They are rewritten once all members run the newer one; nothing waits for it.
    UpgradeSstables,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}
