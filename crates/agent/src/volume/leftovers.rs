//! What servers leave behind on a volume that nobody needs. Before a leave is
//! tried again a table of the system keyspace is truncated, on all members, and
//! each of them takes a snapshot of it first (`auto_snapshot`).

use super::{Volume, below};
use crate::management::beans::STREAMED;
use crate::words::files::Doing;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

impl Volume {
    /// Remove the snapshots that truncating the streamed ranges has made. How many?
    pub fn remove_leftovers(&self) -> Result<usize> {
        let mut removed = 0;
        let tables = below(&self.root().join("data/system"))?;
        for table in tables.iter().filter(|path| is_named(path, &format!("{STREAMED}-"), "")) {
            let snapshots = below(&table.join("snapshots"))?;
            let ending = format!("-{STREAMED}");
            for snapshot in snapshots.iter().filter(|path| is_named(path, "truncated-", &ending)) {
                fs::remove_dir_all(snapshot)
                    .with_context(|| Doing::Remove { path: snapshot.display().to_string() })?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

fn is_named(path: &Path, beginning: &str, ending: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(beginning) && name.ends_with(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_of_streamed_ranges_go_and_nothing_else_does() {
        let directory = tempfile::tempdir().unwrap();
        let volume =
            Volume::new(directory.path().to_path_buf(), palladion_api::cluster::Mode::Cassandra);
        assert_eq!(volume.remove_leftovers().unwrap(), 0);
        let system = directory.path().join("data/system");
        let gone =
            "transferred_ranges_v2-6cad/snapshots/truncated-1700000000000-transferred_ranges_v2";
        let kept = [
            "transferred_ranges_v2-6cad/snapshots/before-the-upgrade",
            "transferred_ranges_v2-6cad/nb-1-big-Data.db",
            "local-7ad5/snapshots/truncated-1700000000000-local",
        ];
        for path in kept.iter().chain([&gone]) {
            fs::create_dir_all(system.join(path)).unwrap();
        }
        fs::write(system.join(gone).join("manifest.json"), "{}").unwrap();
        assert_eq!(volume.remove_leftovers().unwrap(), 1);
        assert!(!system.join(gone).exists());
        assert!(kept.iter().all(|path| system.join(path).exists()));
    }
}
