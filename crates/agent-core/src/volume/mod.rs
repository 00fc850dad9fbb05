//! A data volume, as far as any system has one: our own directory on it, with
//! the marker that names the volume and files that survive a power cut.

pub mod durable;
pub mod filesystem;
mod listing;
mod marker;
mod unmarked;
mod xfs;

pub use listing::{any_file, below, names};
pub use marker::Marker;
pub use unmarked::{Unmarked, unmarked};

use crate::words::files::Doing;
use crate::words::volume::Wrong;
use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{MemberName, VolumeId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Our own directory on the volume.
pub const OWN: &str = ".palladion";
const MARKER: &str = "volume.json";
const LEDGER: &str = "ledger.json";
const MEMBER: &str = "member.json";

/// Kubernetes keeps whole seconds; what we compare with it must do so too.
pub fn seconds(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

/// A ledger, whatever else its system writes into it.
pub trait Ledger: DeserializeOwned {
    /// The format that this build reads and writes.
    const FORMAT: u32;
    /// The format that it is written in.
    fn format(&self) -> u32;
    /// The volume that it belongs to.
    fn volume_id(&self) -> &VolumeId;
}

/// Whose volume this is, by its own files.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity<L> {
    /// The volume's ID from the marker.
    pub marker: Option<VolumeId>,
    /// The member that used it last, from the marker; older agents have not noted it.
    pub owner: Option<MemberName>,
    /// The ledger.
    pub ledger: Option<L>,
}

/// The last spec that was read, for starts without the API.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SavedMember<S> {
    /// Its generation.
    pub generation: Option<i64>,
    /// The spec.
    pub spec: S,
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

    /// Marker and ledger, in the form of this system; each `None` where the volume has none.
    ///
    /// # Errors
    /// One cannot be read, or they are not of one volume.
    pub fn identity<L: Ledger>(&self) -> Result<Identity<L>> {
        let marker: Option<Marker> = durable::read_json(&self.own(MARKER))?;
        let ledger: Option<L> = durable::read_json(&self.own(LEDGER))?;
        let path = || self.0.display().to_string();
        if let Some(ledger) = &ledger {
            if ledger.format() != L::FORMAT {
                bail!(Wrong::NewerLedger { path: path(), format: ledger.format() });
            }
            if marker.as_ref().is_some_and(|m| m.volume_id != *ledger.volume_id()) {
                bail!(Wrong::TwoIds { path: path() });
            }
        }
        let (marker, owner) = marker.map(|m| (m.volume_id, m.member)).unzip();
        Ok(Identity { marker, owner: owner.flatten(), ledger })
    }

    /// Keep the last spec beside the ledger.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save_member(&self, member: &SavedMember<impl Serialize>) -> Result<()> {
        durable::write_json(&self.own(MEMBER), member)
    }

    /// The last spec that was kept.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn saved_member<S: DeserializeOwned>(&self) -> Result<Option<SavedMember<S>>> {
        durable::read_json(&self.own(MEMBER))
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
