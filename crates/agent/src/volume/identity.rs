//! Where a server keeps who it is: its host ID, its tokens, that it has joined.

use super::any_file;
use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_api::cluster::Mode;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Directory of the keyspace that only this server has.
const SYSTEM: &str = "data/system";
/// The table with host ID and tokens; the directory's name goes on with the table's ID.
const LOCAL: &str = "local-";
/// How the file with the rows of an SSTable ends, in all formats.
const ROWS: &str = "-Data.db";

/// Is there a file in which a server keeps who it is?
///
/// Cassandra flushes `system.local` before it joins and at each start
/// (`SystemKeyspace.updateTokens`, `incrementAndGetGeneration`), so that a member
/// has an SSTable of it. Scylla may have it in a commit log alone: of one any file
/// will do.
pub fn is_kept(root: &Path, mode: Mode) -> Result<bool> {
    match mode {
        Mode::Cassandra => has_local_table(&root.join(SYSTEM)),
        Mode::Scylla => any_file(root, &super::NOT_DATA),
    }
}

fn has_local_table(keyspace: &Path) -> Result<bool> {
    for table in names(keyspace)? {
        if !table.starts_with(LOCAL) {
            continue;
        }
        if names(&keyspace.join(table))?.iter().any(|file| file.ends_with(ROWS)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is in a directory; nothing where there is none. What cannot be read is an
/// error, never nothing.
fn names(directory: &Path) -> Result<Vec<String>> {
    let listing = || Doing::List { path: directory.display().to_string() };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error).with_context(listing),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.map(|e| e.file_name().to_string_lossy().into_owned()).with_context(listing)
    };
    entries.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_cassandra_needs_its_local_table() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let put = |name: &str| {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        };
        let is_kept = |mode| is_kept(root, mode).unwrap();
        assert!(!is_kept(Mode::Cassandra) && !is_kept(Mode::Scylla));
        put("commitlog/CommitLog-7-1.log");
        put("data/shop/orders-1/nb-1-big-Data.db");
        put("data/system/peers_v2-9/nb-1-big-Data.db");
        put("data/system/local-7ad5/nb-1-big-Index.db");
        assert!(!is_kept(Mode::Cassandra));
        assert!(is_kept(Mode::Scylla), "it may be in a commit log");
        put("data/system/local-7ad5/da-3gnn_1v2d-bti-Data.db");
        assert!(is_kept(Mode::Cassandra));
    }
}
