//! The kinds of work of a transfer, each with what it is told.

use crate::settings::Tag;
use palladion_backup::coverage::{Coverage, Replicas};
use palladion_backup::finish::{Order, Sent};
use palladion_backup::manifest::member::Member;
use palladion_backup::manifest::ring::{LeftOut, Window};
use palladion_backup::names::{BackupId, HostId};
use palladion_backup::prepare::{FREE_AT_START, FREE_MEANWHILE};
use palladion_backup::verify;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub mod archive;
pub mod restore;
pub mod retention;

/// Three of these are held at most: read, sealed, and on their way.
const PIECE: u64 = 8 * 1024 * 1024;
/// Manifests of what was sent until now are an hour apart: less than the 48 hours
/// after which an object that nobody names is condemned.
const CHECKPOINT: u64 = 3600;

/// See [`crate::settings::Work::Prepare`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prepare {
    /// A directory of the member's volume.
    pub volume: PathBuf,
    /// So much of it must be free, in percent.
    #[serde(default = "at_start")]
    pub least_free: u8,
}

impl Prepare {
    /// Of this volume.
    pub fn of(volume: PathBuf) -> Self {
        Self { volume, least_free: at_start() }
    }
}

/// See [`crate::settings::Work::Describe`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Describe {
    /// The file with the statements.
    pub file: PathBuf,
}

/// See [`crate::settings::Work::Upload`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upload {
    /// Whose files, and of which backup.
    pub member: Member,
    /// The data directories of the server.
    pub data: Vec<PathBuf>,
    /// The tag of the snapshot.
    pub tag: Tag,
    /// Which tables it had when it was taken, where that is known.
    #[serde(default)]
    pub tables: Option<String>,
    /// Where the journal is kept, on the same volume.
    pub state: PathBuf,
    /// The length of pieces.
    #[serde(default = "piece")]
    pub piece_bytes: u64,
    /// So much of the volume must stay free, in percent.
    #[serde(default = "meanwhile")]
    pub least_free: u8,
    /// Seconds between two manifests of what was sent until now.
    #[serde(default = "checkpoint")]
    pub checkpoint_seconds: u64,
}

impl Upload {
    /// What this member has, from where, and where its journal is.
    pub fn of(
        member: Member,
        (data, tag, tables): (Vec<PathBuf>, Tag, String),
        state: PathBuf,
    ) -> Self {
        Self {
            member,
            data,
            tag,
            tables: Some(tables),
            state,
            piece_bytes: piece(),
            least_free: meanwhile(),
            checkpoint_seconds: checkpoint(),
        }
    }
}

/// See [`crate::settings::Work::Finish`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finish {
    /// The backup.
    pub backup: BackupId,
    /// When its snapshots were taken.
    pub window: Window,
    /// What the members have reported.
    pub members: BTreeMap<HostId, Reported>,
    /// What has to be covered.
    pub coverage: OfRing,
    /// Members of the ring that are not in it.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// How well it is looked.
    pub depth: Depth,
}

impl Finish {
    /// As the core takes it.
    pub fn order(&self) -> Order {
        let sent = |(host, of): (&HostId, &Reported)| {
            let Reported { checkpoint, sha256, tokens } = of.clone();
            (host.clone(), Sent { checkpoint, sha256, tokens })
        };
        Order {
            id: self.backup.clone(),
            window: self.window,
            members: self.members.iter().map(sent).collect(),
            coverage: match &self.coverage {
                OfRing::AllMembers(all) => Coverage::AllMembers(all.clone()),
                OfRing::QuorumOfEachRange(all) => Coverage::QuorumOfEachRange(all.clone()),
            },
            left_out: self.left_out.clone(),
            depth: self.depth.into(),
        }
    }
}

/// What a member has reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reported {
    /// The number of its manifest.
    pub checkpoint: u32,
    /// Of its manifest.
    pub sha256: palladion_backup::hash::Hash,
    /// Its tokens, as the ring has them.
    pub tokens: Vec<String>,
}

/// What has to be covered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum OfRing {
    /// These members.
    AllMembers(BTreeSet<HostId>),
    /// Of each of these sets of replicas a majority.
    QuorumOfEachRange(Vec<Replicas>),
}

/// How well it is looked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Depth {
    /// Is each object there, in its length?
    Sizes,
    /// And one of a hundred is read, beginning with this one.
    Sample {
        /// Which one.
        first: u64,
    },
    /// And each is read.
    Read,
}

/// Of so many objects a sample reads one.
const SAMPLE: u64 = 100;

impl From<Depth> for verify::Depth {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Sizes => Self::Sizes,
            Depth::Sample { first } => Self::Sample { of: SAMPLE, first },
            Depth::Read => Self::Read,
        }
    }
}

/// See [`crate::settings::Work::Verify`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verify {
    /// The backup.
    pub backup: BackupId,
    /// How well it is looked.
    pub depth: Depth,
}

/// See [`crate::settings::Work::Discard`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Discard {
    /// The backup.
    pub backup: BackupId,
    /// The transfers that have uploaded.
    pub uploads: Vec<String>,
    /// The data directories of the server.
    pub data: Vec<PathBuf>,
    /// The tags of the snapshots.
    pub tags: Vec<Tag>,
    /// Where the journals are.
    pub state: PathBuf,
    /// Who writes the outcome: one member does.
    pub outcome: Outcome,
}

/// Is the outcome written?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The backup has failed, for everybody and for good.
    Failed,
    /// Another member does that.
    Leave,
}

/// See [`crate::settings::Work::Fetch`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fetch {
    /// The backup.
    pub backup: BackupId,
    /// Whose files.
    #[serde(rename = "sourceHostID")]
    pub source: HostId,
    /// Of this keyspace only.
    #[serde(default)]
    pub keyspace: Option<String>,
    /// Of this table only.
    #[serde(default)]
    pub table: Option<String>,
    /// Where to.
    pub into: PathBuf,
}

fn at_start() -> u8 {
    FREE_AT_START
}

fn meanwhile() -> u8 {
    FREE_MEANWHILE
}

fn piece() -> u64 {
    PIECE
}

fn checkpoint() -> u64 {
    CHECKPOINT
}
