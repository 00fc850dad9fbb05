//! What the child is told of an archive.

use crate::archive::Places;
use crate::archive::note::Note;
use palladion_backup::archive::next::Step;
use palladion_backup::manifest::member::Schema;
use palladion_backup::names::HostId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// See [`crate::settings::Work::Archive`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Archive {
    /// The repository.
    pub repository: String,
    /// The member.
    pub host: HostId,
    /// Where its commit log is.
    pub places: Places,
    /// What was noted when it was looked; none where nothing was.
    pub note: Option<Note>,
    /// What is written.
    pub steps: Vec<Step>,
    /// Was all read that is there?
    pub is_all: bool,
    /// Of these segments all is sent then.
    pub sent: BTreeSet<i64>,
    /// Every write that was acknowledged before this is among it, in seconds since 1970.
    pub until: i64,
    /// When the last look of the window was begun that had found all; 0 where none had.
    pub since: i64,
    /// When this look had ended.
    pub found: i64,
    /// So much may be lost, in seconds.
    pub loss: i64,
    /// The schema of the server after the look.
    pub schema: SchemaSaid,
    /// Its version, as the server says it.
    pub schema_version: String,
    /// Hash of the member's tokens.
    pub tokens_hash: String,
    /// Hash of all tokens of the ring with their owners, after the look.
    pub ring: String,
    /// The version of the server.
    pub version: String,
    /// Which tables were truncated, and when.
    pub truncated: BTreeMap<String, String>,
    /// Why the window ended in any case, as the look found it noted.
    pub broken: Option<String>,
    /// The number of the ring's window.
    pub window: u64,
}

/// A schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SchemaSaid {
    /// It is in the repository.
    Known(Schema),
    /// It is in this file.
    File(PathBuf),
}
