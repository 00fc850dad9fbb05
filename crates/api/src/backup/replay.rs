//! The part of a restore to a point in time that one member does. The rules are in
//! `docs/concepts/restores.md`.

use crate::ids::HostId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// The archived commit log of one member of the backup is fetched, and replayed by the server of the member that has its place, a few segments at a time. Its server is started once more for it, as one that leaves out what is later.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReplayWork {
    /// SHA-256 that the manifest of the backup must have.
    #[schemars(length(max = 64))]
    pub manifest_hash: String,
    /// Host ID of the member of the backup.
    pub source: HostId,
    /// Writes with a timestamp up to this time are replayed.
    pub to: Time,
    /// The tables that are replayed, as `keyspace.table`, and no other: a segment has writes of the system of its ring, too.
    #[schemars(length(min = 1, max = 512))]
    pub tables: Vec<String>,
}

/// What the journal of one member of a backup has of its commit log.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct JournalFound {
    /// Host ID of the member.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Segments to replay.
    pub segments: u64,
    /// Bytes to fetch for them.
    pub bytes: u64,
    /// Why it does not reach the point in time; unset where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub missing: Option<String>,
}

/// What was replayed.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Segments.
    pub segments: u64,
    /// Bytes that were fetched for them.
    pub bytes: u64,
}
