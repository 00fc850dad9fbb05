//! The ring as one member sees it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// How a member sees the ring: one line while all is well.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingSummary {
    /// How many members it knows, itself included.
    pub members: u32,
    /// Hash of the sorted host IDs.
    pub hash: String,
    /// Do all members share one schema version, as far as they are reachable?
    pub schema_agreed: bool,
    /// Members that are not up and normal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<RingMember>,
}

/// A full view of the ring, read after the nonce was seen.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The nonce answered.
    pub nonce: String,
    /// When the view was read.
    pub read_at: Time,
    /// Own operation mode at that time; absent where no server runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Do all reachable members share one schema version?
    pub schema_agreed: bool,
    /// Every member known to the server, itself included. Absent where the server could not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<RingMember>>,
    /// How full the member's volume is. Absent where server or volume does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
}

/// How full a member's volume is.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Bytes of live data on disk, as the server counts them.
    pub data_bytes: u64,
    /// Bytes that the file system has free for it.
    pub free_bytes: u64,
}

/// One member as another one sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingMember {
    /// Host ID, or empty where gossip does not tell one.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Broadcast address.
    pub address: String,
    /// Up or down, as the failure detector has it.
    pub liveness: Liveness,
    /// Place in the ring.
    pub state: MemberState,
}

/// Up or down.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The failure detector has it up.
    Up,
    /// The failure detector has it down.
    Down,
}

/// nodetool's N, J, L, M.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// A full member.
    Normal,
    /// Joining.
    Joining,
    /// Leaving.
    Leaving,
    /// Moving.
    Moving,
}
