//! The ring as one member sees it.

use crate::ids::{HostId, Nonce, StaticAddress};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// Most datacenters that a summary names. A ring of more is one whose datacenters are not known.
pub const MOST_DATACENTERS: usize = 16;
/// Most release versions that a summary names of a datacenter.
pub const MOST_VERSIONS: usize = 16;

/// Summary of the ring as a member sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingSummary {
    /// Number of members that it knows in all datacenters, including itself.
    pub members: u32,
    /// Hash of the sorted host IDs of all of them.
    pub hash: String,
    /// Whether all reachable members have the same schema version.
    pub schema_agreed: bool,
    /// Members of all datacenters that are not up and normal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<RingMember>,
    /// The same by datacenter, its own included. A member whose datacenter the server does not know is in none of them, so that their numbers of members add up to `members` only if the datacenter of each is known. Agents of before protocol 13 report none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_DATACENTERS))]
    pub datacenters: Vec<DatacenterSummary>,
}

/// The members of one datacenter, as a member sees them.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DatacenterSummary {
    /// Name of the datacenter, as its members gossip it.
    pub name: String,
    /// Number of its members.
    pub members: u32,
    /// Hash of their sorted host IDs.
    pub hash: String,
    /// Release versions of their servers, sorted, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_VERSIONS))]
    pub versions: Vec<String>,
    /// Number of them that are not up and normal; `exceptions` of the summary names them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub exceptions: u32,
}

fn is_none(number: &u32) -> bool {
    *number == 0
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
    /// Datacenter of the member, as it gossips it. Absent: not known, or reported by an agent of before protocol 13.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datacenter: Option<String>,
    /// Release version of its server, as it gossips it. Absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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
