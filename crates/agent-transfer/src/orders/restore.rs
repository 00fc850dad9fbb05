//! What the child is told for a restore: to read what a backup is, and to bring a batch of
//! SSTables.

use palladion_api::restore::RestoreTable;
use palladion_backup::hash::Hash;
use palladion_backup::names::{BackupId, HostId};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// See [`crate::settings::Work::Read`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Read {
    /// The backup.
    pub backup: BackupId,
    /// Of its manifest, if that is known.
    #[serde(default)]
    pub manifest: Option<Hash>,
    /// The version of the server that is to take what is restored.
    #[serde(default)]
    pub server: String,
    /// What is restored.
    pub tables: Vec<RestoreTable>,
    /// The file that its schema is written to.
    pub schema: PathBuf,
    /// Whether it is added up what its members have of the tables.
    pub amounts: Amounts,
    /// Of a ring: the point in time that the journals of all members have to reach, in seconds
    /// since 1970.
    #[serde(default)]
    pub to: Option<i64>,
    /// Of a ring: whether the backup has to have roles.
    #[serde(default)]
    pub roles: Roles,
}

/// Are the roles of a backup loaded as well?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Roles {
    /// Nobody asks.
    #[default]
    Leave,
    /// It has to have them.
    Load,
}

/// Is it added up what members have of the tables?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Amounts {
    /// The manifests of all members are read.
    Sum,
    /// The same, and it is said of each member what it was: a ring is to become theirs.
    Ring,
    /// Nobody asks.
    Leave,
}

/// See [`crate::settings::Work::Batch`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Batch {
    /// The backup.
    pub backup: BackupId,
    /// Of its manifest.
    pub manifest: Hash,
    /// Whose SSTables.
    #[serde(rename = "sourceHostID")]
    pub source: HostId,
    /// What is restored.
    pub tables: Vec<RestoreTable>,
    /// Or not those.
    #[serde(default)]
    pub which: Which,
    /// So many SSTables are loaded.
    pub skip: u64,
    /// Of so many; 0 before the first batch.
    pub of: u64,
    /// Bytes, at the most; one SSTable that is longer is brought by itself.
    pub limit: u64,
    /// And if it is longer than this, it is not.
    pub room: u64,
    /// The folder, which is emptied first: in it are one for each keyspace of the ring with one
    /// for each table.
    pub into: PathBuf,
}

/// Which tables a batch is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// Those that are restored.
    #[default]
    Restored,
    /// These of `system_auth`: a description of the schema need not have them.
    Auth(Vec<String>),
}

/// See [`crate::settings::Work::Tokens`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tokens {
    /// The backup.
    pub backup: BackupId,
    /// Of its manifest.
    pub manifest: Hash,
    /// Whose tokens.
    #[serde(rename = "sourceHostID")]
    pub source: HostId,
}

/// See [`crate::settings::Work::Segments`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Segments {
    /// The backup.
    pub backup: BackupId,
    /// Of its manifest.
    pub manifest: Hash,
    /// Whose commit log.
    #[serde(rename = "sourceHostID")]
    pub source: HostId,
    /// To which point in time, in seconds since 1970.
    pub to: i64,
    /// Where it is noted which segments there are: the journal is read once.
    pub plan: PathBuf,
    /// So many segments are replayed.
    pub skip: u64,
    /// Bytes, at the most; one segment that is longer is brought by itself.
    pub limit: u64,
    /// The folder, which is emptied first.
    pub into: PathBuf,
}
