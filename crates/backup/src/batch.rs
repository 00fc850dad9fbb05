//! Brings the SSTables of some tables of one member, a batch at a time, for a server that loads
//! them: in the order of the manifest, each under a number of the batch, so that a server takes
//! the name whatever IDs it uses. Every byte is hashed. Of an index nothing is brought: where a
//! ring has one it is built from the rows. Before anything is changed for them it is [`found`] whether
//! the store has them.

use crate::fetch::{Last, Sink, Target, part};
use crate::hash::Sum;
use crate::manifest::member::{File, Member, Piece, files};
use crate::manifest::ring::{self, OfMember, RingManifest};
use crate::vault::Vault;
use crate::verify::{ReadFailure, size};
use crate::words::trouble::{Trouble, Unloadable, Unsealed, Wrong};
use std::collections::{BTreeMap, BTreeSet};

/// Where the files of a table go, by keyspace and name in the backup: a folder; `None` where
/// the table is not wanted.
pub type Into<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// SSTables, and their length as they are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub sstables: u64,
    /// Their length, in bytes.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.sstables += 1;
        self.bytes += bytes;
    }
}

/// Which SSTables of those that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// So many were brought before.
    pub skip: u64,
    /// Bytes, at the most; one SSTable that is longer is brought by itself.
    pub limit: u64,
    /// And if it is longer than this, it is not: the database needs the rest of the volume.
    pub room: u64,
}

/// What was brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// By this batch.
    pub now: Amount,
    /// What there is of the tables, from the first batch to the last.
    pub all: Amount,
}

/// What a member of a backup has.
#[derive(Clone, Debug)]
pub struct Found {
    /// Of the tables that are wanted.
    pub amount: Amount,
    /// What it was.
    pub member: Member,
    /// Keyspaces of which it has files, wanted or not.
    pub keyspaces: BTreeSet<String>,
}

/// What a member has of the tables that are wanted, if the store has it: every object is there, in
/// its length, and its key is. Nothing may be changed for a restore that finds out only later that
/// it has nothing to load. Tables that are brought beside those are looked for with them.
///
/// # Errors
/// Its manifest cannot be read, or is not the one that the ring's names; an object is not there; or
/// the store failed.
pub fn found(
    vault: &Vault<'_>,
    (ring, member): (&RingManifest, &OfMember),
    into: Into<'_>,
    is_beside: &dyn Fn(&str, &str) -> bool,
) -> Result<Found, Trouble> {
    let (mut amount, mut keyspaces) = (Amount::default(), BTreeSet::new());
    let mut present = Present::default();
    let of = each(vault, (ring, member), &mut |sstable| {
        let Some(first) = sstable.first() else { return Ok(()) };
        if !keyspaces.contains(&first.keyspace) {
            keyspaces.insert(first.keyspace.clone());
        }
        let is_wanted = into(&first.keyspace, &first.table).is_some();
        if is_wanted || is_beside(&first.keyspace, &first.table) {
            present.look(vault, member, &sstable)?;
        }
        if is_wanted {
            amount.add(length(&sstable));
        }
        Ok(())
    })?;
    Ok(Found { amount, member: of, keyspaces })
}

/// The objects of one table that the store lists: in the order of manifests the SSTables of a table
/// follow each other.
#[derive(Default)]
struct Present {
    folder: String,
    listed: BTreeMap<String, u64>,
}

impl Present {
    /// Are the objects of these files there? A list may lack one: that is asked for by its name.
    fn look(
        &mut self,
        vault: &Vault<'_>,
        member: &OfMember,
        sstable: &[File],
    ) -> Result<(), Trouble> {
        let Some(first) = sstable.first() else { return Ok(()) };
        let folder = format!("{}{}/", member.host.files(), first.table_id);
        if self.folder != folder {
            let listed = vault.list(&folder)?;
            self.listed = listed.into_iter().map(|meta| (meta.name, meta.bytes)).collect();
            self.folder = folder;
        }
        for (file, piece) in sstable.iter().flat_map(|f| f.pieces.iter().map(move |p| (f, p))) {
            if let Err(wrong) = self.is_there(vault, piece)? {
                return Err(damaged(file, &piece.object, wrong));
            }
        }
        Ok(())
    }

    fn is_there(&self, vault: &Vault<'_>, piece: &Piece) -> Result<Result<(), Wrong>, Trouble> {
        if let Some(key) = piece.key.filter(|key| !vault.opens(Some(*key))) {
            let why = Unsealed::KeyMissing { fingerprint: key.to_string() };
            return Ok(Err(Wrong::Sealed { why }));
        }
        if self.listed.get(&piece.object) == Some(&piece.stored_bytes) {
            return Ok(Ok(()));
        }
        let stored = vault.head(&piece.object)?.map(|meta| meta.bytes);
        Ok(size(piece, stored))
    }
}

