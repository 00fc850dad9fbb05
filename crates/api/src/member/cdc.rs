//! What a member keeps for readers of changes, as its agent sees it on the volume.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// What of the commit log waits for a reader of changes. Reported when its state changes, otherwise once a minute at most, and every five minutes while the reader keeps up.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct CdcStatus {
    /// How it stands.
    pub state: CdcState,
    /// Segments with changes that no reader has deleted.
    #[serde(default)]
    pub segments: u32,
    /// Bytes in the directory, in steps of a sixteenth of `totalBytes`.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes that there may be (`cdc.totalSpace`).
    #[serde(default)]
    pub total_bytes: u64,
    /// When the oldest segment that is complete became so, in whole minutes. Absent while none waits, and while the reader keeps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Time>,
}

/// How the segments of a member stand.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdcState {
    /// The reader keeps up.
    Current,
    /// Half of the space is used, or a segment has been complete for ten minutes.
    Lagging,
    /// 95 % of the space is used, or no other segment fits.
    Full,
    /// The directory cannot be read.
    Unread,
    /// The member has left the ring and its server has ended; what is there is complete and was not read.
    Undelivered,
    /// The member has left the ring and its server has ended; all was read.
    Delivered,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
