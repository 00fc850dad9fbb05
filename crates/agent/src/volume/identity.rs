//! Where a server keeps who it is: its host ID, its tokens, that it has joined.

use super::{any_file, names};
use anyhow::Result;
use palladion_api::cluster::Mode;
use std::path::Path;

/// Directory of the keyspace that only this server has.
const SYSTEM: &str = "data/system";
/// The table with host ID and tokens; the directory's name goes on with the table's ID.
const LOCAL: &str = "local-";
/// Directory of the commit logs, as both servers are told.
const COMMIT_LOG: &str = "commitlog";
/// How the file with the rows of an SSTable ends, in all formats.
const ROWS: &str = "-Data.db";

/// Is there a file in which a server keeps who it is?
///
/// Cassandra flushes `system.local` before it joins and at each start
/// (`SystemKeyspace.updateTokens`, `incrementAndGetGeneration`), so that a member
/// has an SSTable of it. Scylla writes them without a flush (`update_tokens`,
/// `set_bootstrap_state`): they may be in a commit log alone, but the directory of the
/// table is there since the first start (`system_keyspace::make`).
pub fn is_kept(root: &Path, mode: Mode) -> Result<bool> {
    match (mode, local_table(&root.join(SYSTEM))?) {
        (Mode::Cassandra | Mode::Scylla, Local::Rows) => Ok(true),
        (Mode::Scylla, Local::Directory) => {
            let log = root.join(COMMIT_LOG);
            Ok(log.is_dir() && any_file(&log, &[])?)
        }
        (Mode::Cassandra, Local::Directory | Local::Absent) | (Mode::Scylla, Local::Absent) => {
            Ok(false)
        }
    }
}

/// What is there of the table.
enum Local {
    /// Not even its directory.
    Absent,
    /// Its directory, without an SSTable.
    Directory,
    /// An SSTable.
    Rows,
}

fn local_table(keyspace: &Path) -> Result<Local> {
    let mut found = Local::Absent;
    for table in names(keyspace)?.iter().filter(|table| table.starts_with(LOCAL)) {
        if names(&keyspace.join(table))?.iter().any(|file| file.ends_with(ROWS)) {
            return Ok(Local::Rows);
        }
        found = Local::Directory;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, name: &str) {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "x").unwrap();
    }

    /// The directories are those of a data directory of Scylla 6.2.
    #[test]
    fn a_server_of_scylla_needs_its_local_table_or_a_commit_log_beside_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let is_kept = || is_kept(root, Mode::Scylla).unwrap();
        let local = "data/system/local-7ad54392bcdd35a684174e047860b377";
        put(root, "data/shop/orders-1/me-3gnn_1v2d-big-Data.db");
        put(root, "hints/0/1/HintsLog-1.log");
        assert!(!is_kept(), "somebody has emptied the system tables and the commit log");
        put(root, "commitlog/CommitLog-4-1.log");
        assert!(!is_kept(), "the directory of the table was there from the first start on");
        fs::create_dir_all(root.join(local).join("upload")).unwrap();
        assert!(is_kept(), "it may be in the commit log");
        fs::remove_dir_all(root.join("commitlog")).unwrap();
        assert!(!is_kept(), "nor there");
        put(root, "commitlog/schema/SchemaLog-4-1.log");
        assert!(is_kept());
        fs::remove_dir_all(root.join("commitlog")).unwrap();
        put(root, &format!("{local}/me-3gnn_1v2d-big-Data.db"));
        assert!(is_kept(), "a commit log is empty after a drain");
    }

    #[test]
    fn a_server_of_cassandra_needs_its_local_table() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let put = |name: &str| put(root, name);
        let is_kept = |mode| is_kept(root, mode).unwrap();
        assert!(!is_kept(Mode::Cassandra));
        put("commitlog/CommitLog-7-1.log");
        put("data/shop/orders-1/nb-1-big-Data.db");
        put("data/system/peers_v2-9/nb-1-big-Data.db");
        put("data/system/local-7ad5/nb-1-big-Index.db");
        assert!(!is_kept(Mode::Cassandra));
        put("data/system/local-7ad5/da-3gnn_1v2d-bti-Data.db");
        assert!(is_kept(Mode::Cassandra));
    }
}
