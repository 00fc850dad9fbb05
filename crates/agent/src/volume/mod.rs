//! The data volume: its marker, its ledger, and what they and the recorded
//! facts together say about the data on it.

pub mod changes;
pub mod heartbeat;
mod identity;
pub mod jobs;
pub mod judge;
pub mod ledger;
mod leftovers;
pub mod prepare;
pub mod rebuilt;
pub mod record;
mod repairs;
pub mod roles;
mod snapshots;
pub mod tokens;
pub mod transfer;

pub use palladion_agent_core::volume::{durable, seconds};

use anyhow::Result;
use heartbeat::{Heartbeat, Known};
use ledger::Ledger;
use palladion_agent_core::volume::{Identity, OWN, Root, any_file, below, filesystem, names};
use palladion_api::cluster::Mode;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::member::CassandraMemberSpec;
use palladion_api::server_config::CDC_DIRECTORY;
use rebuilt::Rebuilt;
use roles::Note;
use std::path::{Path, PathBuf};
use tokens::FirstTokens;

/// Directories that hold no data of the server. What readers of changes have not read is none: it is
/// a copy, and stays where it is when data is wiped or set aside. A reader has that directory mounted.
const NOT_DATA: [&str; 4] = [OWN, "lost+found", prepare::RETIRED, CDC_DIRECTORY];

/// What is on a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Identity of the file system.
    pub file_system: String,
    /// The volume's ID from the marker.
    pub marker: Option<VolumeId>,
    /// The member that used it last, from the marker; older agents have not noted it.
    pub owner: Option<MemberName>,
    /// The ledger.
    pub ledger: Option<Ledger>,
    /// What is there of a server's files?
    pub data: Data,
    /// When the server ran last.
    pub heartbeat: Known,
    /// What is noted of security.
    pub note: Note,
    /// The tokens of the first start, where it is with those of a backup.
    pub tokens: FirstTokens,
    /// What it has, where its datacenter was added to a ring.
    pub rebuilt: Rebuilt,
}

/// Whether there is data of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Not a single file.
    Absent,
    /// Files, but none of those in which a server keeps who it is: on them it would
    /// start as somebody new.
    Partial,
    /// Those of a server that knows who it is.
    Present,
}

/// The last spec that was read, for starts without the API.
pub type SavedMember = palladion_agent_core::volume::SavedMember<CassandraMemberSpec>;

/// A data volume.
#[derive(Clone, Debug)]
pub struct Volume {
    root: Root,
    mode: Mode,
}

impl Volume {
    /// Bytes that are free on it.
    pub fn free_bytes(&self) -> Result<u64> {
        filesystem::free_bytes(self.root())
    }

    /// The volume mounted at `root`, for a server of this system.
    pub fn new(root: PathBuf, mode: Mode) -> Self {
        Self { root: Root::new(root), mode }
    }

