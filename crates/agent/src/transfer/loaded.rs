//! What of a load is noted on the volume: how many SSTables are loaded, in the order of the
//! manifest. After a crash the load goes on behind them. Loaded twice is the same as once, so
//! what is not noted, or cannot be read, is loaded again.

use crate::volume::durable;
use palladion_agent_transfer::words::stopped::Stopped;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What begins the name of a journal, and of the folder of a batch.
pub const LOAD: &str = "load-";

/// The journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Journal {
    /// The transfer.
    pub id: String,
    /// Of the manifest of the backup.
    pub manifest_hash: String,
    /// So many SSTables are loaded.
    pub done: u64,
    /// Their length, in bytes.
    pub bytes: u64,
    /// Of so many; 0 before the first batch.
    #[serde(default)]
    pub of: u64,
    /// A replay: so often the next segment was given to a server.
    #[serde(default)]
    pub tries: u32,
    /// A replay: so often the server was stopped to be started for it, since it last replayed.
    #[serde(default)]
    pub starts: u32,
}

impl Journal {
    /// As it was noted, if it is of this load.
    pub fn open(path: &Path, id: &str, manifest_hash: &str) -> Self {
        let read = durable::read_json::<Self>(path).unwrap_or_else(|error| {
            let error = format!("{error:#}");
            tracing::warn!(
                error,
                "the journal of a load cannot be read; all of it is loaded again"
            );
            None
        });
        let (id, manifest_hash) = (id.to_string(), manifest_hash.to_string());
        let new = Self { id, manifest_hash, done: 0, bytes: 0, of: 0, tries: 0, starts: 0 };
        let is_this = |old: &Self| (&old.id, &old.manifest_hash) == (&new.id, &new.manifest_hash);
        read.filter(is_this).unwrap_or(new)
    }

    /// Note it; on return it survives a power cut.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Stopped> {
        let failed = |error: anyhow::Error| Stopped::LoadJournal {
            path: path.display().to_string(),
            why: format!("{error:#}"),
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.into()))?;
        }
        durable::write_json(path, self).map_err(failed)
    }
}

/// Part of the names of journal and folder, whatever a transfer's ID has in it: no part of the
/// path of a folder may look to the server like that of a table.
fn name(id: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let id: String = id.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    format!("{LOAD}{id}")
}

/// The journal of a load.
pub fn path(state: &Path, id: &str) -> PathBuf {
    state.join(format!("{}.json", name(id)))
}

/// Where its batches are fetched to.
pub fn folder(restores: &Path, id: &str) -> PathBuf {
    restores.join(name(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_of_another_load_or_one_that_is_torn_counts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r1/load-1");
        assert!(path.ends_with("load-r1_load_1.json"), "{path:?}");
        let new = Journal::open(&path, "r1/load-1", "ab");
        assert_eq!((new.done, new.of), (0, 0));
        let noted = Journal { done: 3, bytes: 9, of: 5, ..new };
        noted.save(&path).unwrap();
        assert_eq!(Journal::open(&path, "r1/load-1", "ab"), noted);
        assert_eq!(Journal::open(&path, "r1/load-1", "cd").done, 0);
        assert_eq!(Journal::open(&path, "r1/load-2", "ab").done, 0);
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Journal::open(&path, "r1/load-1", "ab").done, 0);
    }
}
