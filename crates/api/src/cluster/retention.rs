//! How backups of a ring expire, in the status of its `CassandraCluster`.

use crate::backup::{ExpiredBy, MOST_EXPIRING};
use crate::ids::Uid;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// How backups of a ring expire. Nothing is ordered that is not on record here.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRetention {
    /// The name of the work that is under way, of which the names of its orders are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub id: Option<String>,
    /// What is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<RetentionWork>,
    /// The backups that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXPIRING))]
    pub backups: Vec<ExpiringBackup>,
    /// So many complete backups must stay in the repository, or none is condemned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
    /// Since when it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Nothing is begun before this time: the last try could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Time>,
    /// When backups were condemned last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condemned_at: Option<Time>,
    /// When what is condemned is deleted, at the earliest. Absent where nothing is known to be condemned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep_at: Option<Time>,
    /// When what was condemned was deleted last, as far as the repository let it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept_at: Option<Time>,
    /// Bytes that were deleted then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept_bytes: Option<u64>,
    /// What keeps backups from being condemned or deleted, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub reason: Option<String>,
    /// The same in words, with the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub message: Option<String>,
}

/// What is done about backups that expire.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionWork {
    /// They are condemned.
    Expire,
    /// What was condemned is deleted.
    Sweep,
    /// What a newer operator does and this one does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A backup that expires.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ExpiringBackup {
    /// Name of the `CassandraBackup`.
    #[schemars(length(max = 253))]
    pub backup: String,
    /// Uid of that `CassandraBackup`.
    #[serde(rename = "backupUID")]
    pub backup_uid: Uid,
    /// Its name in the repository.
    #[schemars(length(max = 63))]
    pub id: String,
    /// Who lets it expire.
    pub by: ExpiredBy,
}
