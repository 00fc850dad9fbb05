//! What is noted of backups. Files of their own, as with jobs: an older agent refuses
//! a ledger with fields that it does not know.

use super::{Volume, below, durable};
use crate::transfer::leftovers;
use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_agent_core::volume::OWN;
use palladion_agent_transfer::archive::Places;
use palladion_agent_transfer::decide::Record;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

const RECORD: &str = "transfer.json";
const RESTORE: &str = "restore.json";
const PLACED: &str = "placed.json";
const REPOSITORY: &str = "repository.json";
/// The journals of uploads, and what is noted of restores.
const JOURNALS: &str = "transfers";
/// What a restore fetches for its server: beside its data directories, so that it is none of them.
const RESTORES: &str = "restore";

/// Whose backups are taken of the ring that this volume is of: written once.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Repository {
    #[serde(rename = "repositoryID")]
    id: String,
}

/// What a transfer is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A backup.
    Backup,
    /// A restore.
    Restore,
}

impl Volume {
    /// The record of the last transfer; none on a volume that has had no order.
    pub fn transfer(&self) -> Result<Option<Record>> {
        match durable::read_json(&self.own(RESTORE))? {
            Some(record) => Ok(Some(record)),
            None => durable::read_json(&self.own(RECORD)),
        }
    }

    /// Write it; on return it survives a power cut. That of a restore has a file of its own: an
    /// older agent does not know its words, and would take no backup beside what it cannot read.
    pub fn save_transfer(&self, record: &Record, of: Of) -> Result<()> {
        match of {
            Of::Restore => durable::write_json(&self.own(RESTORE), record),
            Of::Backup => {
                // First: a record of a restore would count before this one.
                let old = self.own(RESTORE);
                if old.exists() {
                    let doing = || Doing::Remove { path: old.display().to_string() };
                    fs::remove_file(&old).with_context(doing)?;
                }
                durable::write_json(&self.own(RECORD), record)
            }
        }
    }

    /// The ID of the ring's repository; none before the first backup was prepared.
    pub fn repository(&self) -> Result<Option<String>> {
        Ok(durable::read_json::<Repository>(&self.own(REPOSITORY))?.map(|noted| noted.id))
    }

    /// Note it; on return it survives a power cut.
    pub fn save_repository(&self, id: &str) -> Result<()> {
        durable::write_json(&self.own(REPOSITORY), &Repository { id: id.to_string() })
    }

    /// Where journals are kept.
    pub fn journals(&self) -> PathBuf {
        self.own(JOURNALS)
    }

    /// Where the commit log is, and what its archive keeps.
    pub fn archive(&self) -> Places {
        Places::of(self.root(), &self.root().join(OWN))
    }

    /// Where a restore fetches to.
    pub fn restores(&self) -> PathBuf {
        self.own(RESTORES)
    }

    /// Where it is noted which files are in data directories that the server has not taken yet.
    pub fn placed(&self) -> PathBuf {
        self.own(PLACED)
    }

    /// Remove the journals of a backup that is over. Without its journal an upload of a
    /// snapshot that has shrunk fails: nothing is taken for whole.
    pub fn remove_journals(&self) -> Result<()> {
        for path in below(&self.journals())? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Of a restore, which may be the next one: it has its own end.
            if leftovers::is_note(&name) {
                continue;
            }
            let doing = || Doing::Remove { path: path.display().to_string() };
            fs::remove_file(&path).with_context(doing)?;
        }
        Ok(())
    }

    /// Where the server has its data.
    pub fn data_directories(&self) -> Vec<PathBuf> {
        vec![self.root().join("data")]
    }
}
