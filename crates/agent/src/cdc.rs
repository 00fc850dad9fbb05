//! Segments of the commit log that wait for readers of changes: what is in their directory, and what
//! of it no server will ever go on with. The contract with readers is in
//! `docs/how-to/change-data-capture.md`.

mod index;
pub mod told;

use crate::decide::Process;
use crate::volume::judge::has_left;
use crate::volume::ledger::{Ledger, Membership};
use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_api::member::CassandraMemberSpec;
use rustix::fs::Access;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

/// Its files are for the group, too, and new ones get the group of the directory.
const MODE: u32 = 0o2770;
/// Ending of a segment.
const SEGMENT: &str = ".log";
/// Ending of the index beside it, which is there once the segment has a change.
const INDEX: &str = "_cdc.idx";

/// What is in the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Segments with changes.
    pub segments: u32,
    /// Those of them to which nothing is added any more.
    pub complete: u32,
    /// Bytes of all files: what the server compares with its limit.
    pub bytes: u64,
    /// Bytes of the complete ones: what a reader could have read.
    pub unread: u64,
    /// Bytes of the largest file: room for less is room for no other segment.
    pub largest: u64,
    /// When the oldest complete one became so.
    pub oldest: Option<SystemTime>,
}

/// Look at the directory. One that is not there is empty.
///
/// # Errors
/// It cannot be read.
pub fn look(directory: &Path) -> Result<Seen> {
    let mut seen = Seen::default();
    let all = files(directory)?;
    for (name, metadata) in &all {
        seen.bytes = seen.bytes.saturating_add(metadata.len());
        seen.largest = seen.largest.max(metadata.len());
        let Some(segment) = segment_of(name, INDEX) else { continue };
        let Some(log) = all.get(&format!("{segment}{SEGMENT}")) else {
            continue; // The reader has deleted the segment, and its index comes next.
        };
        seen.segments += 1;
        if index::is_complete(&directory.join(name))? {
            seen.complete += 1;
            seen.unread = seen.unread.saturating_add(log.len());
            let at = metadata.modified().ok();
            seen.oldest = [seen.oldest, at].into_iter().flatten().min();
        }
    }
    Ok(seen)
}

/// Will a server go on with the volume?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// One runs, or starts and replays its commit log.
    Starts,
    /// One may, and keeps nothing for readers: change data capture was turned off.
    Off,
    /// None does: the member has left the ring, or was leaving it when its server ended. One that
    /// comes back to leave again replays its commit log, and goes on with other segments.
    Ended,
}

/// See [`Rest`].
pub fn rest(
    process: &Process,
    ledger: Option<&Ledger>,
    spec: Option<&CassandraMemberSpec>,
    keeps: Keeps,
) -> Rest {
    let leaves = ledger.is_some_and(|ledger| {
        matches!(ledger.membership, Membership::Leaving { .. })
            || spec.is_some_and(|spec| has_left(ledger, spec))
    });
    match (leaves && *process == Process::Absent, keeps) {
        (true, _) => Rest::Ended,
        (false, Keeps::Changes) => Rest::Starts,
        (false, Keeps::Nothing) => Rest::Off,
    }
}

/// What a server is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// It keeps changes for readers.
    Changes,
    /// It did once, on this volume.
    Nothing,
}

/// While no server runs: what readers would wait for without end is ended, and what has no change is
/// removed. A server does both when it lets go of a segment, and when it replays one. It does
/// neither of a segment that was open at its end, and of the last ones of a leaver, which it does
/// not complete by a flush, a drain or its end (5.0.5, tried).
///
/// # Errors
/// A file cannot be read, written or removed. The others are settled.
pub fn settle(directory: &Path, commit_log: &Path, part: &Path, rest: Rest) -> Result<()> {
    let of_the_log: BTreeSet<String> = match rest {
        Rest::Starts => files(commit_log)?.into_keys().collect(),
        Rest::Ended | Rest::Off => BTreeSet::new(),
    };
    let all = files(directory)?;
    let mut settled = Ok(());
    for (name, metadata) in &all {
        let Some(segment) = segment_of(name, SEGMENT) else { continue };
        // The server replays it at its start, and settles it then.
        if of_the_log.contains(name) {
            continue;
        }
        let index = format!("{segment}{INDEX}");
        let one = match all.contains_key(&index) {
            false => remove(&directory.join(name)),
            true => end(&directory.join(index), part, metadata.len()),
        };
        settled = settled.and(one);
    }
    settled
}

/// As the server says it of a segment that it has replayed: all of the file.
fn end(index: &Path, part: &Path, length: u64) -> Result<()> {
    if !index::is_complete(index)? {
        return index::complete(index, part, length);
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    or_gone(fs::remove_file(path))
        .with_context(|| Doing::Remove { path: path.display().to_string() })
}

/// `CommitLog-<format>-<number>`, where the name is that of a segment with this ending. Other files
/// are none of the server's.
fn segment_of<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let segment = name.strip_suffix(ending)?;
    let (format, number) = segment.strip_prefix("CommitLog-")?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(format) && is_number(number)).then_some(segment)
}

/// Make the directory, and keep it from everybody but the server and its group, which must not
/// write to files that it reads. One that the kubelet has made for a reader is not ours to change,
/// and has the mode of the volume.
///
/// # Errors
/// It cannot be made, or its mode cannot be set.
pub fn prepare(directory: &Path) -> Result<()> {
    let path = || directory.display().to_string();
    fs::create_dir_all(directory).with_context(|| Doing::CreateDirectory { path: path() })?;
    let own = rustix::process::geteuid().as_raw();
    let metadata = fs::metadata(directory).with_context(|| Doing::Inspect { path: path() })?;
    if metadata.uid() == own && metadata.mode() & 0o7777 != MODE {
        let mode = fs::Permissions::from_mode(MODE);
        fs::set_permissions(directory, mode).with_context(|| Doing::Write { path: path() })?;
    }
    // One that a kubelet has made on a volume without a group is root's: no server links into it.
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| Doing::Write { path: path() })?;
    for (name, metadata) in files(directory)? {
        // A kubelet that gives a volume to its group lets that write to every file.
        if metadata.uid() == own && metadata.mode() & 0o022 != 0 {
            let file = directory.join(name);
            let mode = fs::Permissions::from_mode(metadata.mode() & 0o7755);
            let set = index::open(&file).and_then(|file| file.set_permissions(mode));
            or_gone(set).with_context(|| Doing::Write { path: file.display().to_string() })?;
        }
    }
    Ok(())
}

/// Files by name. What a reader deletes meanwhile is gone.
fn files(directory: &Path) -> Result<BTreeMap<String, fs::Metadata>> {
    let doing = || Doing::List { path: directory.display().to_string() };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error).with_context(doing),
    };
    let mut all = BTreeMap::new();
    for entry in entries {
        let entry = entry.with_context(doing)?;
        let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else {
            continue;
        };
        if metadata.is_file() {
            all.insert(name, metadata);
        }
    }
    Ok(all)
}

fn or_gone(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
