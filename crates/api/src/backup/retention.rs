//! The part of expiring backups that one member does, and how a backup expires. The rules are in
//! `docs/concepts/backups.md`, *Retention in two phases*.

use super::BackupPhase;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// Backups that are condemned, or asked about, in one go, at the most.
pub const MOST_EXPIRING: usize = 128;

/// The first phase: backups are condemned. From then on nobody begins to read them; nothing is deleted.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ExpireWork {
    /// The backups, by their names in the repository. One that is condemned already, or that the repository does not have, is reported as such.
    #[schemars(length(min = 1, max = MOST_EXPIRING), inner(length(min = 1, max = 63)))]
    pub backups: Vec<String>,
    /// So many complete backups must stay whose manifests can all be read; with fewer, none is condemned.
    #[schemars(range(min = 1, max = 10_000))]
    pub keep: u32,
}

/// The second phase, 24 hours or more after the first: what is condemned is deleted, unless a backup needs it or somebody reads it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SweepWork {
    /// The condemned backups that are asked about, by their names in the repository. All that may be deleted is deleted, whether it is asked about or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING), inner(length(min = 1, max = 63)))]
    pub backups: Vec<String>,
}

/// What became of backups that were to be condemned.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Expired {
    /// Those that are condemned now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub condemned: Vec<String>,
    /// Those that the repository does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub absent: Vec<String>,
    /// Those that stay, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub stay: Vec<StayingBackup>,
    /// Objects that were condemned with them: no other backup names them.
    pub objects: u64,
    /// Their length in the store, in bytes.
    pub bytes: u64,
}

/// What became of what was condemned.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// Backups that were asked about and are deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub backups: Vec<String>,
    /// Backups that were asked about and are condemned, but not deleted yet, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub stay: Vec<StayingBackup>,
    /// Backups that were asked about and are not condemned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub unknown: Vec<String>,
    /// Why something that could be deleted by its age is not: who reads it, or which backup needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub vetoed: Option<String>,
    /// How the store has refused to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub refused: Option<String>,
    /// Objects that were deleted.
    pub objects: u64,
    /// Their length in the store, in bytes.
    pub bytes: u64,
    /// In how many hours to sweep again, where something is left that can be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_in_hours: Option<u32>,
}

/// A backup that stays for now.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct StayingBackup {
    /// Its name in the repository.
    #[schemars(length(max = 63))]
    pub backup: String,
    /// Why.
    #[schemars(length(max = 512))]
    pub why: String,
}

/// How a backup expires.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupExpiry {
    /// How it had ended before: `Complete`, `Failed` or `Aborted`.
    pub after: BackupPhase,
    /// Who lets it expire.
    pub by: ExpiredBy,
    /// Since when it expires. Nothing is restored from it any more.
    pub since: Time,
    /// Since when it is condemned in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condemned_at: Option<Time>,
    /// When the repository, which keeps it for now, is asked again to condemn it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Time>,
}

/// Who lets a backup expire.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiredBy {
    /// A user, by `spec.expire`.
    User,
    /// `spec.retention` of its CassandraBackupSchedule.
    Schedule,
}
