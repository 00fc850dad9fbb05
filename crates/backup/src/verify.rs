//! Is all there that a backup names? By its length, or read and hashed. What is
//! wrong is named with the files that it hurts; the rest is looked at all the same.

use crate::catalog::Catalog;
use crate::chain::Chain;
use crate::damaged::Damaged;
use crate::hash::Hash;
use crate::manifest::member::{MemberManifest, Piece};
use crate::manifest::ring::{self, RingManifest};
use crate::names::BackupId;
use crate::vault::Vault;
use crate::words::notice::Notice;
use crate::words::trouble::{Trouble, Wrong};
use std::collections::{BTreeMap, BTreeSet};

/// How well it is looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Is each object there, in its length?
    Sizes,
    /// And one of so many is read, beginning with this one: of each member one at the least, and
    /// some of those that were there before the backup.
    Sample {
        /// One of so many.
        of: u64,
        /// Which one.
        first: u64,
    },
    /// And each is read.
    Read,
}

/// Of the objects that a backup took over from earlier ones, a sample reads so many.
pub const REUSED: u64 = 16;

/// How the objects of one member of a backup are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// How well.
    pub depth: Depth,
    /// What is condemned, each with its entry.
    pub condemned: &'a BTreeMap<String, u64>,
    /// What was found damaged before.
    pub damaged: &'a Damaged,
    /// When the backup was begun, in seconds since 1970: what is older was taken over.
    pub begun: i64,
    /// Which of how many members it is, the first being 0.
    pub member: (u64, u64),
}

impl Look<'_> {
    /// Which of a member's objects are read, by their place, the first of which has this number
    /// among those of all members. A sample reads one of each member at the least: whose objects
    /// nobody reads may have lost them all.
    fn sample(&self, number: u64, objects: u64) -> BTreeSet<u64> {
        match self.depth {
            Depth::Sizes => BTreeSet::new(),
            Depth::Read => (0..objects).collect(),
            Depth::Sample { of, first } => {
                let of = of.max(1);
                let is_read = |at: &u64| (number + at) % of == first % of;
                let read: BTreeSet<u64> = (0..objects).filter(is_read).collect();
                match (read.is_empty(), objects) {
                    (false, _) | (true, 0) => read,
                    (true, _) => BTreeSet::from([first % objects]),
                }
            }
        }
    }

    /// Which of these, that were taken over and are not read yet, a sample reads as well: this
    /// member's part of all that it reads of them.
    fn of_reused(&self, these: &[u64]) -> BTreeSet<u64> {
        let (Depth::Sample { first, .. }, all) = (self.depth, these.len() as u64) else {
            return BTreeSet::new();
        };
        let (at, members) = (self.member.0 + first, self.member.1.max(1));
        let part = (REUSED * (at + 1) / members - REUSED * at / members).min(all);
        let chosen = (0..part).map(|nth| (first + nth * all / part) % all);
        chosen.filter_map(|at| these.get(usize::try_from(at).ok()?).copied()).collect()
    }
}

/// An object that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The object.
    pub object: String,
    /// What is wrong.
    pub wrong: Wrong,
    /// The tables that it hurts: `keyspace.table`.
    pub tables: BTreeSet<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Objects that were looked at.
    pub objects: u64,
    /// Objects that were read.
    pub read: u64,
    /// How many bytes that were.
    pub read_bytes: u64,
    /// Those that are not as they should be.
    pub damaged: Vec<Damage>,
    /// What is worth knowing beside it.
    pub notices: Vec<Notice>,
}

/// Look at a complete backup.
///
/// # Errors
/// There is none of this ID that is complete, or the store failed.
pub fn verify(vault: &Vault<'_>, id: &BackupId, depth: Depth) -> Result<Report, Trouble> {
    let catalog = Catalog::read(vault)?;
    let (ring, _) = catalog.complete(id)?;
    let mut report = Report { notices: ring.notice().into_iter().collect(), ..Report::default() };
    schema(vault, ring, &mut report);
    // An entry that cannot be read has been named by the catalog.
    let condemned = condemned(vault, &catalog.chain);
    for (at, member) in (0..).zip(&ring.members) {
        report.objects += 1;
        let (begun, member_of) = (ring.window.from, (at, ring.members.len() as u64));
        let damaged = &catalog.damaged;
        let look = Look { depth, condemned: &condemned, damaged, begun, member: member_of };
        match ring::read(vault, ring, member) {
            Ok(manifest) => objects(vault, &manifest, &look, &mut report)?,
            Err(Trouble::Object { name, wrong }) => {
                report.damaged.push(Damage { object: name, wrong, tables: BTreeSet::new() });
            }
            Err(other) => return Err(other),
        }
    }
    Ok(report)
}

/// What is condemned, as far as entries can be read.
fn condemned(vault: &Vault<'_>, chain: &Chain) -> BTreeMap<String, u64> {
    let lists = chain.open().map(|(number, condemned, _)| {
        let names = crate::chain::read_objects(vault, condemned).unwrap_or_default();
        names.into_iter().map(move |name| (name, number))
    });
    lists.flatten().collect()
}

