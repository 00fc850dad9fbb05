//! Segments of the commit log that wait for readers of changes: what is in their directory, and what
//! of it no server will ever go on with. The contract with readers is in
//! `docs/how-to/change-data-capture.md`.

pub mod told;

use crate::decide::Process;
use crate::volume::judge::has_left;
use crate::volume::ledger::{Ledger, Membership};
use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_api::member::CassandraMemberSpec;
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
/// What the server writes below the offset when it has written all of a segment.
const COMPLETED: &str = "COMPLETED";

/// What is in the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Segments with changes.
    pub segments: u32,
    /// Those of them to which nothing is added any more.
    pub complete: u32,
    /// Bytes of all files.
    pub bytes: u64,
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
    for (name, metadata) in files(directory)? {
        seen.bytes = seen.bytes.saturating_add(metadata.len());
        seen.largest = seen.largest.max(metadata.len());
        let Some(segment) = name.strip_suffix(INDEX) else { continue };
        if !directory.join(format!("{segment}{SEGMENT}")).exists() {
            continue; // The reader has deleted the segment, and its index comes next.
        }
        seen.segments += 1;
        if is_complete(&directory.join(&name))? {
            seen.complete += 1;
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
    /// None does: the member has left the ring, or was leaving it when its server ended. One that
    /// comes back to leave again replays its commit log, and goes on with other segments.
    Ended,
}

/// See [`Rest`].
pub fn rest(
    process: &Process,
    ledger: Option<&Ledger>,
    spec: Option<&CassandraMemberSpec>,
) -> Rest {
    let leaves = ledger.is_some_and(|ledger| {
        matches!(ledger.membership, Membership::Leaving { .. })
            || spec.is_some_and(|spec| has_left(ledger, spec))
    });
    match leaves && *process == Process::Absent {
        true => Rest::Ended,
        false => Rest::Starts,
    }
}

/// While no server runs: what readers would wait for without end is ended, and what has no change is
/// removed. A server does both when it lets go of a segment, and when it replays one. It does
/// neither of a segment that was open at its end, and of the last ones of a leaver, which it does
/// not complete by a flush, a drain or its end (5.0.5, tried).
///
/// # Errors
/// A file cannot be read, written or removed. What was done until then stays.
pub fn settle(directory: &Path, commit_log: &Path, rest: Rest) -> Result<()> {
    let of_the_log: BTreeSet<String> = match rest {
        Rest::Starts => files(commit_log)?.into_keys().collect(),
        Rest::Ended => BTreeSet::new(),
    };
    let all = files(directory)?;
    for (name, metadata) in &all {
        let Some(segment) = name.strip_suffix(SEGMENT) else { continue };
        // The server replays it at its start, and settles it then.
        if of_the_log.contains(name) {
            continue;
        }
        let path = directory.join(name);
        let index = directory.join(format!("{segment}{INDEX}"));
        if !all.contains_key(&format!("{segment}{INDEX}")) {
            let gone = fs::remove_file(&path);
            or_gone(gone).with_context(|| Doing::Remove { path: path.display().to_string() })?;
        } else if !is_complete(&index)? && index.exists() {
            // As the server says it of one that it has replayed: all of the file.
            complete(&index, metadata.len())?;
        }
    }
    Ok(())
}

fn complete(index: &Path, offset: u64) -> Result<()> {
    let part = index.with_extension("part");
    let doing = |path: &Path| Doing::Write { path: path.display().to_string() };
    fs::write(&part, format!("{offset}\n{COMPLETED}")).with_context(|| doing(&part))?;
    fs::rename(&part, index).with_context(|| doing(index))
}

fn is_complete(index: &Path) -> Result<bool> {
    match fs::read_to_string(index) {
        Ok(text) => Ok(text.lines().nth(1).is_some_and(|line| line.trim() == COMPLETED)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| Doing::Read { path: index.display().to_string() }),
    }
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
    for (name, metadata) in files(directory)? {
        // A kubelet that gives a volume to its group lets that write to every file.
        if metadata.uid() == own && metadata.mode() & 0o022 != 0 {
            let file = directory.join(name);
            let mode = fs::Permissions::from_mode(metadata.mode() & 0o7755);
            or_gone(fs::set_permissions(&file, mode))
                .with_context(|| Doing::Write { path: file.display().to_string() })?;
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
