//! A look at the commit log: which segments are there, and which bytes of them are new. Only
//! markers are read. What the server says is asked after it, so that no byte is of a later schema.

use super::note::{self, Note};
use super::{Places, link, number};
use palladion_backup::archive::cursor::Cursor;
use palladion_backup::archive::next::{Course, Scanned, There, Volume, course};
use palladion_backup::archive::scan::{Bytes, Found, scan};
use palladion_backup::words::trouble::Ends;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, read_dir};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What was found.
#[derive(Clone, Debug)]
pub struct Looked {
    /// When it was begun, in seconds since 1970.
    pub began: i64,
    /// When it had ended: all that was found was written before it.
    pub ended: i64,
    /// How far the journal is; the first one where nothing is noted.
    pub cursor: Cursor,
    /// What is noted.
    pub note: Option<Note>,
    /// What is there.
    pub volume: Volume,
    /// Which segments were read.
    pub course: Course,
    /// And what is new in them.
    pub scanned: Scanned,
    /// The commit log cannot be archived.
    pub ends: Option<Ends>,
    /// Bytes that wait in links.
    pub waits: u64,
}

/// Look.
///
/// # Errors
/// Something cannot be read; the next look may.
pub fn look(places: &Places, repository: &str, host: &str) -> Result<Looked> {
    let began = now()?;
    let note = note::read(places, repository, host)?;
    // The commit log first: what the server deletes meanwhile is linked by then.
    let mut there = names(&places.commitlog)?;
    let links = link::waiting(places)?;
    there.extend(links.iter().map(|(number, (path, _))| (*number, path.clone())));
    let mut volume = Volume {
        there: there
            .keys()
            .map(|number| There { number: *number, is_linked: links.contains_key(number) })
            .collect(),
        runs: note::runs(places)?,
        dropped: note::dropped(places)?,
        broken: note::broken(places)?,
        truncated: 0,
        done: note.as_ref().map_or(0, |note| note.done),
        goes_beyond: false,
    };
    let cursor = note.as_ref().map(|note| note.cursor.clone()).unwrap_or_default();
    let (start, ended) = note.as_ref().map_or((0, false), |note| (note.start, note.ended));
    let course = course(&volume, &cursor, start, ended);
    let (Course::GoesOn(all) | Course::Begins(_, all)) = &course;
    let (mut scanned, mut ends) = (Scanned::new(), None);
    for (number, from) in all {
        let Some(path) = there.get(number) else { continue };
        let file = Segment(opened(places, path)?);
        let length = file.0.metadata()?.len();
        match scan(&file, (*number, length), *from).map_err(Error::other)? {
            Found::Parts(parts) => scanned.push((*number, parts)),
            Found::NotPlain => ends = Some(Ends::NotPlain),
        }
    }
    let last = all.last().map(|(number, _)| *number);
    for (number, path) in there.iter().filter(|(number, _)| last.is_some_and(|l| **number > l)) {
        let file = Segment(opened(places, path)?);
        let length = file.0.metadata()?.len();
        let found = scan(&file, (*number, length), 0).map_err(Error::other)?;
        volume.goes_beyond |= found != Found::Parts(Vec::new());
    }
    let waits = links.values().map(|(_, bytes)| bytes).sum();
    // Begun second.
    let ended = now()? + 1;
    Ok(Looked { began, ended, cursor, note, volume, course, scanned, ends, waits })
}

fn now() -> Result<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::other)?;
    i64::try_from(now.as_secs()).map_err(Error::other)
}

fn names(folder: &Path) -> Result<BTreeMap<i64, PathBuf>> {
    let mut all = BTreeMap::new();
    let entries = match read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(all),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(number) = number(&name) {
            all.insert(number, path.clone());
        }
    }
    Ok(all)
}

/// A segment that the server has deleted meanwhile is where it was linked to.
pub(super) fn opened(places: &Places, path: &Path) -> Result<File> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            File::open(places.links.join(path.file_name().unwrap_or_default()))
        }
        opened => opened,
    }
}

/// Where a segment is.
pub(super) fn find(places: &Places, segment: i64) -> Result<PathBuf> {
    let links = link::waiting(places)?.remove(&segment).map(|(path, _)| path);
    let found =
        links.map_or_else(|| Ok(names(&places.commitlog)?.remove(&segment)), |p| Ok(Some(p)));
    found.and_then(|path: Option<PathBuf>| path.ok_or_else(|| ErrorKind::NotFound.into()))
}

struct Segment(File);

impl Bytes for Segment {
    fn at(&self, from: u64, bytes: usize) -> std::result::Result<Vec<u8>, String> {
        let mut read = vec![0; bytes];
        let mut filled = 0;
        while filled < bytes {
            let at = from + filled as u64;
            match self.0.read_at(&mut read[filled..], at) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        read.truncate(filled);
        Ok(read)
    }
}

/// Tables of users whose truncation is newer than what was noted.
pub fn is_truncated(
    noted: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    local: &BTreeSet<String>,
) -> bool {
    // The server truncates tables of its own at each start.
    now.iter().any(|(table, at)| !local.contains(table) && noted.get(table) != Some(at))
}

/// Segments up to this one may hold rows of users from before a truncation: a ring that replays
/// them does not know of it. 0 where none does.
///
/// # Errors
/// The table of which it is not known.
pub fn truncated_in(
    now: &BTreeMap<String, String>,
    local: &BTreeSet<String>,
) -> std::result::Result<i64, String> {
    let of_users = now.iter().filter(|(table, _)| !local.contains(*table));
    of_users
        .map(|(table, at)| segment(at).ok_or_else(|| table.clone()))
        .try_fold(0, |most, at| at.map(|at: i64| at.max(most)))
}

/// Of the place and the time of a truncation, as hexadecimal digits: a segment, a place in it, and
/// the time (`SystemKeyspace.truncationAsMapEntry`).
fn segment(at: &str) -> Option<i64> {
    let digits = at.strip_prefix("0x").filter(|digits| digits.len() == 40)?;
    let number = u64::from_str_radix(digits.get(..16)?, 16).ok()?;
    Some(i64::from_be_bytes(number.to_be_bytes()))
}
