//! The volume of a node: its marker and its ledger, its data, its configuration and its
//! cookie, and what they and the recorded facts together say.

pub mod cookie;
pub mod data;
pub mod judge;
pub mod ledger;

pub use cookie::Cookie;
pub use data::{Data, Kind, Parts};

use anyhow::{Context, Result};
use ledger::Ledger;
use palladion_agent_core::volume::{Identity, Root, durable, filesystem};
use palladion_agent_core::words::files::Doing;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::ServiceMemberSpec;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
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
    /// What is there of a node's data?
    pub data: Data,
    /// Nodes of the cluster that the node on it was in, itself among them.
    pub members: Vec<NodeName>,
}

/// The last spec that was read, for starts without the API.
pub type SavedMember = palladion_agent_core::volume::SavedMember<ServiceMemberSpec>;

/// The volume of a node, and where its directories are in the container.
#[derive(Clone, Debug)]
pub struct Volume {
    root: Root,
    data: PathBuf,
}

impl Volume {
    /// The volume mounted at `root`, with a directory for the node's data, which may be
    /// mounted elsewhere.
    pub fn new(root: PathBuf, data: PathBuf) -> Self {
        Self { root: Root::new(root), data }
    }

    /// Directory of the data; also the home of the node's user.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Directory of the node's configuration.
    pub fn configuration(&self) -> PathBuf {
        self.root.path().join("conf")
    }

    /// The cookie.
    pub fn cookie(&self) -> Cookie {
        Cookie::new(self.data.join(data::COOKIE))
    }

    /// Look at all of it while no node runs; changes nothing.
    ///
    /// # Errors
    /// What is there cannot be read, which is never the same as nothing.
    pub fn look_over(&self) -> Result<Found> {
        let file_system = filesystem::identity(self.root.path())?;
        let Identity { marker, owner, ledger } = self.root.identity::<Ledger>()?;
        let parts = self.parts(ledger.as_ref().and_then(|ledger| ledger.node_name.as_ref()))?;
        let before = ledger.as_ref().map(|ledger| ledger.parts.clone()).unwrap_or_default();
        let data = parts.judge(&before);
        Ok(Found { file_system, marker, owner, ledger, data, members: parts.members })
    }

    /// What is there of a node's data.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn parts(&self, node: Option<&NodeName>) -> Result<Parts> {
        Parts::find(&self.data, node)
    }

    /// The parts that are there of a node that serves.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn kinds(&self, node: &NodeName) -> Result<BTreeSet<Kind>> {
        Ok(self.parts(Some(node))?.there)
    }

    /// Remove all data. The cookie is replaced by the start, where the Secret has one.
    ///
    /// # Errors
    /// Something cannot be removed; no node may be started then.
    pub fn wipe(&self) -> Result<()> {
        let entries = match fs::read_dir(&self.data) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(error)
                    .with_context(|| Doing::List { path: self.data.display().to_string() });
            }
        };
        for entry in entries {
            let entry =
                entry.with_context(|| Doing::List { path: self.data.display().to_string() })?;
            let name = entry.file_name();
            if name == data::COOKIE || name == "lost+found" {
                continue;
            }
            let path = entry.path();
            let removing = || Doing::Remove { path: path.display().to_string() };
            let kind = entry.file_type().with_context(removing)?;
            match kind.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            }
            .with_context(removing)?;
        }
        durable::sync_directory(&self.data)
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
