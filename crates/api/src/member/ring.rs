//! The ring as one member sees it.

use crate::ids::{HostId, Nonce, StaticAddress};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// Summary of the ring as a member sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingSummary {
    /// Number of members that it knows, including itself.
    pub members: u32,
    /// Hash of the sorted host IDs.
    pub hash: String,
    /// Whether all reachable members have the same schema version.
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
    pub nonce: Nonce,
    /// When the view was read.
    pub read_at: Time,
    /// Operation mode of this member at that time. Absent if no server runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether all reachable members have the same schema version.
    pub schema_agreed: bool,
    /// Every member that the server knows, including itself. Absent if the server did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<RingMember>>,
    /// Usage of the member's volume. Absent if server or file system do not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
}

/// Usage of a member's volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Bytes of live data on disk, as the server reports them.
    pub data_bytes: u64,
    /// Free bytes of the file system.
    pub free_bytes: u64,
}

/// One member as another one sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingMember {
    /// Host ID. Empty if gossip has none.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Broadcast address.
    pub address: StaticAddress,
    /// Up or down, according to the failure detector.
    pub liveness: Liveness,
    /// State in the ring, as in `nodetool status`.
    pub state: MemberState,
}

/// Up or down.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Up, according to the failure detector.
    Up,
    /// Down, according to the failure detector.
    Down,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
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
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
