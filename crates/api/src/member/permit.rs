//! Permission to start a server (safety rules 2.3 to 2.7).

use super::MOST_REBUILT;
use crate::ids::{HostId, LockToken, Nonce, PodUid, StaticAddress, VolumeId};
use crate::rules::member as rules;
use crate::word::Word;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Permission to start a server, given to one volume in one pod.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::permit_names_whom_it_replaces())]
#[serde(rename_all = "camelCase")]
pub struct StartPermit {
    /// What kind of start is permitted.
    pub kind: PermitKind,
    /// Nonce of the turn; the agent acknowledges it.
    pub nonce: Nonce,
    /// The pod that the permit is for.
    #[serde(rename = "podUID")]
    pub pod_uid: PodUid,
    /// The volume that the permit is for.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Why the permit was given, in words.
    pub reason: String,
    /// Number of the attempt, from 1. Each attempt has a new nonce.
    #[serde(default)]
    pub attempt: u32,
    /// `Replace`: static address of the dead member. `Readdress`: the address that the member had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_address: Option<StaticAddress>,
    /// `Replace`: host ID of the dead member. `ResumeLeave` and `Readdress`: host ID of the member itself.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// What the agent does with the data directories before the start.
    #[serde(default)]
    pub data: DataBeforeStart,
    /// `Join` and `Replace`, in a datacenter that was added to a ring and takes clients: the keyspaces that all its members have, each with the number of copies there. What the member streams of them is complete, so it needs no rebuild. Absent: the member takes no clients before it is rebuilt. Agents of protocol 13 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MOST_REBUILT))]
    pub rebuilt: Option<BTreeMap<String, u32>>,
    /// `Restore`, and `Initialize` of a ring that begins with a restore: whose tokens the member starts with. Agents of protocol 11 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<RestoredStart>,
    /// The region lock under which the permit was given. Before it uses the permit, the agent asks with `status.begin` whether that still holds. Agents of protocol 14 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub lock_token: Option<LockToken>,
}

/// The first start of a member of a ring that is restored: with the tokens of a member of the backup, closed to clients.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoredStart {
    /// Host ID of the member of the backup.
    pub source: HostId,
    /// Hash of the tokens, which the member has noted before.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
}

/// What the agent does with the data directories before a start by permit.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum DataBeforeStart {
    /// The volume must be empty; otherwise the agent refuses the permit.
    #[default]
    MustBeEmpty,
    /// The data is kept (`ResumeLeave`, `Readdress`).
    Keep,
    /// Data of a failed join or replacement is removed, with evidence that its host ID is not NORMAL.
    Wipe,
    /// Data of a host ID that is proven gone is moved to `retired/<host ID>`.
    Retire,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// The starts that need a permit (safety rule 2.3).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitKind {
    /// The first member of a new ring. It may be its own seed on an empty volume. Given once.
    #[serde(alias = "Found")]
    Initialize,
    /// A member on an empty volume joins an existing ring.
    Join,
    /// A member on an empty volume replaces a dead member.
    Replace,
    /// A member that was restarted while leaving comes back to finish leaving.
    ResumeLeave,
    /// A member comes back with its data under another address. Agents of protocol 5 know it.
    Readdress,
    /// A member on an empty volume gets the tokens of a member of a backup, in a ring that begins with a restore; nothing is streamed to it. Agents of protocol 11 know it.
    Restore,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}
