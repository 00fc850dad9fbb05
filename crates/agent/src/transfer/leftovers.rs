//! What restores have left on the volume that nobody needs: folders of batches, notes, and what
//! there is of a snapshot that was interrupted. What is of the order that is given stays until that
//! has ended. A snapshot that was taken whole before a truncation is a person's to clear.

use super::create::{self, NOTE};
use super::loaded::{self, LOAD};
use crate::volume::Volume;
use palladion_agent_transfer::replay::plan;
use std::path::{Path, PathBuf};

/// Remove it, but for what the transfer with this ID needs; and for the note of the tables of the
/// restore whose order is given, whether that has ended or not.
pub fn remove(volume: &Volume, id: Option<&str>, order: Option<&str>) {
    let state = volume.journals();
    let folder = id.map(|id| loaded::folder(&volume.restores(), id));
    for path in below(&volume.restores()) {
        if Some(&path) != folder.as_ref() {
            went(&path, std::fs::remove_dir_all(&path));
        }
    }
    // Not empty where something is needed, or could not be removed.
    let _ = std::fs::remove_dir(volume.restores());
    // What was truncated is known until the restore is over, whoever orders it once more.
    let schema = order.map(|id| create::path(&state, &create::of_same_restore(id)));
    let kept = id.map(|id| {
        let load = loaded::path(&state, id);
        // What is done of a replay counts in its plan.
        [plan(&load), load, create::path(&state, id)]
    });
    for path in below(&state) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_kept = kept.as_ref().is_some_and(|kept| kept.contains(&path))
            || schema.as_ref() == Some(&path);
        if is_note(&name) && !is_kept {
            if let Some(tag) = create::unfinished(&path) {
                remove_snapshot(volume, &tag);
            }
            went(&path, std::fs::remove_file(&path));
        }
    }
}

/// Is it a note of a restore, by its name?
pub fn is_note(name: &str) -> bool {
    name.ends_with(".json") && (name.starts_with(LOAD) || name.starts_with(NOTE))
}

/// Without the server, which may not be there; it has no other trace of it.
fn remove_snapshot(volume: &Volume, tag: &str) {
    let keyspaces = volume.data_directories().into_iter().flat_map(|data| below(&data));
    let tables = keyspaces.flat_map(|keyspace| below(&keyspace));
    let folders = tables.map(|table| table.join("snapshots").join(tag));
    for folder in folders.filter(|folder| folder.is_dir()) {
        went(&folder, std::fs::remove_dir_all(&folder));
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

fn went(path: &Path, removed: std::io::Result<()>) {
    let path = path.display().to_string();
    match removed {
        Ok(()) => tracing::info!(path, "removed what a restore has left"),
        Err(error) => {
            let error = error.to_string();
            tracing::warn!(path, error, "what a restore has left cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::cluster::Mode;
    use std::fs;

    #[test]
    fn what_no_order_needs_goes_and_journals_of_uploads_stay() {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        let (state, restores) = (volume.journals(), volume.restores());
        fs::create_dir_all(&state).unwrap();
        let notes = ["r1-load-1", "r1-load-2"].map(|id| loaded::path(&state, id));
        let schema = create::path(&state, "r1-schema-1");
        let upload = state.join("load-1.journal");
        for file in notes.iter().chain([&schema, &upload]) {
            fs::write(file, "{}").unwrap();
        }
        let plans = notes.clone().map(|note| plan(&note));
        for file in &plans {
            fs::write(file, "{}").unwrap();
        }
        let folders = ["r1-load-1", "r1-load-2"].map(|id| loaded::folder(&restores, id));
        for folder in &folders {
            fs::create_dir_all(folder.join("shop/users")).unwrap();
        }
        remove(&volume, Some("r1-load-2"), None);
        let there = |paths: &[PathBuf; 2]| paths.iter().map(|p| p.exists()).collect::<Vec<_>>();
        assert_eq!(there(&notes), [false, true]);
        assert_eq!(there(&plans), [false, true]);
        assert_eq!(there(&folders), [false, true]);
        assert!(!schema.exists() && upload.exists());
        let of_this = create::path(&state, "r1-schema");
        fs::write(&of_this, "{}").unwrap();
        remove(&volume, Some("r1-load-2"), Some("r1-load-2"));
        assert!(of_this.exists(), "what was truncated is known until the restore is over");
        // The end of a backup takes its own journals alone.
        fs::write(&upload, "{}").unwrap();
        volume.remove_journals().unwrap();
        assert!(notes[1].exists() && !upload.exists());
        remove(&volume, None, Some("r1-load-2"));
        assert!(!notes[1].exists() && !restores.exists());
        remove(&volume, None, None);
        assert!(!notes[1].exists() && !restores.exists());
    }
}
