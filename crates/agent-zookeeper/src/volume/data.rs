//! What is there of a server's data. A server does not tell by itself that a part of
//! it is gone: without its logs it votes as if what stood in them had never been
//! acknowledged. So all of its parts are looked for, each where the server keeps it
//! (`FileTxnSnapLog`, `QuorumPeer`).

use crate::words::files::Odd;
use crate::words::volume::Part;
use anyhow::{Context, Result, bail};
use palladion_agent_core::volume::{any_file, names};
use palladion_agent_core::words::files::Doing;
use palladion_api::zookeeper::Zxid;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Directory below those of snapshots and logs.
pub const VERSION: &str = "version-2";
/// Number of the server, beside the snapshots. The agent writes it.
pub const MY_ID: &str = "myid";
/// By this file beside the logs a server may begin without data; it is used up.
pub const INITIALIZE: &str = "initialize";
const SNAPSHOT: &str = "snapshot.";
const LOG: &str = "log.";
const CURRENT_EPOCH: &str = "currentEpoch";
const ACCEPTED_EPOCH: &str = "acceptedEpoch";
/// What is no data of a server, in the directories of both.
const NOT_DATA: [&str; 3] = [MY_ID, INITIALIZE, "lost+found"];

/// Whether there is data of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Not a single file.
    Absent,
    /// Files, but not all of those that a full member has.
    Partial(Vec<Part>),
    /// All but logs, and a snapshot of nothing: a server that has led, and ended before
    /// it logged anything. Or one whose logs are gone since.
    Unlogged,
    /// All that a full member has.
    Whole,
}

/// The parts of a server's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The newest snapshot.
    pub newest_snapshot: Option<Zxid>,
    /// Are there transaction logs?
    pub has_logs: bool,
    /// The epoch that was accepted last.
    pub current_epoch: Option<i64>,
    /// The epoch that was proposed last.
    pub accepted_epoch: Option<i64>,
    /// Is there any file?
    pub has_files: bool,
}

impl Parts {
    /// Look for them.
    ///
    /// # Errors
    /// A directory or an epoch cannot be read.
    pub fn find(data: &Path, logs: &Path) -> Result<Self> {
        let in_data = data.join(VERSION);
        let snapshots = names(&in_data)?;
        let snapshots = snapshots.iter().filter_map(|name| zxid_of(name, SNAPSHOT));
        Ok(Self {
            newest_snapshot: snapshots.max(),
            has_logs: !log_files(logs)?.is_empty(),
            current_epoch: epoch(&in_data.join(CURRENT_EPOCH))?,
            accepted_epoch: epoch(&in_data.join(ACCEPTED_EPOCH))?,
            has_files: holds_files(data)? || holds_files(logs)?,
        })
    }

    /// What they add up to.
    pub fn judge(&self, has_configuration: bool) -> Data {
        if !self.has_files {
            return Data::Absent;
        }
        let missing = [
            self.newest_snapshot.is_none().then_some(Part::Snapshots),
            (!self.has_logs).then_some(Part::Logs),
            self.current_epoch.is_none().then_some(Part::CurrentEpoch),
            self.accepted_epoch.is_none().then_some(Part::AcceptedEpoch),
            (!has_configuration).then_some(Part::Configuration),
        ];
        let missing: Vec<Part> = missing.into_iter().flatten().collect();
        match missing.as_slice() {
            [] => Data::Whole,
            [Part::Logs] if self.newest_snapshot == Some(Zxid::default()) => Data::Unlogged,
            _ => Data::Partial(missing),
        }
    }
}

/// The transaction logs, oldest first.
pub fn log_files(logs: &Path) -> Result<Vec<PathBuf>> {
    let directory = logs.join(VERSION);
    let names = names(&directory)?;
    let mut found: Vec<(Zxid, PathBuf)> =
        names.iter().filter_map(|name| Some((zxid_of(name, LOG)?, directory.join(name)))).collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// `log.100000001`, `snapshot.0`, and with compression `snapshot.0.gz`.
fn zxid_of(name: &str, beginning: &str) -> Option<Zxid> {
    let rest = name.strip_prefix(beginning)?;
    Zxid::parse(rest.split('.').next()?).ok()
}

fn holds_files(directory: &Path) -> Result<bool> {
    match fs::metadata(directory) {
        Ok(_) => any_file(directory, &NOT_DATA),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => {
            Err(error).with_context(|| Doing::Inspect { path: directory.display().to_string() })
        }
    }
}

/// An epoch; `None` where the file is missing or, after a power cut, empty. A text that is no
/// number is an error: nobody knows what the server would make of it.
fn epoch(path: &Path) -> Result<Option<i64>> {
    let shown = || path.display().to_string();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| Doing::Read { path: shown() }),
    };
    let first = text.lines().next().unwrap_or_default().trim();
    if first.is_empty() {
        return Ok(None);
    }
    match first.parse() {
        Ok(epoch) => Ok(Some(epoch)),
        Err(_) => bail!(Odd::Epoch { path: shown(), text: first.chars().take(32).collect() }),
    }
}