fn schema(vault: &Vault<'_>, ring: &RingManifest, report: &mut Report) {
    report.objects += 1;
    report.read += 1;
    report.read_bytes += ring.schema.bytes;
    if let Err(wrong) = ring::schema(vault, &ring.schema) {
        let object = ring.schema.object.clone();
        report.damaged.push(Damage { object, wrong, tables: BTreeSet::new() });
    }
}

/// An object, and the tables whose files have bytes in it.
type Of<'a> = (&'a Piece, BTreeSet<String>);

/// Look at the objects of one member.
///
/// # Errors
/// The store failed.
pub fn objects(
    vault: &Vault<'_>,
    manifest: &MemberManifest,
    look: &Look<'_>,
    report: &mut Report,
) -> Result<(), Trouble> {
    let mut all: BTreeMap<&str, Of<'_>> = BTreeMap::new();
    for file in &manifest.files {
        for piece in &file.pieces {
            let (_, tables) = all.entry(&piece.object).or_insert((piece, BTreeSet::new()));
            tables.insert(format!("{}.{}", file.keyspace, file.table));
        }
    }
    let all: Vec<Of<'_>> = all.into_values().collect();
    let sample = look.sample(report.objects, all.len() as u64);
    let mut reused = Vec::new();
    for (at, (piece, tables)) in (0..).zip(&all) {
        report.objects += 1;
        // A list may lack what is new, and still show what was deleted.
        let stored = vault.head(&piece.object)?;
        let mut found = size(piece, stored.as_ref().map(|meta| meta.bytes));
        if let Some(entry) = look.condemned.get(&piece.object) {
            found = found.and(Err(Wrong::Condemned { entry: *entry }));
        }
        if found.is_ok() && sample.contains(&at) {
            found = read_of(vault, piece, report)?;
        } else if found.is_ok() && stored.is_some_and(|meta| meta.modified < look.begun) {
            reused.push(at);
        }
        // It may read well today: it did not before.
        if let Some(note) = look.damaged.objects.get(&piece.object) {
            reused.retain(|taken_over| *taken_over != at);
            found = found.and(Err(Wrong::Noted { note: note.clone() }));
        }
        report.note(piece, found, tables);
    }
    for at in look.of_reused(&reused) {
        let Some((piece, tables)) = usize::try_from(at).ok().and_then(|at| all.get(at)) else {
            continue;
        };
        let found = read_of(vault, piece, report)?;
        report.note(piece, found, tables);
    }
    Ok(())
}

/// Read it; what is wrong with it.
fn read_of(
    vault: &Vault<'_>,
    piece: &Piece,
    report: &mut Report,
) -> Result<Result<(), Wrong>, Trouble> {
    report.read += 1;
    report.read_bytes += piece.stored_bytes;
    match read(vault, piece) {
        Ok(_) => Ok(Ok(())),
        Err(ReadFailure::Wrong(wrong)) => Ok(Err(wrong)),
        Err(ReadFailure::Store(trouble)) => Err(trouble),
    }
}

impl Report {
    fn note(&mut self, piece: &Piece, found: Result<(), Wrong>, tables: &BTreeSet<String>) {
        if let Err(wrong) = found {
            let (object, tables) = (piece.object.clone(), tables.clone());
            self.damaged.push(Damage { object, wrong, tables });
        }
    }
}

/// Is the object of a piece of this length?
pub(crate) fn size(piece: &Piece, stored: Option<u64>) -> Result<(), Wrong> {
    match stored {
        None => Err(Wrong::Absent),
        Some(stored) if stored != piece.stored_bytes => {
            Err(Wrong::Size { stored, expected: piece.stored_bytes })
        }
        Some(_) => Ok(()),
    }
}

/// Why an object could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFailure {
    /// It is not what the manifest names.
    Wrong(Wrong),
    /// The store failed; the object may be well.
    Store(Trouble),
}

/// Read the object of a piece, and compare all that the manifest says of it.
///
/// # Errors
/// It is something else, or the store failed.
pub fn read(vault: &Vault<'_>, piece: &Piece) -> Result<Vec<u8>, ReadFailure> {
    let stored = vault.stored(&piece.object).map_err(ReadFailure::Store)?;
    let stored = stored.ok_or(ReadFailure::Wrong(Wrong::Gone))?;
    size(piece, Some(stored.len() as u64)).map_err(ReadFailure::Wrong)?;
    if Hash::of(&stored) != piece.stored_sha256 {
        return Err(ReadFailure::Wrong(Wrong::Hash));
    }
    let plain = vault.unsealed(&piece.object, stored).map_err(ReadFailure::Wrong)?;
    match plain.len() as u64 == piece.object_bytes {
        true => Ok(plain),
        false => Err(ReadFailure::Wrong(Wrong::Hash)),
    }
}
