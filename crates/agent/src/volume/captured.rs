//! Where a volume has what readers of changes have still to read, and whether it ever had any.

use super::{Volume, durable};
use anyhow::Result;
use palladion_api::server_config::CDC_DIRECTORY;
use std::path::PathBuf;

/// There once a server has kept changes for readers.
const NOTE: &str = "cdc-kept";

impl Volume {
    /// Where the server keeps what readers of changes have still to read.
    pub fn cdc(&self) -> PathBuf {
        self.root().join(CDC_DIRECTORY)
    }

    /// Where an index of a segment is written before it takes its place there.
    pub fn cdc_index(&self) -> PathBuf {
        self.own("cdc-index")
    }

    /// Note that a server on it was started to keep changes: what readers have not read of them stays
    /// to be read when it is started for that no more.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_changes(&self) -> Result<()> {
        match self.has_kept_changes() {
            true => Ok(()),
            false => durable::write_text(&self.own(NOTE), ""),
        }
    }

    /// Was that noted?
    pub fn has_kept_changes(&self) -> bool {
        self.own(NOTE).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::cluster::Mode;

    #[test]
    fn that_changes_were_kept_is_remembered_and_is_no_data() {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        volume.take(&"m-0".into(), None).unwrap();
        assert!(!volume.has_kept_changes());
        for _ in 0..2 {
            volume.note_changes().unwrap();
            assert!(volume.has_kept_changes());
        }
        assert_eq!(volume.inspect().unwrap().data, super::super::Data::Absent);
    }
}
