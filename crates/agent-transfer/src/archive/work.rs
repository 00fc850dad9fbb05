//! The child's part: it writes what a look comes to, and notes each entry before the next.

use super::note::{self, Note};
use super::{Places, look, number};
use crate::orders::archive::{Archive, SchemaSaid};
use crate::tell::Done;
use crate::words::stopped::Stopped;
use palladion_backup::archive::cursor::{Cursor, Of, lost};
use palladion_backup::archive::next::{Step, Volume};
use palladion_backup::archive::send::{self, Read, Segments, Sent};
use palladion_backup::finish;
use palladion_backup::vault::Vault;
use palladion_backup::words::trouble::Ends;
use rustix::fs::{Advice, fadvise};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Do it.
///
/// # Errors
/// A segment cannot be read, or the store failed. What was noted until then is done.
pub fn archive(vault: &Vault<'_>, order: &Archive) -> Result<Done, Stopped> {
    let (mut cursor, steps) = begun(vault, order)?;
    let disk = Disk::new(order, &cursor)?;
    let schema = match &order.schema {
        SchemaSaid::Known(schema) => schema.clone(),
        SchemaSaid::File(file) => finish::write_schema(vault, &read(file)?)?,
    };
    let of = Of {
        repository: vault.repository().id.clone(),
        host: order.host.clone(),
        until: order.until,
        since: order.since,
        found: order.found,
        loss: order.loss,
        schema,
        tokens_hash: order.tokens_hash.clone(),
        ring: order.ring.clone(),
        version: order.version.clone(),
    };
    let is_all = order.is_all && steps == order.steps;
    let sent = send::send(vault, &mut cursor, (&of, &steps, is_all), &disk)?;
    match sent {
        Sent::All if steps == order.steps => end(order, &disk)?,
        // Another look goes on behind it.
        Sent::All | Sent::Adopted => {}
    }
    Ok(Done::Archived { entries: cursor.number, is_all: is_all && sent == Sent::All })
}

/// How far the journal is, and what is written: where the note is lost, first that it is.
fn begun(vault: &Vault<'_>, order: &Archive) -> Result<(Cursor, Vec<Step>), Stopped> {
    if let Some(note) = &order.note {
        return Ok((note.cursor.clone(), order.steps.clone()));
    }
    let cursor = lost(vault, &order.host)?;
    let why = || Ends::LostNote.to_string();
    let steps = match cursor.since {
        Some(_) => vec![Step::Gap { why: why() }],
        None => order.steps.clone(),
    };
    Ok((cursor, steps))
}

fn read(file: &Path) -> Result<Vec<u8>, Stopped> {
    std::fs::read(file).map_err(|error| Stopped::Reading {
        file: file.display().to_string(),
        why: error.to_string(),
    })
}

/// All is sent: links of segments that are go, once that is noted.
fn end(order: &Archive, disk: &Disk<'_>) -> Result<(), Stopped> {
    let places = &order.places;
    let failed = unwritten(places);
    let mut note = disk.note.borrow().clone();
    let at = note.cursor.at.as_ref().map(|at| at.segment);
    note.done = note.done.max(order.sent.last().copied().unwrap_or_default());
    note.ended |= at.is_some_and(|segment| order.sent.contains(&segment));
    if note != *disk.note.borrow() || order.steps.is_empty() {
        note::write(places, &note).map_err(&failed)?;
    }
    for (number, (path, _)) in super::link::waiting(places).map_err(&failed)? {
        if order.sent.contains(&number) {
            note::gone(&path).map_err(&failed)?;
        }
    }
    let is_other = |step: &Step| matches!(step, Step::Gap { .. } | Step::Opening { .. });
    // One that came after the look ends the window that has opened.
    if order.steps.iter().any(is_other) && note::broken(places).map_err(&failed)? == order.broken {
        note::gone(&places.broken()).map_err(&failed)?;
    }
    Ok(())
}

fn unwritten(places: &Places) -> impl Fn(std::io::Error) -> Stopped + '_ {
    let path = places.notes.display().to_string();
    move |error| Stopped::Journal { path: path.clone(), why: error.to_string() }
}

struct Disk<'a> {
    places: &'a Places,
    runs: Volume,
    note: RefCell<Note>,
    /// What was known when the entry before was written: of truncations, and the ring's window.
    earlier: (BTreeMap<String, String>, u64),
}

impl<'a> Disk<'a> {
    fn new(order: &'a Archive, cursor: &Cursor) -> Result<Self, Stopped> {
        let places = &order.places;
        let runs = note::runs(places).map_err(unwritten(places))?;
        let opens = order.steps.iter().find_map(|step| match step {
            Step::Opening { segment } => Some(*segment),
            Step::Gap { .. } | Step::Part { .. } | Step::Rest => None,
        });
        let noted = order.note.as_ref();
        let note = Note {
            repository: order.repository.clone(),
            host: order.host.to_string(),
            cursor: cursor.clone(),
            start: opens.or(noted.map(|note| note.start)).unwrap_or_default(),
            ended: noted.is_some_and(|note| note.ended),
            // Of what a window begins with, nothing is sent.
            done: opens.map_or(noted.map_or(0, |note| note.done), |segment| segment - 1),
            truncated: order.truncated.clone(),
            window: order.window,
            schema_version: order.schema_version.clone(),
        };
        let runs = Volume { runs, ..Volume::default() };
        let earlier = noted.map(|note| (note.truncated.clone(), note.window)).unwrap_or_default();
        Ok(Self { places, runs, note: RefCell::new(note), earlier })
    }
}

impl Segments for Disk<'_> {
    fn read(&self, segment: i64, from: u64, to: u64) -> Result<Read, String> {
        let read = || -> std::io::Result<Read> {
            let path = look::find(self.places, segment)?;
            let file = look::opened(self.places, &path)?;
            let length = usize::try_from(to - from).map_err(std::io::Error::other)?;
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, from)?;
            // What was read once is not read again: the database needs the memory.
            let _ = fadvise(&file, from, NonZeroU64::new(to - from), Advice::DontNeed);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            debug_assert_eq!(number(&name), Some(segment), "a segment is where its name says");
            let (file_bytes, run) = (file.metadata()?.len(), self.runs.run(segment).to_string());
            Ok(Read { bytes, file: name, file_bytes, run })
        };
        read().map_err(|error| error.to_string())
    }

    fn note(&self, cursor: &Cursor, sent: Sent) -> Result<(), String> {
        let mut note = self.note.borrow_mut();
        if sent == Sent::Adopted {
            // What has happened since then may have to end the window still.
            (note.truncated, note.window) = self.earlier.clone();
            note.schema_version = String::new();
            // With which segment an opening of an earlier try began is not known.
            if cursor.since.is_some() && cursor.at.is_none() {
                note.start = 0;
            }
        }
        note.ended &= note.cursor.at == cursor.at;
        note.cursor = cursor.clone();
        note::write(self.places, &note).map_err(|error| error.to_string())
    }
}
