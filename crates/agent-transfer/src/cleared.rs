//! Snapshots of ours as folders: which there are, and their end. The server clears its
//! snapshots as well; this needs no server, and reaches what one has left.

use crate::settings::Tag;
use crate::snapshot::{entries, shown};
use crate::words::stopped::Stopped;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What somebody else removes as well is gone after so many tries.
const TRIES: u32 = 5;

/// The tags of all snapshots of ours that are on the disk, also of tables that were dropped.
///
/// # Errors
/// A data directory cannot be read.
pub fn tags(data: &[PathBuf]) -> Result<BTreeSet<Tag>, Stopped> {
    let mut found = BTreeSet::new();
    for folder in taken(data)? {
        let names = entries(&folder)?.into_iter().map(|(name, _)| name);
        found.extend(names.filter_map(|name| Tag::try_from(name).ok()));
    }
    Ok(found)
}

/// Remove a snapshot from the disk, with all that is in it; how many files that were.
/// Nothing is left of a snapshot that is not there: that is a success.
///
/// # Errors
/// Something cannot be removed.
pub fn clear(data: &[PathBuf], tag: &Tag) -> Result<u64, Stopped> {
    let mut files = 0;
    for snapshots in taken(data)? {
        let folder = snapshots.join(tag.as_str());
        if !folder.is_dir() {
            continue;
        }
        let listed = entries(&folder).unwrap_or_default();
        files += listed.iter().filter(|(_, path)| !path.is_dir()).count() as u64;
        remove(&folder)?;
    }
    Ok(files)
}

/// A server that clears it at the same time takes files away under our hands.
fn remove(folder: &Path) -> Result<(), Stopped> {
    let mut tries = 0;
    loop {
        tries += 1;
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(_) if !folder.exists() => return Ok(()),
            Err(_) if tries < TRIES => {}
            Err(error) => {
                return Err(Stopped::Listing { path: shown(folder), why: error.to_string() });
            }
        }
    }
}

/// The folders `snapshots` of all tables.
fn taken(data: &[PathBuf]) -> Result<Vec<PathBuf>, Stopped> {
    let mut all = Vec::new();
    for data in data.iter().filter(|data| data.is_dir()) {
        for (_, keyspace) in entries(data)?.into_iter().filter(|(_, path)| path.is_dir()) {
            let tables = entries(&keyspace)?.into_iter().map(|(_, table)| table.join("snapshots"));
            all.extend(tables.filter(|folder| folder.is_dir()));
        }
    }
    Ok(all)
}
