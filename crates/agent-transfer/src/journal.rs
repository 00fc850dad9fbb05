//! What an upload notes on the volume that it reads: first the list of files, once
//! and for all, then each piece and each SSTable that the store has shown. A line
//! is on the disk before anything that relies on it: files are removed after it.

use crate::counted::Counted;
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

/// Is given each file of a list.
pub type Each<'a> = &'a mut dyn FnMut(Found) -> Result<(), Stopped>;

/// What a journal begins with.
const TITLE: &str = "palladion-transfer 1";

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
    /// An SSTable that is in the store as a whole, and how it came there.
    Taken { files: Vec<File>, counted: Counted },
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
    /// So many files are listed.
    pub listed: u64,
    /// So many of them are in the store: the first of the list.
    pub taken: u64,
    /// How they came there.
    pub counted: Counted,
    pieces: RefCell<BTreeMap<(String, u64), Piece>>,
    checkpoint: u32,
    /// How it ended.
    pub ended: Option<(u32, OfMember)>,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Stopped + '_ {
    let path = path.display().to_string();
    move |error| Stopped::Journal { path: path.clone(), why: error.to_string() }
}

/// Where the journal of a transfer is, whatever its ID has in it: a journal says itself
/// whose it is.
pub fn path(state: &Path, transfer: &str) -> PathBuf {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
    let name: String = transfer.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    state.join(format!("{name}.journal"))
}

impl Journal {
    /// Begin one with a list of files: it is there as a whole or not at all.
    ///
    /// # Errors
    /// It cannot be written, or what `list` says.
    pub fn create(
        path: &Path,
        of: &Of,
        list: impl FnOnce(Each<'_>) -> Result<(), Stopped>,
    ) -> Result<Self, Stopped> {
        let failed = failed(path);
        let (new, folder) = (path.with_extension("new"), path.parent().unwrap_or(Path::new("/")));
        std::fs::create_dir_all(folder).map_err(&failed)?;
        let mut out = BufWriter::new(Open::create(&new).map_err(&failed)?);
        let mut write = |line: &Line| text(line).and_then(|text| out.write_all(&text));
        write(&Line::Begin { title: TITLE.into(), of: of.clone() }).map_err(&failed)?;
        let mut listed = 0;
        list(&mut |found| {
            listed += 1;
            write(&Line::File(found)).map_err(&failed)
        })?;
        write(&Line::Listed(listed)).map_err(&failed)?;
        let end = || -> std::io::Result<Open> {
            out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(&new, path)?;
            Open::open(folder)?.sync_all()?;
            OpenOptions::new().append(true).open(path)
        };
        let open = end().map_err(&failed)?;
        Ok(Self { listed, ..Self::at(path, open) })
    }

    fn at(path: &Path, open: Open) -> Self {
        let (open, pieces) = (RefCell::new(open), RefCell::default());
        let (path, counted) = (path.to_path_buf(), Counted::default());
        Self { path, open, listed: 0, taken: 0, counted, pieces, checkpoint: 0, ended: None }
    }

    /// The list, file by file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn files(&self) -> Result<impl Iterator<Item = Result<Found, Stopped>> + use<>, Stopped> {
        let lines = self.lines()?;
        Ok(lines.filter_map(|line| match line {
            Ok(Line::File(found)) => Some(Ok(found)),
            Ok(_) => None,
            Err(stopped) => Some(Err(stopped)),
        }))
    }

    /// What is in the store, in the order of manifests.
    ///
    /// # Errors
    /// It cannot be read, or what `each` says.
    pub fn each_taken(
        &self,
        mut each: impl FnMut(&File) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        for line in self.lines()? {
            if let Line::Taken { files, .. } = line? {
                files.iter().try_for_each(&mut each)?;
            }
        }
        Ok(())
    }

    fn lines(&self) -> Result<impl Iterator<Item = Result<Line, Stopped>> + use<>, Stopped> {
        let path = self.path.clone();
        let reader = BufReader::new(Open::open(&path).map_err(failed(&path))?);
        Ok(reader.lines().zip(1..).map(move |(line, number)| {
            let line = line.map_err(failed(&path))?;
            let shown = path.display().to_string();
            serde_json::from_str(&line)
                .map_err(|_| Stopped::JournalDamaged { path: shown, line: number })
        }))
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
        let mut journal = Self::at(path, file.try_clone().map_err(&failed)?);
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
                Line::File(_) if !is_listed && number > 1 => journal.listed += 1,
                Line::Listed(count) if !is_listed && count == journal.listed => {
                    is_listed = true;
                }
                Line::Checkpoint(checkpoint) if is_listed => journal.checkpoint = checkpoint,
                Line::Piece { file, at, piece } if is_listed => {
                    journal.pieces.borrow_mut().insert((file, at), piece);
                }
                Line::Taken { files, counted } if is_listed => journal.keep(&files, counted),
                Line::Ended { checkpoint, member } if is_listed => {
                    journal.ended = Some((checkpoint, member));
                }
                Line::Begin { .. }
                | Line::File(_)
                | Line::Listed(_)
                | Line::Checkpoint(_)
                | Line::Piece { .. }
                | Line::Taken { .. }
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

    fn keep(&mut self, files: &[File], counted: Counted) {
        // Its pieces are in the files; the next SSTable has others.
        self.pieces.borrow_mut().clear();
        self.taken += files.len() as u64;
        self.counted.add(counted);
    }

    /// An SSTable is in the store.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn take(&mut self, files: Vec<File>, counted: Counted) -> Result<(), Stopped> {
        let line = Line::Taken { files, counted };
        self.append(&line)?;
        if let Line::Taken { files, .. } = &line {
            self.keep(files, counted);
        }
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
