//! What an upload notes on the volume that it reads: first the list of files, once
//! and for all, then each piece and each SSTable that the store has shown. A line
//! is on the disk before anything that relies on it: files are removed after it.

use crate::snapshot::Found;
use crate::words::stopped::Stopped;
use palladion_backup::manifest::member::{File, Piece};
use palladion_backup::manifest::ring::OfMember;
use palladion_backup::pieces::Notes;
use palladion_backup::take::Listed;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File as Open, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What a journal begins with.
const TITLE: &str = "palladion transfer 1";

/// A line of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Line {
    /// Whose it is.
    Begin { title: String, of: Of },
    /// A file that is to be sent.
    File(Found),
    /// The list ends: so many.
    Listed(u64),
    /// The manifest with this number is written, or was about to be.
    Checkpoint(u32),
    /// A piece that the store has shown.
    Piece { file: String, at: u64, piece: Piece },
    /// An SSTable that is in the store as a whole.
    Taken(Vec<File>),
    /// All is sent.
    Ended { checkpoint: u32, member: OfMember },
}

/// Whose a journal is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Of {
    /// The transfer.
    pub transfer: String,
    /// The backup.
    pub backup: String,
    /// The member.
    pub host: String,
    /// The snapshot.
    pub tag: String,
}

/// See the module.
pub struct Journal {
    path: PathBuf,
    open: RefCell<Open>,
    /// The files, sorted by SSTable.
    pub files: Vec<Found>,
    /// What is in the store, SSTable by SSTable in the order of the list.
    pub taken: Vec<File>,
    pieces: RefCell<BTreeMap<(String, u64), Piece>>,
    checkpoint: u32,
    /// How it ended.
    pub ended: Option<(u32, OfMember)>,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Stopped + '_ {
    let path = path.display().to_string();
    move |error| Stopped::Journal { path: path.clone(), why: error.to_string() }
}

/// Where the journal of a transfer is.
pub fn path(state: &Path, transfer: &str) -> PathBuf {
    state.join(format!("{transfer}.journal"))
}

impl Journal {
    /// Begin one with a list of files: it is there as a whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, of: &Of, files: Vec<Found>) -> Result<Self, Stopped> {
        let failed = failed(path);
        let new = path.with_extension("new");
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
            let mut out = BufWriter::new(Open::create(&new)?);
            let begin = Line::Begin { title: TITLE.into(), of: of.clone() };
            let lines = files.iter().cloned().map(Line::File);
            let count = Line::Listed(files.len() as u64);
            for line in [begin].into_iter().chain(lines).chain([count]) {
                out.write_all(&text(&line)?)?;
            }
            out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(&new, path)?;
            Open::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
        };
        write().map_err(&failed)?;
        let open = OpenOptions::new().append(true).open(path).map_err(&failed)?;
        Ok(Self::at(path, open, files))
    }

    fn at(path: &Path, open: Open, files: Vec<Found>) -> Self {
        let (open, pieces) = (RefCell::new(open), RefCell::default());
        let (path, taken) = (path.to_path_buf(), Vec::new());
        Self { path, open, files, taken, pieces, checkpoint: 0, ended: None }
    }

    /// Read one; `None` if this transfer has not begun yet.
    ///
    /// # Errors
    /// It is of another transfer, or cannot be read.
    pub fn open(path: &Path, of: &Of) -> Result<Option<Self>, Stopped> {
        let failed = failed(path);
        let file = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let shown = path.display().to_string();
        let mut journal = Self::at(path, file.try_clone().map_err(&failed)?, Vec::new());
        let (mut reader, mut whole, mut number) = (BufReader::new(&file), 0, 0);
        let (mut line, mut is_listed) = (Vec::new(), false);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(&failed)?;
            // A line that was cut off by a crash was relied on by nobody.
            if line.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            whole += read as u64;
            let damaged = || Stopped::JournalDamaged { path: shown.clone(), line: number };
            let parsed = serde_json::from_slice(&line).map_err(|_| damaged())?;
            match parsed {
                Line::Begin { title, of: found } if number == 1 => {
                    if title != TITLE || found != *of {
                        return Err(Stopped::OtherJournal { path: shown });
                    }
                }
                Line::File(found) if !is_listed && number > 1 => journal.files.push(found),
                Line::Listed(count) if !is_listed && count == journal.files.len() as u64 => {
                    is_listed = true;
                }
                Line::Checkpoint(checkpoint) if is_listed => journal.checkpoint = checkpoint,
                Line::Piece { file, at, piece } if is_listed => {
                    journal.pieces.borrow_mut().insert((file, at), piece);
                }
                Line::Taken(files) if is_listed => journal.keep(files),
                Line::Ended { checkpoint, member } if is_listed => {
                    journal.ended = Some((checkpoint, member));
                }
                Line::Begin { .. }
                | Line::File(_)
                | Line::Listed(_)
                | Line::Checkpoint(_)
                | Line::Piece { .. }
                | Line::Taken(_)
                | Line::Ended { .. } => return Err(damaged()),
            }
        }
        if !is_listed {
            return Err(Stopped::JournalDamaged { path: shown, line: number + 1 });
        }
        file.set_len(whole).and_then(|()| file.sync_all()).map_err(&failed)?;
        Ok(Some(journal))
    }

    fn append(&self, line: &Line) -> Result<(), Stopped> {
        let mut open = self.open.borrow_mut();
        let written = text(line).and_then(|text| open.write_all(&text));
        written.and_then(|()| open.sync_data()).map_err(failed(&self.path))
    }

    fn keep(&mut self, files: Vec<File>) {
        // Its pieces are in the files; the next SSTable has others.
        self.pieces.borrow_mut().clear();
        self.taken.extend(files);
    }

    /// An SSTable is in the store.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn take(&mut self, files: Vec<File>) -> Result<(), Stopped> {
        self.append(&Line::Taken(files.clone()))?;
        self.keep(files);
        Ok(())
    }

    /// A number for the next manifest, which no earlier try has used.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn next_checkpoint(&mut self) -> Result<u32, Stopped> {
        self.append(&Line::Checkpoint(self.checkpoint + 1))?;
        self.checkpoint += 1;
        Ok(self.checkpoint)
    }

    /// All is sent.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn end(&mut self, checkpoint: u32, member: OfMember) -> Result<(), Stopped> {
        self.append(&Line::Ended { checkpoint, member: member.clone() })?;
        self.ended = Some((checkpoint, member));
        Ok(())
    }
}

fn text(line: &Line) -> std::io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line).map_err(std::io::Error::other)?;
    text.push(b'\n');
    Ok(text)
}

fn key(file: &Listed) -> String {
    format!("{}/{}", file.table_id, file.name())
}

impl Notes for Journal {
    fn sent(&self, file: &Listed, at: u64) -> Option<Piece> {
        self.pieces.borrow().get(&(key(file), at)).cloned()
    }

    fn note(&self, file: &Listed, at: u64, piece: &Piece) -> Result<(), String> {
        let line = Line::Piece { file: key(file), at, piece: piece.clone() };
        self.append(&line).map_err(|stopped| stopped.to_string())?;
        self.pieces.borrow_mut().insert((key(file), at), piece.clone());
        Ok(())
    }
}
