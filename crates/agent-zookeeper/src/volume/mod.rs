//! The volume of a server: its marker and its ledger, its data, its configuration,
//! and what they and the recorded facts together say.

mod configuration;
pub mod data;
pub mod judge;
pub mod ledger;
mod txn_log;

pub use configuration::{DYNAMIC, Files};
pub use data::{Data, Parts};

use crate::read::Config;
use anyhow::Result;
use ledger::Ledger;
use palladion_agent_core::volume::{Identity, Root, filesystem};
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::service_member::ServiceMemberSpec;
use palladion_api::zookeeper::Zxid;
use std::path::{Path, PathBuf};

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

/// What a server that runs changes on its volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is there of its files?
    pub data: Data,
    /// The newest configuration.
    pub config: Option<Config>,
    /// The epoch that it accepted last.
    pub epoch: Option<i64>,
    /// The last transaction, if it was looked for and there is one.
    pub last_zxid: Option<Zxid>,
}

/// How closely the files of a server that runs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Which there are.
    Names,
    /// And up to which transaction they go, for which a whole log is read.
    Last,
}

/// The last spec that was read, for starts without the API.
pub type SavedMember = palladion_agent_core::volume::SavedMember<ServiceMemberSpec>;

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

    /// Look at all of it while no server runs; changes nothing.
    ///
    /// # Errors
    /// What is there cannot be read, which is never the same as nothing.
    pub fn inspect(&self) -> Result<Found> {
        let last_zxid = self.last_zxid()?;
        Ok(Found { last_zxid, ..self.look_over()? })
    }

    /// As [`Volume::inspect`], without the last transaction, for which a whole log is read.
    ///
    /// # Errors
    /// As there.
    pub fn look_over(&self) -> Result<Found> {
        let file_system = filesystem::identity(self.root.path())?;
        let Identity { marker, owner, ledger } = self.root.identity()?;
        let config = self.files.newest()?;
        let parts = Parts::find(&self.data, &self.logs)?;
        Ok(Found {
            file_system,
            marker,
            owner,
            ledger,
            data: parts.judge(config.is_some()),
            epoch: parts.current_epoch,
            last_zxid: None,
            config,
        })
    }

    /// What a server that runs changes.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn progress(&self, depth: Depth) -> Result<Progress> {
        let parts = Parts::find(&self.data, &self.logs)?;
        let config = self.files.newest()?;
        let data = parts.judge(config.is_some());
        let last_zxid = match depth {
            Depth::Names => None,
            Depth::Last => self.last_zxid()?,
        };
        Ok(Progress { data, config, epoch: parts.current_epoch, last_zxid })
    }

    /// The last transaction; `None` too where the newest log cannot be read. What an older
    /// snapshot has says nothing of what came after it, and by this a rescue finds the newest of
    /// the volumes that are left. That a log cannot be read says nothing else of the data.
    ///
    /// # Errors
    /// The directories cannot be read.
    pub fn last_zxid(&self) -> Result<Option<Zxid>> {
        let parts = Parts::find(&self.data, &self.logs)?;
        match txn_log::last_zxid(&self.logs) {
            Ok(of_logs) => Ok(of_logs.max(parts.newest_snapshot)),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "cannot read the last transaction on the volume");
                Ok(None)
            }
        }
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
        self.root.save_member(member)
    }

    /// The last spec that was kept.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn saved_member(&self) -> Result<Option<SavedMember>> {
        self.root.saved_member()
    }
}

#[cfg(test)]
mod tests;
