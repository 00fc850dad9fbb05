//! How a restore goes, and how it ended.

use crate::backup::{GivenUp, LoadSource, TableFound, TransferPlace};
use crate::ids::{HostId, MemberName, VolumeId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Progress of a restore, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraRestoreStatus {
    /// Phase of the restore; unset until the operator has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<RestorePhase>,
    /// The name of the restore, of which the names of its orders are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub id: Option<String>,
    /// The backup, as it was found when the restore began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<RestoreSourced>,
    /// What `spec.confirm` is to be for `Truncate` or `Merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub nonce: Option<String>,
    /// Tables of the backup that are restored, and what was found in the ring before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub tables: Vec<TableFound>,
    /// The member that creates and truncates tables. No other one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<Coordinator>,
    /// What `gc_grace_seconds` of the tables is until all is loaded, so that no deletion is forgotten halfway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_grace_seconds: Option<u64>,
    /// What is loaded, by the members of the backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub shares: Vec<RestoreShare>,
    /// How far it is in its phase, for example `41%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub progress: Option<String>,
    /// Sums over all members of the backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<RestoreTotals>,
    /// Why it is being abandoned, once that is decided: the tables then get their own `gc_grace_seconds` back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
    /// When it was taken up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it was complete, had failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`: True when every file of the tables was loaded. `Failed`: True when it has ended in another way. Both are False, with the progress, until it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// The backup that is restored.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoreSourced {
    /// Its repository.
    #[serde(rename = "repositoryID")]
    #[schemars(length(max = 64))]
    pub repository_id: String,
    /// Its name in there.
    #[serde(rename = "backupID")]
    #[schemars(length(max = 63))]
    pub backup_id: String,
    /// Where the repository is.
    pub store: TransferPlace,
    /// Whether its objects are sealed.
    pub sealed: bool,
    /// SHA-256 of the manifest of the backup: from the `CassandraBackup`, the spec, or as it was read first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub manifest_hash: Option<String>,
    /// The time of the backup: what was acknowledged at QUORUM until then is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
}

/// The member that creates and truncates tables.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Coordinator {
    /// Name of the member.
    pub name: MemberName,
    /// Its host ID then.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its volume then.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
}

/// What one member of the backup had, and who loads it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoreShare {
    /// The member of the backup.
    pub source: LoadSource,
    /// The member of the ring that loads it now, or has loaded it; unset while it waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<RestoreMember>,
    /// Whether it is loaded.
    #[serde(default)]
    pub loaded: bool,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// A member of the ring that loads.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoreMember {
    /// Name of the member.
    pub name: MemberName,
    /// Its host ID when it was ordered to.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its volume when it was ordered to.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
}

/// Sums over all members of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoreTotals {
    /// SSTables that the backup has of the tables.
    pub sstables: u64,
    /// Their length, in bytes.
    pub bytes: u64,
}

/// Phase of a restore.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePhase {
    /// Not begun: a backup or another restore of the ring is under way, or something is missing.
    Pending,
    /// Whole ring: the members get the tokens of the backup and start, closed to clients.
    Starting,
    /// A member reads what the backup has, and what the ring has.
    Comparing,
    /// Tables have rows: `spec.confirm` is needed.
    Confirming,
    /// One member creates, or truncates, the tables.
    Creating,
    /// The members load the rows.
    Loading,
    /// Whole ring, to a point in time: the members replay the archived commit logs.
    Replaying,
    /// All is loaded; one member creates indexes and views.
    Finishing,
    /// Whole ring: roles and permissions are loaded.
    LoadingRoles,
    /// Whole ring: the members are started again, and let clients in.
    Opening,
    /// Whole ring: clients are let in; the members repair what they have.
    Repairing,
    /// Ended: every file of the tables was loaded.
    Complete,
    /// Ended, but not complete.
    Failed,
    /// Ended on request.
    Aborted,
}

impl RestorePhase {
    /// Has it ended?
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending
            | Self::Comparing
            | Self::Confirming
            | Self::Creating
            | Self::Loading
            | Self::Replaying
            | Self::Starting
            | Self::Finishing
            | Self::LoadingRoles
            | Self::Opening
            | Self::Repairing => false,
            Self::Complete | Self::Failed | Self::Aborted => true,
        }
    }
}
