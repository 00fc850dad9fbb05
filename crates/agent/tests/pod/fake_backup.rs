//! What of the fake server backups need: snapshots of its files, and another member of its ring.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A file of this name has the host ID of a second member.
pub const OTHER: &str = "other-member";
/// A file of this name has one more token of its own.
pub const TOKEN: &str = "another-token";
/// Keyspaces that are not local.
pub fn keyspaces(data: &Path) -> Vec<&'static str> {
    let shop = data.join("shop").is_dir().then_some("shop");
    ["system_auth"].into_iter().chain(shop).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// As `takeSnapshot`: links to the files of each table, and what it says of them.
pub fn take(data: &Path, arguments: &Value) -> Result<(), String> {
    let tag = arguments[0].as_str().unwrap();
    for of in arguments[2].as_array().unwrap() {
        // A keyspace, or one table of it.
        let (keyspace, table) =
            of.as_str().unwrap().split_once('.').unwrap_or((of.as_str().unwrap(), ""));
        let begins = if table.is_empty() { String::new() } else { format!("{table}-") };
        let is_named =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&begins);
        for table in below(&data.join(keyspace)).into_iter().filter(is_named) {
            let folder = table.join("snapshots").join(tag);
            if folder.exists() {
                return Err(format!("Snapshot {tag} already exists."));
            }
            fs::create_dir_all(&folder).unwrap();
            let mut named = Vec::new();
            for file in below(&table).iter().filter(|path| path.is_file()) {
                let name = file.file_name().unwrap().to_str().unwrap();
                fs::hard_link(file, folder.join(name)).unwrap();
                named.extend(name.ends_with("-Data.db").then(|| name.to_string()));
            }
            fs::write(folder.join("manifest.json"), json!({ "files": named }).to_string()).unwrap();
            fs::write(folder.join("schema.cql"), "CREATE TABLE").unwrap();
        }
    }
    Ok(())
}

/// As `clearSnapshot` of all keyspaces.
pub fn clear(data: &Path, arguments: &Value) {
    let tag = arguments[0].as_str().unwrap();
    assert!(!tag.is_empty(), "that clears all there are");
    for table in below(data).iter().flat_map(|keyspace| below(keyspace)) {
        let _ = fs::remove_dir_all(table.join("snapshots").join(tag));
    }
}
