//! Snapshots on the disk.

use super::{Volume, below};
use anyhow::Result;
use std::collections::BTreeSet;

impl Volume {
    /// Keyspace and name of each table of which a snapshot of this name is complete:
    /// the server writes the manifest last.
    pub fn snapshot_tables(&self, name: &str) -> Result<BTreeSet<(String, String)>> {
        let mut found = BTreeSet::new();
        for keyspace in below(&self.root().join("data"))?.iter().filter(|path| path.is_dir()) {
            for table in below(keyspace)?.iter().filter(|path| path.is_dir()) {
                let file = |path: &std::path::Path| {
                    path.file_name().and_then(|name| name.to_str()).map(str::to_string)
                };
                let (Some(keyspace), Some(folder)) = (file(keyspace), file(table)) else {
                    continue;
                };
                // `orders-1b255f4def2540a60000000000000005`
                let Some((table_name, _)) = folder.rsplit_once('-') else {
                    continue;
                };
                if table.join("snapshots").join(name).join("manifest.json").is_file() {
                    found.insert((keyspace, table_name.to_string()));
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_table_counts_with_its_manifest_alone() {
        let directory = tempfile::tempdir().unwrap();
        let volume =
            Volume::new(directory.path().to_path_buf(), palladion_api::cluster::Mode::Cassandra);
        assert!(volume.snapshot_tables("s").unwrap().is_empty());
        let folder = |table: &str, name: &str| {
            let path = directory.path().join(format!("data/shop/{table}/snapshots/{name}"));
            fs::create_dir_all(&path).unwrap();
            path
        };
        fs::write(folder("orders-1a", "s").join("manifest.json"), "{}").unwrap();
        fs::write(folder("items-2b", "other").join("manifest.json"), "{}").unwrap();
        folder("users-3c", "s");
        let found = volume.snapshot_tables("s").unwrap();
        assert_eq!(found, [("shop".to_string(), "orders".to_string())].into());
    }
}
