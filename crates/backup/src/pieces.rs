//! Writing the components of one SSTable: large ones in pieces, each an object
//! that is written by one request; the small ones together in one pack.

use crate::hash::{Hash, Sum};
use crate::manifest::member::{File, Piece};
use crate::take::{Listed, Snapshot};
use crate::vault::Vault;
use crate::words::trouble::Trouble;

/// A component that is smaller goes into the pack of its SSTable.
pub const PACKED_BELOW: u64 = 1024 * 1024;
/// The length of pieces: one is held in memory, and written by one request.
pub const PIECE: u64 = 32 * 1024 * 1024;

/// Where the objects of one SSTable go.
pub struct Writer<'a> {
    vault: &'a Vault<'a>,
    folder: String,
    nonce: String,
    piece_bytes: u64,
    pack: Vec<u8>,
    packed: Vec<(File, u64)>,
}

impl<'a> Writer<'a> {
    /// For an SSTable whose objects are below `folder`. The nonce is new for
    /// every try, so a late answer of an old one changes nothing.
    pub fn new(vault: &'a Vault<'a>, folder: String, piece_bytes: u64) -> Self {
        let nonce = vault.random().nonce();
        let (pack, packed) = (Vec::new(), Vec::new());
        Self { vault, folder, nonce, piece_bytes, pack, packed }
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
                let name = format!("{number}.{}", pieces.len());
                pieces.push(self.object(&name, bytes)?);
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
        let object = format!("{}{name}~{}", self.folder, self.nonce);
        let bytes = plain.len() as u64;
        let stored = self.vault.sealed(&object, plain)?;
        self.vault.put_new(&object, &stored)?;
        let stored_sha256 = Hash::of(&stored);
        let stored_bytes = stored.len() as u64;
        Ok(Piece { object, at: 0, bytes, object_bytes: bytes, stored_bytes, stored_sha256 })
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
