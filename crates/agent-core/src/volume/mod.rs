//! A data volume, as far as any system has one: our own directory on it, with
//! the marker that names the volume and files that survive a power cut.

pub mod durable;
pub mod filesystem;
mod listing;
mod marker;

pub use listing::{any_file, below, names};
pub use marker::Marker;

use crate::words::files::Doing;
use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{MemberName, VolumeId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

/// Our own directory on the volume.
pub const OWN: &str = ".palladion";
const MARKER: &str = "volume.json";
const LEDGER: &str = "ledger.json";

/// Kubernetes keeps whole seconds; what we compare with it must do so too.
pub fn seconds(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

/// The place where a volume is mounted.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The volume mounted there.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file of our own directory.
    pub fn own(&self, name: &str) -> PathBuf {
        self.0.join(OWN).join(name)
    }

    /// The marker; `None` where the volume has none.
    pub fn marker(&self) -> Result<Option<Marker>> {
        durable::read_json(&self.own(MARKER))
    }

    /// The ledger, in the form of this system; `None` where the volume has none.
    pub fn ledger<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        durable::read_json(&self.own(LEDGER))
    }

    /// Take the volume into use under an ID. The ledger comes first; a marker alone
    /// would be a member without a past.
    pub fn take(&self, id: VolumeId, ledger: &impl Serialize, member: &MemberName) -> Result<()> {
        let directory = self.0.join(OWN);
        fs::create_dir_all(&directory)
            .with_context(|| Doing::CreateDirectory { path: directory.display().to_string() })?;
        self.save_ledger(ledger)?;
        self.note_owner(id, member)?;
        durable::sync_directory(&self.0)
    }

    /// Note in the marker whose volume this is.
    pub fn note_owner(&self, volume_id: VolumeId, member: &MemberName) -> Result<()> {
        durable::write_json(&self.own(MARKER), &Marker { volume_id, member: Some(member.clone()) })
    }

    /// Write the ledger; on return it survives a power cut.
    pub fn save_ledger(&self, ledger: &impl Serialize) -> Result<()> {
        durable::write_json(&self.own(LEDGER), ledger)
    }
}
