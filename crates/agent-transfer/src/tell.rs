//! What a transfer says on its standard output: lines of JSON. The last one says
//! how it ended; without it, it has crashed.

use crate::words::stopped::{Cause, Stopped};
use palladion_api::backup::{BackedUpMember, Cataloged, Expired, JournalFound, LoadSource, Swept};
use palladion_api::ids::HostId;
use palladion_backup::manifest::member::Schema;
use palladion_backup::manifest::ring::{OfMember, Window};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// How far it is.
    Progress(Progress),
    /// It has done what it was told.
    Done(Done),
    /// It has not, and why.
    Stopped {
        /// By what it is sorted.
        cause: Cause,
        /// For people.
        message: String,
    },
}

/// How far a transfer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Files that are in the store.
    pub files: u64,
    /// Of so many.
    pub of: u64,
    /// Bytes that went to the store by this process.
    pub sent_bytes: u64,
    /// Bytes of files that an earlier backup has sent.
    pub reused_bytes: u64,
    /// Bytes that came from the store by this process.
    pub read_bytes: u64,
    /// Milliseconds that it has waited so as not to be faster than it may.
    pub throttled_milliseconds: u64,
    /// An upload: bytes of the snapshot's files that are still on the volume.
    #[serde(default)]
    pub left_bytes: u64,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum Done {
    /// The repository is right, and so are store, keys and volume.
    Prepared,
    /// The schema is there.
    Described {
        /// As the manifests of members name it.
        schema: Schema,
        /// Why no ring can begin with a backup of it, if none can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unfit: Option<String>,
    },
    /// All is sent.
    Uploaded {
        /// The number of the manifest.
        checkpoint: u32,
        /// As the ring's manifest will name it.
        member: OfMember,
        /// Bytes of objects that were sent for its files, by all tries.
        sent_bytes: u64,
        /// Bytes of files that an earlier backup had sent.
        reused_bytes: u64,
        /// At most so many bytes of memory were resident.
        peak_bytes: u64,
    },
    /// The backup is complete.
    Finished {
        /// The hash that vouches for all of it.
        manifest_hash: String,
    },
    /// The snapshot is taken: by the agent, which needs no child for it.
    Snapshotted,
    /// It was looked at.
    Verified {
        /// The hash that vouches for all of it.
        manifest_hash: String,
        /// So many objects.
        objects: u64,
        /// So many were read.
        read: u64,
        /// Those that are not as they should be.
        damaged: Vec<Damaged>,
    },
    /// Nothing of it is left on this volume.
    Discarded {
        /// Of the snapshots.
        files: u64,
    },
    /// A backup was read, for the agent: its schema is in the file that was told.
    Read {
        /// The hash that vouches for all of it.
        manifest_hash: String,
        /// When its snapshots were taken.
        window: Window,
        /// The members that have anything of the tables, if it was added up.
        sources: Vec<LoadSource>,
        /// All its members, if a ring is to become theirs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<BackedUpMember>,
        /// What their journals have, if it is to go to a point in time.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        journals: Vec<JournalFound>,
    },
    /// Segments of a commit log are there, for the agent. None: all were brought before.
    Segments {
        /// Their files, in the order in which they are replayed.
        files: Vec<String>,
        /// Bytes that were fetched for them.
        bytes: u64,
        /// So many segments are to be replayed, in all.
        all_segments: u64,
    },
    /// A commit log is replayed, by the agent.
    Replayed {
        /// So many segments.
        segments: u64,
        /// Bytes that were fetched for them.
        bytes: u64,
    },
    /// The tokens that a member of a backup had, for the agent.
    Tokens {
        /// The hash that vouches for all of it.
        manifest_hash: String,
        /// The member.
        source: HostId,
        /// Its tokens.
        tokens: Vec<String>,
    },
    /// A batch of SSTables is there, for the agent. None: all were brought before.
    Brought {
        /// So many.
        sstables: u64,
        /// Their length.
        bytes: u64,
        /// So many has the member of the tables, in all.
        all_sstables: u64,
        /// Hash of the tokens that it had.
        #[serde(default)]
        tokens_hash: String,
    },
    /// The backup was read and compared with the ring, by the agent.
    Cataloged {
        /// The hash that vouches for all of it.
        manifest_hash: String,
        /// What was found.
        cataloged: Box<Cataloged>,
    },
    /// The tokens of the first start are noted, by the agent.
    Noted {
        /// The member of the backup that had them.
        source: HostId,
        /// Their hash.
        tokens_hash: String,
    },
    /// The member lets clients in, by the agent.
    Opened,
    /// The tables are there, by the agent.
    Created,
    /// What one member of the backup had is loaded, by the agent.
    Loaded {
        /// So many SSTables.
        sstables: u64,
        /// Their length.
        bytes: u64,
    },
    /// The tables have what they have when nothing is loaded any more, by the agent.
    Settled,
    /// Backups are condemned.
    Expired {
        /// Which, and which are not.
        expired: Box<Expired>,
    },
    /// What was condemned is deleted.
    Swept {
        /// Which of it, and which not.
        swept: Box<Swept>,
    },
    /// What a look at the commit log came to is archived.
    Archived {
        /// The number of the newest entry.
        entries: u64,
        /// Was that all? Another look goes on where it was not.
        is_all: bool,
    },
    /// The files are there.
    Fetched {
        /// So many files were written.
        files: u64,
        /// Their length.
        bytes: u64,
        /// So many were there already.
        there: u64,
        /// Those that are not what was taken.
        damaged: Vec<String>,
    },
}

/// An object that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Damaged {
    /// The object.
    pub object: String,
    /// What is wrong with it.
    pub wrong: String,
    /// The tables that it hurts.
    pub tables: Vec<String>,
}

/// How it ended.
pub fn ended(result: &Result<Done, Stopped>) -> Line {
    match result {
        Ok(done) => Line::Done(done.clone()),
        Err(stopped) => Line::Stopped { cause: stopped.cause(), message: stopped.to_string() },
    }
}

/// Say it. Who listens may have ended; then so do we, by its death.
pub fn say(line: &Line) {
    let Ok(mut text) = serde_json::to_string(line) else { return };
    text.push('\n');
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
