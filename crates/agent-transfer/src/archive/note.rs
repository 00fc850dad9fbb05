//! What is noted of an archive on the volume.

use super::Places;
use palladion_backup::archive::cursor::Cursor;
use palladion_backup::archive::next::Run;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, create_dir_all, read_dir, rename};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// Starts that are kept: segments of those before are long sent, or lost.
const RUNS: usize = 64;

/// How far it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Note {
    /// The repository.
    pub repository: String,
    /// The member.
    pub host: String,
    /// How far the journal is.
    pub cursor: Cursor,
    /// The segment with which the window began.
    pub start: i64,
    /// The segment that the journal is at is sent to its end.
    pub ended: bool,
    /// All segments of the window up to this one are: those that bring nothing, too.
    #[serde(default)]
    pub done: i64,
    /// Which tables of users were truncated, and when: what the server said last.
    pub truncated: BTreeMap<String, String>,
    /// The number of the ring's window.
    pub window: u64,
    /// The version of the schema that the newest entry names.
    pub schema_version: String,
}

/// The note, if it is of this journal.
///
/// # Errors
/// It cannot be read.
pub fn read(places: &Places, repository: &str, host: &str) -> Result<Option<Note>> {
    let note: Option<Note> = json(&places.note())?;
    Ok(note.filter(|note| (note.repository.as_str(), note.host.as_str()) == (repository, host)))
}

/// Write it; on return it survives a power cut.
///
/// # Errors
/// It cannot be written.
pub fn write(places: &Places, note: &Note) -> Result<()> {
    durable(&places.notes, &places.note(), &serde_json::to_vec(note).map_err(Error::other)?)
}

/// The starts of the server, in order.
///
/// # Errors
/// They cannot be read.
pub fn runs(places: &Places) -> Result<Vec<Run>> {
    Ok(json(&places.runs())?.unwrap_or_default())
}

/// Note that a server is about to be started: its segments have numbers above all that are there
/// or were sent.
///
/// # Errors
/// It cannot be noted; what the server writes then does not follow what it wrote before.
pub fn begin(places: &Places, tag: &str) -> Result<()> {
    let mut runs = runs(places)?;
    let mut numbers = BTreeSet::new();
    for folder in [&places.commitlog, &places.links] {
        for entry in read_dir(folder).into_iter().flatten() {
            numbers.extend(super::number(&entry?.file_name().to_string_lossy()));
        }
    }
    let note: Option<Note> = json(&places.note())?;
    numbers.extend(note.and_then(|note| note.cursor.at).map(|at| at.segment));
    numbers.extend(runs.last().map(|run| run.after));
    runs.push(Run { tag: tag.to_string(), after: numbers.last().copied().unwrap_or_default() });
    let from = runs.len().saturating_sub(RUNS);
    let text = serde_json::to_vec(&runs[from..]).map_err(Error::other)?;
    durable(&places.notes, &places.runs(), &text)
}

/// Nothing is archived any more: what waits goes, and the window that is open ends for this
/// reason.
///
/// # Errors
/// It cannot be noted, or a link stays.
pub fn ends(places: &Places, why: &str) -> Result<()> {
    breaks(places, why)?;
    gone(&places.limit())?;
    for (_, (path, _)) in super::link::waiting(places)? {
        gone(&path)?;
    }
    Ok(())
}

/// The window that is open ends, for this reason. Only where something was archived.
///
/// # Errors
/// It cannot be noted.
pub fn breaks(places: &Places, why: &str) -> Result<()> {
    if !places.note().exists() {
        return Ok(());
    }
    durable(&places.notes, &places.broken(), why.as_bytes())
}

/// Why it does.
pub(super) fn broken(places: &Places) -> Result<Option<String>> {
    text(&places.broken())
}

/// Segments that were dropped.
pub(super) fn dropped(places: &Places) -> Result<BTreeSet<i64>> {
    let lines = text(&places.dropped())?.unwrap_or_default();
    Ok(lines.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

/// So many bytes may wait; none is for `link` to say. Without this note it links nothing.
///
/// # Errors
/// It cannot be written.
pub fn limit(places: &Places, bytes: Option<u64>) -> Result<()> {
    let text = bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
    durable(&places.notes, &places.limit(), text.as_bytes())
}

/// What is not needed any more goes.
pub(super) fn gone(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let read = text(path)?;
    read.map(|text| serde_json::from_str(&text).map_err(Error::other)).transpose()
}

fn durable(folder: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    create_dir_all(folder)?;
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    rename(&new, path)?;
    File::open(folder)?.sync_all()
}