    /// Where it is mounted.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    fn own(&self, name: &str) -> PathBuf {
        self.root.own(name)
    }

    /// Where the certificate for clients is kept that was last good.
    pub fn tls(&self) -> PathBuf {
        self.own("tls")
    }

    /// Where the server keeps what readers of changes have still to read.
    pub fn cdc(&self) -> PathBuf {
        self.root().join(CDC_DIRECTORY)
    }

    /// Where it keeps its commit log.
    pub fn commit_log(&self) -> PathBuf {
        self.root().join("commitlog")
    }

    /// Look at it; changes nothing.
    pub fn inspect(&self) -> Result<Found> {
        let file_system = filesystem::identity(self.root())?;
        let Identity { marker, owner, ledger } = self.root.identity()?;
        let data = self.data()?;
        let (heartbeat, tokens) = (self.heartbeat(), self.tokens());
        let note = self.note(&tokens);
        let rebuilt = self.rebuilt();
        Ok(Found { file_system, marker, owner, ledger, data, heartbeat, note, tokens, rebuilt })
    }

    /// What is there of a server's files?
    fn data(&self) -> Result<Data> {
        if !any_file(self.root(), &NOT_DATA)? {
            return Ok(Data::Absent);
        }
        Ok(match identity::is_kept(self.root(), self.mode)? {
            true => Data::Present,
            false => Data::Partial,
        })
    }

    /// A side file: that it cannot be read says nothing of the data.
    fn heartbeat(&self) -> Known {
        match durable::read_json(&self.own("heartbeat.json")) {
            Ok(read) => read.map_or(Known::Never, Known::At),
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "cannot read when the server ran last"
                );
                Known::Unreadable
            }
        }
    }

    /// Take it into use: a random ID, written to marker and ledger.
    pub fn take(&self, member: &MemberName, successor_of: Option<VolumeId>) -> Result<Ledger> {
        let ledger = Ledger::new(VolumeId::new(uuid::Uuid::new_v4()), successor_of);
        self.root.take(ledger.volume_id.clone(), &ledger, member)?;
        Ok(ledger)
    }

    /// Note in the marker whose volume this is.
    pub fn note_owner(&self, ledger: &Ledger, member: &MemberName) -> Result<()> {
        self.root.note_owner(ledger.volume_id.clone(), member)
    }

    /// Write the ledger; on return it survives a power cut.
    pub fn save(&self, ledger: &Ledger) -> Result<()> {
        self.root.save_ledger(ledger)
    }

    /// Note when the server ran last.
    pub fn save_heartbeat(&self, heartbeat: &Heartbeat) -> Result<()> {
        durable::write_json(&self.own("heartbeat.json"), heartbeat)
    }

    /// Keep the last spec beside the ledger.
    pub fn save_member(&self, member: &SavedMember) -> Result<()> {
        self.root.save_member(member)
    }

    /// The last spec that was kept.
    pub fn saved_member(&self) -> Result<Option<SavedMember>> {
        self.root.saved_member()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use std::fs;

    fn volume() -> (tempfile::TempDir, Volume) {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        (directory, volume)
    }

    #[test]
    fn a_fresh_volume_is_unmarked_and_without_data() {
        let (_directory, volume) = volume();
        fs::create_dir_all(volume.root().join("data/empty")).unwrap();
        fs::create_dir_all(volume.root().join("lost+found")).unwrap();
        let found = volume.inspect().unwrap();
        assert_eq!((found.marker, found.ledger, found.data), (None, None, Data::Absent));
    }

    #[test]
    fn taking_gives_a_new_id_that_is_found_again() {
        let (_directory, volume) = volume();
        let ledger = volume.take(&"m-0".into(), None).unwrap();
        let found = volume.inspect().unwrap();
        assert_eq!(found.marker.as_ref(), Some(&ledger.volume_id));
        assert_eq!(found.owner, Some("m-0".into()));
        assert_eq!(found.ledger, Some(ledger.clone()));
        let (_other_directory, other) = self::volume();
        assert_ne!(other.take(&"m-0".into(), None).unwrap().volume_id, ledger.volume_id);
    }

    #[test]
    fn one_file_deep_below_is_data_and_no_server_that_knows_who_it_is() {
        let (_directory, volume) = volume();
        fs::create_dir_all(volume.root().join("data/shop/orders-1")).unwrap();
        fs::write(volume.root().join("data/shop/orders-1/nb-1-big-Data.db"), "x").unwrap();
        assert_eq!(volume.inspect().unwrap().data, Data::Partial);
        fs::create_dir_all(volume.root().join("data/system/local-7ad5")).unwrap();
        fs::write(volume.root().join("data/system/local-7ad5/nb-1-big-Data.db"), "x").unwrap();
        assert_eq!(volume.inspect().unwrap().data, Data::Present);
    }

    #[test]
    fn what_waits_for_a_reader_of_changes_is_no_data() {
        let (_directory, volume) = volume();
        fs::create_dir_all(volume.cdc()).unwrap();
        assert_eq!(volume.inspect().unwrap().data, Data::Absent, "as the kubelet makes it");
        fs::write(volume.cdc().join("CommitLog-7-1.log"), "x").unwrap();
        fs::write(volume.cdc().join("CommitLog-7-1_cdc.idx"), "1\nCOMPLETED").unwrap();
        assert_eq!(volume.inspect().unwrap().data, Data::Absent);
        fs::create_dir_all(volume.commit_log()).unwrap();
        fs::write(volume.commit_log().join("CommitLog-7-1.log"), "x").unwrap();
        assert_eq!(volume.inspect().unwrap().data, Data::Partial, "a commit log is");
    }

    /// An older agent has written the marker, and reads it when Palladion is rolled back.
    #[test]
    fn a_marker_without_a_member_is_read_and_named() {
        let (_directory, volume) = volume();
        let ledger = volume.take(&"m-0".into(), None).unwrap();
        let old = format!(r#"{{"volumeID":"{}"}}"#, ledger.volume_id);
        fs::write(volume.own("volume.json"), old).unwrap();
        let found = volume.inspect().unwrap();
        assert_eq!((found.marker, found.owner), (Some(ledger.volume_id.clone()), None));
        volume.note_owner(&ledger, &"m-1".into()).unwrap();
        assert_eq!(volume.inspect().unwrap().owner, Some("m-1".into()));
    }

    #[test]
    fn a_ledger_that_cannot_be_read_is_an_error_and_not_an_empty_volume() {
        let (_directory, volume) = volume();
        volume.take(&"m-0".into(), None).unwrap();
        fs::write(volume.own("ledger.json"), "{").unwrap();
        assert!(volume.inspect().unwrap_err().to_string().contains("parsing"));
        let mut ledger = Ledger::new("other".into(), None);
        volume.save(&ledger).unwrap();
        assert!(volume.inspect().unwrap_err().to_string().contains("different volumes"));
        ledger.format = 99;
        volume.save(&ledger).unwrap();
        assert!(volume.inspect().unwrap_err().to_string().contains("format 99"));
    }

    #[test]
    fn the_last_spec_is_kept_beside_the_ledger() {
        let (_directory, volume) = volume();
        volume.take(&"m-0".into(), None).unwrap();
        assert_eq!(volume.saved_member().unwrap(), None);
        let member = SavedMember {
            generation: Some(3),
            spec: CassandraMemberSpec { cluster: "c".into(), ..Default::default() },
        };
        volume.save_member(&member).unwrap();
        assert_eq!(volume.saved_member().unwrap(), Some(member));
    }

    #[test]
    fn when_the_server_ran_last_is_kept_beside_the_ledger() {
        let (_directory, volume) = volume();
        volume.take(&"m-0".into(), None).unwrap();
        assert_eq!(volume.inspect().unwrap().heartbeat, Known::Never);
        let heartbeat = Heartbeat::at(Timestamp::from_second(60).unwrap());
        volume.save_heartbeat(&heartbeat).unwrap();
        assert_eq!(volume.inspect().unwrap().heartbeat, Known::At(heartbeat));
        fs::write(volume.own("heartbeat.json"), "{").unwrap();
        assert_eq!(volume.inspect().unwrap().heartbeat, Known::Unreadable);
    }
}
