//! The commit log on the member's volume: where it is linked to, what is noted of it, and how its
//! bytes are read. What is sent is decided in `palladion_backup::archive`.
//!
//! ```text
//! commitlog/CommitLog-7-<n>.log              the server's own
//! .palladion/commitlog/CommitLog-7-<n>.log   links to those that are full
//! .palladion/archive/note.json               how far it is sent
//! .palladion/archive/runs.json               starts of the server
//! .palladion/archive/limit                   bytes that may wait; without it nothing is linked
//! .palladion/archive/dropped                 numbers of segments that were dropped
//! .palladion/archive/broken                  why the window ends
//! ```
//!
//! [`link`] is what the server starts when a segment is full, [`look`] finds what is new, and
//! [`work`] sends it.

pub mod link;
pub mod look;
pub mod note;
pub mod work;

/// What the agent knows of it.
pub use palladion_backup::archive::cursor::Cursor;
pub use palladion_backup::archive::next::{Next, Step, next};
pub use palladion_backup::names::HostId;
pub use palladion_backup::words::trouble::Ends;
use std::path::{Path, PathBuf};

/// Where it all is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Places {
    /// Where the server writes its segments.
    pub commitlog: PathBuf,
    /// Where they are linked to.
    pub links: PathBuf,
    /// Where the notes are.
    pub notes: PathBuf,
}

/// The folders, as `link` knows one by the other.
const LINKS: &str = "commitlog";
const NOTES: &str = "archive";

impl Places {
    /// Of a member whose volume is here, and whose agent keeps its own files there.
    pub fn of(volume: &Path, own: &Path) -> Self {
        Self { commitlog: volume.join("commitlog"), links: own.join(LINKS), notes: own.join(NOTES) }
    }

    fn note(&self) -> PathBuf {
        self.notes.join("note.json")
    }

    fn runs(&self) -> PathBuf {
        self.notes.join("runs.json")
    }

    fn limit(&self) -> PathBuf {
        self.notes.join("limit")
    }

    fn dropped(&self) -> PathBuf {
        self.notes.join("dropped")
    }

    fn broken(&self) -> PathBuf {
        self.notes.join("broken")
    }
}

/// The number of the segment in a file of this name.
pub fn number(name: &str) -> Option<i64> {
    let rest = name.strip_prefix("CommitLog-")?.strip_suffix(".log")?;
    rest.rsplit_once('-').map_or(rest, |(_, number)| number).parse().ok()
}

#[cfg(test)]
mod tests;