/// Bring the next of them; `told` hears how many are there, of all, after each. With whose they
/// are.
///
/// # Errors
/// A file is not what was taken, or one that a server would leave out; or store or target failed.
pub fn batch(
    vault: &Vault<'_>,
    (ring, member, part): (&RingManifest, &OfMember, Part),
    into: Into<'_>,
    target: &dyn Target,
    told: &mut dyn FnMut(u64) -> Result<(), Trouble>,
) -> Result<(Brought, Member), Trouble> {
    let (mut brought, mut is_full, mut last) = (Brought::default(), false, None);
    let member = each(vault, (ring, member), &mut |sstable| {
        let of = sstable.first().and_then(|first| into(&first.keyspace, &first.table));
        let Some(folder) = of else { return Ok(()) };
        let bytes = length(&sstable);
        brought.all.add(bytes);
        if is_full || brought.all.sstables <= part.skip {
            return Ok(());
        }
        let is_first = brought.now.sstables == 0;
        is_full = !is_first && brought.now.bytes.saturating_add(bytes) > part.limit;
        if is_full {
            return Ok(());
        }
        if bytes > part.room {
            let file = sstable.first().map(shown).unwrap_or_default();
            return Err(Trouble::NoRoom { file, bytes, room: part.room });
        }
        brought.now.add(bytes);
        one(vault, target, (&folder, brought.now.sstables), sstable, &mut last)?;
        told(part.skip + brought.now.sstables)
    })?;
    Ok((brought, member))
}

/// Each SSTable, with the files that are loaded of it. Of the manifest one SSTable is held.
fn each(
    vault: &Vault<'_>,
    (ring, member): (&RingManifest, &OfMember),
    take: &mut dyn FnMut(Vec<File>) -> Result<(), Trouble>,
) -> Result<Member, Trouble> {
    let plain = ring::plain(vault, ring, member)?;
    let torn = |invalid| ring::torn(&member.manifest, &invalid);
    let (of, files) = files(&plain).map_err(torn)?;
    let mut files = files.peekable();
    while let Some(first) = files.next() {
        let mut sstable = vec![first.map_err(torn)?];
        let is_same =
            |next: &Result<File, _>| next.as_ref().is_ok_and(|f| f.is_beside(&sstable[0]));
        let mut rest = Vec::new();
        while let Some(next) = files.next_if(is_same) {
            rest.push(next.map_err(torn)?);
        }
        sstable.append(&mut rest);
        sstable.retain(|file| is_loaded(&file.component));
        take(sstable)?;
    }
    Ok(of)
}

/// A server makes the list of components anew, and indexes are built from the rows: files of a
/// storage-attached index, and of a SASI index, have the name of the index.
fn is_loaded(component: &str) -> bool {
    component != "TOC.txt" && !component.starts_with("SAI+") && !component.starts_with("SI_")
}

fn length(sstable: &[File]) -> u64 {
    sstable.iter().map(|file| file.bytes).sum()
}

/// Bring the files of one SSTable, its data last: without it nobody takes the rest for one.
fn one(
    vault: &Vault<'_>,
    target: &dyn Target,
    (folder, number): (&str, u64),
    mut sstable: Vec<File>,
    last: &mut Last,
) -> Result<(), Trouble> {
    let Some(first) = sstable.first() else { return Ok(()) };
    let unloadable = |why| Trouble::Unloadable { file: shown(first), why };
    let parts: Vec<&str> = first.sstable.split('-').collect();
    let [version, _, format] = parts[..] else { return Err(unloadable(Unloadable::Name)) };
    // Each in a folder of its own: what a server has sent of one proves that it was not left out.
    let name = format!("{number}/{folder}/{version}-{number}-{format}");
    let has = |component: &str| sstable.iter().any(|file| file.component == component);
    if !has("Data.db") {
        return Err(unloadable(Unloadable::NoData));
    }
    // A server skips such a one, and says that all is loaded.
    if !has("Index.db") && !has("Partitions.db") {
        return Err(unloadable(Unloadable::NoIndex));
    }
    sstable.sort_by_key(|file| file.component == "Data.db");
    for file in &sstable {
        let mut sink = target.begin(&format!("{name}-{}", file.component)).map_err(failed)?;
        write(vault, file, sink.as_mut(), last)?;
        sink.commit().map_err(failed)?;
    }
    Ok(())
}

fn failed(why: String) -> Trouble {
    Trouble::Target { why }
}

/// For people: `keyspace.table nb-1-big`.
fn shown(file: &File) -> String {
    format!("{} of table {}.{}", file.sstable, file.keyspace, file.table)
}

fn write(
    vault: &Vault<'_>,
    file: &File,
    sink: &mut dyn Sink,
    last: &mut Last,
) -> Result<(), Trouble> {
    let mut sum = Sum::default();
    for piece in &file.pieces {
        // What was wrong on its way is right when it is read again.
        if let Err(ReadFailure::Wrong(_)) = part(vault, piece, last) {
            *last = None;
        }
        let bytes = part(vault, piece, last).map_err(|failure| match failure {
            ReadFailure::Wrong(wrong) => damaged(file, &piece.object, wrong),
            ReadFailure::Store(trouble) => trouble,
        })?;
        sum.add(bytes);
        sink.write(bytes).map_err(failed)?;
    }
    if sum.end().0 != file.sha256 {
        let object = file.pieces.first().map(|piece| piece.object.as_str());
        return Err(damaged(file, object.unwrap_or_default(), Wrong::Hash));
    }
    Ok(())
}

fn damaged(file: &File, object: &str, wrong: Wrong) -> Trouble {
    Trouble::Damaged {
        file: format!("{} of table {}.{}", file.name(), file.keyspace, file.table),
        object: object.to_string(),
        wrong,
    }
}
