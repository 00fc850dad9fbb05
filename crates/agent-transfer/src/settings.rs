//! What a transfer is told: one line of JSON on its standard input. The agent
//! writes it, so a word that is not known is a version that does not fit.

use crate::orders::archive::Archive;
use crate::orders::restore::{Batch, Read, Segments, Tokens};
use crate::orders::retention::{Expire, Sweep};
use crate::orders::{Describe, Discard, Fetch, Finish, Prepare, Upload, Verify};
use crate::words::stopped::Stopped;
use palladion_api::words::Quoted;
use palladion_backup::names::is_file_name;
use palladion_backup::repository::Repository;
use palladion_store::settings::{Addressing, Checksum, Patience, Settings as OfStore, Transport};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What begins the tag of every snapshot of ours, and of no other.
const TAG: &str = "palladion-";

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// The transfer: one that is begun again has the same.
    pub id: String,
    /// The process that waits for it: it ends with that one.
    #[serde(default)]
    pub parent: Option<i32>,
    /// Whose repository it must be.
    pub repository: Repository,
    /// Where that is.
    pub store: Place,
    /// Where the Secret of the credentials is mounted.
    #[serde(default)]
    pub credentials: Option<PathBuf>,
    /// Which of its entries are used.
    #[serde(default)]
    pub entries: Entries,
    /// Where the Secret of the keys is mounted.
    #[serde(default)]
    pub keys: Option<PathBuf>,
    /// No faster than this; later lines of the standard input change it.
    #[serde(default)]
    pub bytes_per_second: Option<u64>,
    /// What is to be done.
    pub work: Work,
}

/// A later line of the standard input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// From now on.
    pub bytes_per_second: Option<u64>,
}

/// Which entries of a Secret with credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entries {
    /// Those for the ring's own store.
    #[default]
    Own,
    /// Those that begin with `source.`, for the store that they name and no other.
    Source,
}

/// Where a repository is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Place {
    /// A directory, or `s3://`, `gs://` or `azure://`.
    pub at: String,
    /// See the settings of the store.
    #[serde(default)]
    pub region: Option<String>,
    /// As above.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// As above.
    #[serde(default)]
    pub addressing: Option<Addressing>,
    /// As above.
    #[serde(default)]
    pub checksum: Option<Checksum>,
    /// As above.
    #[serde(default)]
    pub transport: Option<Transport>,
}

impl Place {
    /// As the store takes it.
    pub fn settings(&self) -> OfStore {
        OfStore {
            region: self.region.clone(),
            endpoint: self.endpoint.clone(),
            addressing: self.addressing,
            checksum: self.checksum,
            transport: self.transport,
            patience: Patience::default(),
        }
    }
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum Work {
    /// Create the repository or look at it; nothing is sent.
    Prepare(Prepare),
    /// Write the schema of a backup, which its members name.
    Describe(Describe),
    /// Send what a snapshot has.
    Upload(Box<Upload>),
    /// Check what all members have sent, and write the outcome.
    Finish(Finish),
    /// Look at a complete backup.
    Verify(Verify),
    /// Give a backup up, and remove what it has left on this volume.
    Discard(Discard),
    /// Bring the files of one source back.
    Fetch(Fetch),
    /// Restore: read what a backup is, and its schema.
    Read(Read),
    /// Restore: read which tokens a member of a backup had.
    Tokens(Tokens),
    /// Restore: bring a batch of SSTables.
    Batch(Batch),
    /// Restore to a point in time: bring segments of a commit log.
    Segments(Segments),
    /// Retention: condemn backups.
    Expire(Expire),
    /// Retention: delete what was condemned.
    Sweep(Sweep),
    /// Send what is new in the commit log.
    Archive(Box<Archive>),
}

/// The tag of a snapshot of ours: never empty, which would mean all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

impl Tag {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Tag {
    type Error = Stopped;

    fn try_from(text: String) -> Result<Self, Stopped> {
        let own = text.strip_prefix(TAG).unwrap_or_default();
        match is_file_name(&text) && !own.is_empty() {
            true => Ok(Self(text)),
            false => Err(Stopped::Tag { tag: Quoted(text) }),
        }
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}
