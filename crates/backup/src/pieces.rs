//! Writing the components of one SSTable: large ones in pieces, each an object
//! that is written by one request; the small ones together in one pack. A piece
//! that a try before this one has sent and noted is read again, as the file's
//! sums need its bytes, and not sent again.

use crate::hash::{Hash, Sum};
use crate::manifest::member::{File, Piece};
use crate::take::{Listed, Snapshot};
use crate::vault::{Vault, object};
use crate::words::trouble::{Trouble, Wrong};

/// A component that is smaller goes into the pack of its SSTable.
pub const PACKED_BELOW: u64 = 1024 * 1024;
/// The length of pieces: one is held in memory, and written by one request.
pub const PIECE: u64 = 32 * 1024 * 1024;

/// What is noted of pieces, so that a try after this one goes on behind them.
pub trait Notes {
    /// The piece of a file that begins here, if it was sent and noted.
    fn sent(&self, file: &Listed, at: u64) -> Option<Piece>;

    /// It is sent, and the store has shown it.
    ///
    /// # Errors
    /// It cannot be noted.
    fn note(&self, file: &Listed, at: u64, piece: &Piece) -> Result<(), String>;
}

/// For who begins anew after each failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNotes;

impl Notes for NoNotes {
    fn sent(&self, _: &Listed, _: u64) -> Option<Piece> {
        None
    }

    fn note(&self, _: &Listed, _: u64, _: &Piece) -> Result<(), String> {
        Ok(())
    }
}

/// Where the objects of one SSTable go.
pub struct Writer<'a> {
    vault: &'a Vault<'a>,
    folder: String,
    nonce: String,
    piece_bytes: u64,
    notes: &'a dyn Notes,
    pack: Vec<u8>,
    packed: Vec<(File, u64)>,
}

impl<'a> Writer<'a> {
    /// For an SSTable whose objects are below `folder`. The nonce is new for
    /// every try, so a late answer of an old one changes nothing.
    pub fn new(
        vault: &'a Vault<'a>,
        folder: String,
        (piece_bytes, notes): (u64, &'a dyn Notes),
    ) -> Self {
        let nonce = vault.random().nonce();
        let (pack, packed) = (Vec::new(), Vec::new());
        Self { vault, folder, nonce, piece_bytes, notes, pack, packed }
    }

    /// Write a component; a small one is kept until [`end`](Self::end).
    ///
    /// # Errors
    /// It cannot be read, has rotted, or cannot be written.
    pub fn add(
        &mut self,
        (number, listed): (usize, &Listed),
        snapshot: &dyn Snapshot,
    ) -> Result<Option<File>, Trouble> {
        let (mut sum, mut pieces, mut at) = (Sum::default(), Vec::new(), 0);
        let is_packed = listed.bytes < PACKED_BELOW;
        let packed_at = self.pack.len() as u64;
        while at < listed.bytes {
            let bytes = read(snapshot, listed, at, self.piece_bytes.min(listed.bytes - at))?;
            sum.add(&bytes);
            at += bytes.len() as u64;
            if is_packed {
                self.pack.extend_from_slice(&bytes);
            } else {
                let from = at - bytes.len() as u64;
                let name = format!("{number}.{}", pieces.len());
                pieces.push(self.piece((&name, listed), from, bytes)?);
            }
        }
        let (sha256, crc32) = sum.end();
        if let (Some(expected), "Data.db") = (listed.identity.digest, listed.component.as_str())
            && expected != crc32
        {
            return Err(Trouble::Rotten { file: listed.name(), expected, found: crc32 });
        }
        let file = listed.file(sha256, pieces);
        match is_packed && listed.bytes > 0 {
            true => {
                self.packed.push((file, packed_at));
                Ok(None)
            }
            false => Ok(Some(file)),
        }
    }

    /// Write a piece, unless it is noted as sent.
    fn piece(
        &self,
        (name, listed): (&str, &Listed),
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<Piece, Trouble> {
        let length = bytes.len() as u64;
        let noted = self.notes.sent(listed, at);
        let is_right = |piece: &Piece| piece.bytes == length && self.vault.opens(piece.key);
        if let Some(piece) = noted.filter(is_right) {
            return Ok(piece);
        }
        let piece = self.object(name, bytes)?;
        let unnoted = |why| Trouble::Unnoted { file: listed.name(), why };
        self.notes.note(listed, at, &piece).map_err(unnoted)?;
        Ok(piece)
    }

    /// Write the pack; its files.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(mut self) -> Result<Vec<File>, Trouble> {
        if self.pack.is_empty() {
            return Ok(Vec::new());
        }
        let pack = std::mem::take(&mut self.pack);
        let whole = self.object("pack", pack)?;
        let with_piece = |(mut file, at): (File, u64)| {
            file.pieces = vec![Piece { at, bytes: file.bytes, ..whole.clone() }];
            file
        };
        Ok(self.packed.into_iter().map(with_piece).collect())
    }

    /// Write an object; the piece that is all of it.
    fn object(&self, name: &str, plain: Vec<u8>) -> Result<Piece, Trouble> {
        let name = format!("{}{name}~{}", self.folder, self.nonce);
        let bytes = plain.len() as u64;
        let stored = self.vault.sealed(&name, plain)?;
        self.vault.put_new(&name, &stored)?;
        let stored_sha256 = Hash::of(&stored);
        let stored_bytes = stored.len() as u64;
        let found = self.vault.head(&name)?.ok_or_else(|| object(&name, Wrong::Absent))?;
        if found.bytes != stored_bytes {
            let size = Wrong::Size { stored: found.bytes, expected: stored_bytes };
            return Err(object(&name, size));
        }
        let (object, object_bytes, key) = (name, bytes, self.vault.seals_with());
        Ok(Piece { object, at: 0, bytes, object_bytes, stored_bytes, stored_sha256, key })
    }
}

fn read(snapshot: &dyn Snapshot, file: &Listed, at: u64, bytes: u64) -> Result<Vec<u8>, Trouble> {
    let source = |why: String| Trouble::Source { file: file.name(), why };
    let read = snapshot.read(file, at, bytes).map_err(source)?;
    match read.len() as u64 == bytes {
        true => Ok(read),
        false => Err(source(format!("{} bytes at {at} instead of {bytes}", read.len()))),
    }
}
