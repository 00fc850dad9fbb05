//! The archive of a member's commit log: what the operator orders, and what the member's agent
//! makes of it. The rules are in `docs/concepts/backups.md`.

use super::{TransferPlace, TransferRepository};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// The archive of the commit log. It goes on beside backups, restores and repairs, until it is withdrawn.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveOrder {
    /// Whose repository it must be. The agent begins when the same one is noted on its volume, which the first backup does.
    pub repository: TransferRepository,
    /// Where it is.
    pub store: TransferPlace,
    /// Secret with the credentials of the store. A pod that has another one mounted does not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub credentials_secret_name: Option<String>,
    /// Seconds of acknowledged writes that may be lost with the volume.
    pub max_loss_seconds: u32,
    /// Bytes of segments that may wait on the volume. Default: the smaller of 16 GiB and a tenth of the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_local_bytes: Option<u64>,
    /// Number of the window of the ring. With another one the window that is open ends: data was loaded, which no commit log holds.
    pub window: u64,
}

/// The archive of a member's commit log.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveStatus {
    /// How it stands.
    pub state: ArchiveState,
    /// Since when every acknowledged write is in the archive. Absent while nothing is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Since when its tables have been as they are now: a point in time needs a backup that is not older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_since: Option<Time>,
    /// Until when, as of the last report: it is reported once a minute at most, and at rest every five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Number of the window of the ring that is open.
    #[serde(default)]
    pub window: u64,
    /// Bytes of segments that wait on the volume, in whole mebibytes.
    #[serde(default)]
    pub local_bytes: u64,
    /// The end of the last window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<ArchiveGap>,
    /// What keeps it from going on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How the archive of a member stands.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveState {
    /// It has not begun: no backup has noted the repository on the volume yet, or the server is no full member.
    Waiting,
    /// It is within `maxLossSeconds`.
    Current,
    /// It is behind by more than twice of that.
    Behind,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The end of a window: a point in time behind it cannot be reached from a backup before it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveGap {
    /// Until when all was in the archive.
    pub at: Time,
    /// Why it ended, in words.
    pub why: String,
}

/// To which points in time this ring can be restored.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PointInTime {
    /// From here: when the snapshots of the backup were all taken. Absent while no complete backup of all keyspaces is within the archives of all members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// Until here, in whole minutes: the archives of all members hold every write that was acknowledged before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The name in the repository of that backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub backup: Option<String>,
    /// Number of the window of the ring. It rises when data is loaded, which no commit log holds.
    #[serde(default)]
    pub window: u64,
    /// Uid of the restore that loads data now.
    #[serde(default, rename = "restoreUID", skip_serializing_if = "Option::is_none")]
    pub restore_uid: Option<crate::ids::Uid>,
}
