//! The kinds of work by which backups expire.

use palladion_backup::names::BackupId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// See [`crate::settings::Work::Expire`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expire {
    /// The backups.
    pub backups: BTreeSet<BackupId>,
    /// So many complete ones must stay.
    pub keep: u32,
}

/// See [`crate::settings::Work::Sweep`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sweep {
    /// The backups that are asked about.
    pub backups: BTreeSet<BackupId>,
}
