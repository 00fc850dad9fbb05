//! The volume of a server: its marker and its ledger, its data, its configuration,
//! and what they and the recorded facts together say.

pub mod changes;
mod configuration;
pub mod data;
pub mod judge;
pub mod ledger;
mod txn_log;

pub use configuration::{DYNAMIC, Files};
pub use data::{Data, Parts};

use crate::read::Config;
use crate::words::volume::Wrong;
use anyhow::{Result, bail};
use ledger::Ledger;
use palladion_agent_core::volume::{Root, filesystem};
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::service_member::ServiceMemberSpec;
use palladion_api::zookeeper::Zxid;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MEMBER: &str = "member.json";

/// What is on a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Identity of the file system.
    pub file_system: String,
    /// The volume's ID from the marker.
    pub marker: Option<VolumeId>,
    /// The member that used it last, from the marker.
    pub owner: Option<MemberName>,
    /// The ledger.
    pub ledger: Option<Ledger>,
    /// What is there of a server's files?
    pub data: Data,
    /// The newest configuration on it.
    pub config: Option<Config>,
    /// The epoch that the server on it accepted last.
    pub epoch: Option<i64>,
    /// The last transaction on it, where it can be read. Of a server that does not run.
    pub last_zxid: Option<Zxid>,
}

/// The last spec that was read, for starts without the API.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SavedMember {
    /// Its generation.
    pub generation: Option<i64>,
    /// The spec.
    pub spec: ServiceMemberSpec,
}

/// The volume of a server, and where its directories are in the container.
#[derive(Clone, Debug)]
pub struct Volume {
    root: Root,
    data: PathBuf,
    logs: PathBuf,
    files: Files,
}

impl Volume {
    /// The volume mounted at `root`, with directories for snapshots and transaction
    /// logs, which may be mounted elsewhere.
    pub fn new(root: PathBuf, data: PathBuf, logs: PathBuf) -> Self {
        let files = Files::new(root.join("conf"));
        Self { root: Root::new(root), data, logs, files }
    }

    /// Directory of the snapshots (`dataDir`).
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Directory of the transaction logs (`dataLogDir`).
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// The files of the configuration.
    pub fn files(&self) -> &Files {
        &self.files
    }

    fn path(&self) -> String {
        self.root.path().display().to_string()
    }

    /// Look at it while no server runs; changes nothing.
    ///
    /// # Errors
    /// What is there cannot be read, which is never the same as nothing.
    pub fn inspect(&self) -> Result<Found> {
        let file_system = filesystem::identity(self.root.path())?;
        let marker = self.root.marker()?;
        let ledger: Option<Ledger> = self.root.ledger()?;
        if let Some(ledger) = &ledger {
            if !ledger.is_readable() {
                bail!(Wrong::NewerLedger { path: self.path(), format: ledger.format });
            }
            if marker.as_ref().is_some_and(|m| m.volume_id != ledger.volume_id) {
                bail!(Wrong::TwoIds { path: self.path() });
            }
        }
        let config = self.files.newest()?;
        let parts = Parts::find(&self.data, &self.logs)?;
        let (marker, owner) = marker.map(|m| (m.volume_id, m.member)).unzip();
        Ok(Found {
            file_system,
            marker,
            owner: owner.flatten(),
            ledger,
            data: parts.judge(config.is_some()),
            epoch: parts.current_epoch,
            last_zxid: self.last_zxid(&parts),
            config,
        })
    }

    /// A hint for people and for a rescue: that it cannot be read says nothing of the data.
    fn last_zxid(&self, parts: &Parts) -> Option<Zxid> {
        let of_logs = txn_log::last_zxid(&self.logs).unwrap_or_else(|error| {
            let error = format!("{error:#}");
            tracing::warn!(error, "cannot read the last transaction on the volume");
            None
        });
        of_logs.max(parts.newest_snapshot)
    }

    /// Take it into use: a random ID, written to ledger and marker.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take(&self, member: &MemberName, successor_of: Option<VolumeId>) -> Result<Ledger> {
        let ledger = Ledger::new(VolumeId::new(uuid::Uuid::new_v4()), successor_of);
        self.root.take(ledger.volume_id.clone(), &ledger, member)?;
        Ok(ledger)
    }

    /// Note in the marker whose volume this is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_owner(&self, ledger: &Ledger, member: &MemberName) -> Result<()> {
        self.root.note_owner(ledger.volume_id.clone(), member)
    }

    /// Write the ledger; on return it survives a power cut.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, ledger: &Ledger) -> Result<()> {
        self.root.save_ledger(ledger)
    }

    /// Keep the last spec beside the ledger.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_member(&self, member: &SavedMember) -> Result<()> {
        palladion_agent_core::volume::durable::write_json(&self.root.own(MEMBER), member)
    }

    /// The last spec that was kept.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn saved_member(&self) -> Result<Option<SavedMember>> {
        palladion_agent_core::volume::durable::read_json(&self.root.own(MEMBER))
    }
}

#[cfg(test)]
mod tests;
