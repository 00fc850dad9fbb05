//! The part of a restore that one member does. The rules are in
//! `docs/concepts/restores.md`.

use super::replay::JournalFound;
use crate::ids::HostId;
use crate::restore::{RestoreAuth, RestoreTable};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A backup, read and compared with the ring. Nothing is changed.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct CatalogWork {
    /// SHA-256 that its manifest must have, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub manifest_hash: Option<String>,
    /// What is restored: `spec.tables` of the restore. Empty: all keyspaces but those of the system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tables: Vec<RestoreTable>,
    /// A ring that does not exist yet is to become the one of the backup: the backup is read, and no server is asked. Agents of protocol 11 know it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_ring: bool,
    /// Of a whole ring: the point in time that the archived commit logs have to reach. Agents of protocol 12 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
    /// Of a whole ring: `Restore` if the backup has to have roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<RestoreAuth>,
}

/// A member that has never started notes the tokens that one member of the backup had: its first start is with these.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TokensWork {
    /// SHA-256 that the manifest of the backup must have.
    #[schemars(length(max = 64))]
    pub manifest_hash: String,
    /// Host ID of the member of the backup.
    pub source: HostId,
}

/// The member lets clients in: its server, which took its own agent alone, is started again. There is nothing to set.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWork {}

/// Keyspaces, types and tables are created where they are missing, without indexes and views.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SchemaWork {
    /// SHA-256 that the manifest of the backup must have.
    #[schemars(length(max = 64))]
    pub manifest_hash: String,
    /// What is restored: `spec.tables` of the restore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tables: Vec<RestoreTable>,
    /// Names of datacenters in the backup, and in the ring.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub datacenters: BTreeMap<String, String>,
    /// What `gc_grace_seconds` of all these tables is set to; unset: it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_grace_seconds: Option<u64>,
    /// Tables get the IDs that they had in the backup: commit logs name them by these. Agents of protocol 12 know it.
    #[serde(default, rename = "keepIDs", skip_serializing_if = "std::ops::Not::not")]
    pub keep_ids: bool,
    /// Tables of the ring that lose their rows, as `keyspace.table`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub truncate: Vec<String>,
}

/// The SSTables that one member of the backup had are fetched and loaded, a batch at a time.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LoadWork {
    /// SHA-256 that the manifest of the backup must have.
    #[schemars(length(max = 64))]
    pub manifest_hash: String,
    /// Host ID of the member of the backup.
    pub source: HostId,
    /// What is restored: `spec.tables` of the restore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tables: Vec<RestoreTable>,
    /// How. Agents of protocol 11 know others than `Stream`.
    #[serde(default, skip_serializing_if = "LoadWay::is_default")]
    pub way: LoadWay,
}

/// How SSTables of a backup are loaded.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum LoadWay {
    /// The server streams the rows to the members that own them now.
    #[default]
    Stream,
    /// The member has the tokens of the source: the files become its own.
    Place,
    /// Roles and permissions are streamed, and no other table.
    Roles,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

impl LoadWay {
    /// Is it what it is when nothing is said?
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The tables get their own `gc_grace_seconds` back and, once all is loaded, their indexes and views.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SettleWork {
    /// What it was set to meanwhile. A table that has another value now keeps it: somebody has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_grace_seconds: Option<u64>,
    /// The tables with their own values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub own: Vec<OwnGrace>,
    /// What is created when all is loaded; unset for a restore that is abandoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexes: Option<IndexesWork>,
}

/// Indexes and views of the tables that the restore has created, and of keyspaces that are restored as a whole also their functions.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct IndexesWork {
    /// SHA-256 that the manifest of the backup must have.
    #[schemars(length(max = 64))]
    pub manifest_hash: String,
    /// What is restored: `spec.tables` of the restore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tables: Vec<RestoreTable>,
    /// The tables of the ring that the restore has created, as `keyspace.table`: those that were there before keep the indexes that they have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub created: Vec<String>,
}

/// A table and its own `gc_grace_seconds`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OwnGrace {
    /// `keyspace.table`, in the ring.
    #[schemars(length(max = 97))]
    pub table: String,
    /// In seconds.
    pub gc_grace_seconds: u64,
}

/// What a backup has of the tables, and what the ring has.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Cataloged {
    /// The time of the backup, by the clock of the operator that took it: before the first snapshot.
    pub from: Time,
    /// After the last snapshot.
    pub to: Time,
    /// The members of the backup that have anything of the tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub sources: Vec<LoadSource>,
    /// The tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub tables: Vec<TableFound>,
    /// Of a whole ring: all members of the backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub members: Vec<BackedUpMember>,
    /// Of a point in time: the journals of all members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub journals: Vec<JournalFound>,
}

/// A member of a backup, as its manifest says.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackedUpMember {
    /// Its host ID.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its datacenter.
    #[schemars(length(max = 63))]
    pub datacenter: String,
    /// Its rack.
    #[schemars(length(max = 63))]
    pub rack: String,
    /// The version of its server.
    #[schemars(length(max = 63))]
    pub version: String,
    /// How many tokens it had.
    pub tokens: u32,
    /// Hash of its tokens, as `status.server.tokensHash` of a member has it.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
    /// Whether it was left out of the backup: whoever takes its place has its tokens and none of its data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// The tokens that a member has noted for its first start.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NotedTokens {
    /// The member of the backup that had them.
    pub source: HostId,
    /// Their hash, as `status.server.tokensHash` of a member has it.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
}

/// What one member of a backup had of the tables.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LoadSource {
    /// Its host ID.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// SSTables.
    pub sstables: u64,
    /// Their length, in bytes.
    pub bytes: u64,
}

/// A table of the backup, and what the ring has under the name that it gets.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TableFound {
    /// `keyspace.table`, in the backup.
    #[schemars(length(max = 97))]
    pub from: String,
    /// `keyspace.table`, in the ring.
    #[schemars(length(max = 97))]
    pub to: String,
    /// What the ring has there.
    pub state: TableState,
    /// Its `gc_grace_seconds` in the ring, or else in the backup.
    pub gc_grace_seconds: u64,
    /// Why files of the backup cannot be loaded into the table that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub differs: Option<String>,
    /// The storage-attached index of the table that is there: rows cannot be loaded beside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub index: Option<String>,
}

/// What a ring has under the name of a table.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableState {
    /// Nothing.
    Absent,
    /// A table without rows.
    Empty,
    /// A table with rows, or one of which it cannot be known.
    HasRows,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What was loaded.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Loaded {
    /// SSTables.
    pub sstables: u64,
    /// Their length, in bytes.
    pub bytes: u64,
}
