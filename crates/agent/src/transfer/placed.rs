//! What is noted of SSTables that are in the data directories of tables and that the server has
//! not taken yet: before they are put there, until it has. A server that is started opens what it
//! finds, also an SSTable of which it had renamed a part when it ended: one without the file that
//! says how it is compressed is read as if it were not. So whoever starts a server removes them
//! first ([`remove`]), and they are placed again when it runs. Like that a server has of them what
//! it has taken as a whole, and nothing else.

use crate::volume::{Volume, durable};
use crate::words::files::Doing;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Numbers of SSTables that are placed: far above those that a server gives, and below the end of
/// Java's `int`. Nothing below is ever removed.
pub const FIRST: u32 = 1_500_000_000;
/// The last one.
pub const LAST: u32 = i32::MAX as u32;

/// How the file with the rows ends.
pub const DATA: &str = "Data.db";

/// An SSTable that is placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Placed {
    /// The keyspace.
    pub keyspace: String,
    /// The table.
    pub table: String,
    /// The data directory of the table.
    pub folder: PathBuf,
    /// Its name without a component: `nb-1500000000-big`.
    pub sstable: String,
}

impl Placed {
    /// The path of a component.
    pub fn component(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}-{name}", self.sstable))
    }

    /// Are its rows there?
    pub fn has_data(&self) -> bool {
        self.component(DATA).exists()
    }

    /// Remove what is there of it: the rows first, without which a server takes the rest for
    /// nothing.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove(&self) -> Result<()> {
        // A note that was written by somebody else removes no file of the server.
        if number(&self.sstable).is_none_or(|number| number < FIRST) {
            return Ok(());
        }
        gone(&self.component(DATA))?;
        let begins = format!("{}-", self.sstable);
        for path in below(&self.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(&begins) {
                gone(&path)?;
            }
        }
        Ok(())
    }
}

/// The number of an SSTable; none where it has another kind of identifier.
pub fn number(sstable: &str) -> Option<u32> {
    sstable.split('-').nth(1)?.parse().ok()
}

/// The highest number that is there of SSTables of a table.
///
/// # Errors
/// The folder cannot be listed.
pub fn highest(folder: &Path) -> Result<u32> {
    let names = below(folder)?.into_iter();
    let numbers = names.filter_map(|path| number(path.file_name()?.to_str()?));
    Ok(numbers.max().unwrap_or(0))
}

/// What is noted.
///
/// # Errors
/// The note cannot be read.
pub fn read(note: &Path) -> Result<Vec<Placed>> {
    Ok(durable::read_json(note)?.unwrap_or_default())
}

/// Note it; on return that survives a power cut.
///
/// # Errors
/// It cannot be written.
pub fn save(note: &Path, all: &[Placed]) -> Result<()> {
    durable::write_json(note, &all)
}

/// Remove them, and then the note.
///
/// # Errors
/// Something cannot be removed, and the note is still there.
pub fn remove_all(note: &Path, all: &[Placed]) -> Result<()> {
    all.iter().try_for_each(Placed::remove)?;
    let folders: BTreeSet<&PathBuf> = all.iter().map(|placed| &placed.folder).collect();
    for folder in folders {
        if folder.is_dir() {
            durable::sync_directory(folder)?;
        }
    }
    forget(note)
}

/// The server has taken them.
///
/// # Errors
/// The note cannot be removed.
pub fn forget(note: &Path) -> Result<()> {
    gone(note)?;
    note.parent().map_or(Ok(()), durable::sync_directory)
}

/// Before a server is started: what it has not taken it does not find.
///
/// # Errors
/// Something cannot be removed.
pub fn remove(volume: &Volume) -> Result<()> {
    let note = volume.placed();
    match read(&note) {
        Ok(all) if all.is_empty() && !note.exists() => Ok(()),
        Ok(all) => {
            let sstables = all.len();
            tracing::info!(sstables, "removing SSTables that the server has not taken");
            remove_all(&note, &all)
        }
        // It was whole when it was written. What is there is what was fetched, if the server had not
        // begun to take it, and a member is not kept down for a file of ours.
        Err(error) => {
            let error = format!("{error:#}");
            tracing::warn!(error, "cannot read which SSTables the server has not taken");
            Ok(())
        }
    }
}

fn gone(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| Doing::Remove { path: path.display().to_string() })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || Doing::List { path: folder.display().to_string() };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.with_context(doing)?,
    };
    entries.map(|entry| Ok(entry.with_context(doing)?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::cluster::Mode;

    fn placed(folder: &Path, sstable: &str) -> Placed {
        let (keyspace, table) = ("shop".into(), "users".into());
        Placed { keyspace, table, folder: folder.into(), sstable: sstable.into() }
    }

    #[test]
    fn before_a_start_what_was_not_taken_goes_and_no_file_of_the_server_does() {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        volume.take(&"m-0".into(), None).unwrap();
        remove(&volume).unwrap();
        let folder = directory.path().join("data/shop/users-1");
        fs::create_dir_all(&folder).unwrap();
        let ours = ["nb-1500000000-big-Data.db", "nb-1500000000-big-Index.db"];
        let theirs = ["nb-1-big-Data.db", "nb-1500000001-big-Data.db", "nb-15-big-Data.db"];
        for name in ours.iter().chain(&theirs) {
            fs::write(folder.join(name), "x").unwrap();
        }
        assert_eq!(highest(&folder).unwrap(), 1_500_000_001);
        let all = [placed(&folder, "nb-1500000000-big"), placed(&folder, "nb-1-big")];
        save(&volume.placed(), &all).unwrap();
        remove(&volume).unwrap();
        assert!(ours.iter().all(|name| !folder.join(name).exists()));
        assert!(theirs.iter().all(|name| folder.join(name).exists()));
        assert!(!volume.placed().exists());
        // A start is kept up by nothing of it.
        fs::write(volume.placed(), "{").unwrap();
        remove(&volume).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        save(&volume.placed(), &all).unwrap();
        remove(&volume).unwrap();
        assert!(!volume.placed().exists(), "the table was dropped");
    }

    #[test]
    fn only_numbers_are_numbers() {
        assert_eq!(number("nb-17-big-Data.db"), Some(17));
        assert_eq!(number("da-3gnn_1v2d-bti"), None);
        assert_eq!(number("snapshots"), None);
    }
}
