//! Is all there that a backup names? By its length, or read and hashed. What is
//! wrong is named with the files that it hurts; the rest is looked at all the same.

use crate::catalog::Catalog;
use crate::chain::Chain;
use crate::hash::Hash;
use crate::manifest::member::{MemberManifest, Piece};
use crate::manifest::ring::{self, RingManifest};
use crate::names::BackupId;
use crate::vault::Vault;
use crate::words::trouble::{Trouble, Wrong};
use std::collections::{BTreeMap, BTreeSet};

/// How well it is looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Is each object there, in its length?
    Sizes,
    /// And one of so many is read, beginning with this one.
    Sample {
        /// One of so many.
        of: u64,
        /// Which one.
        first: u64,
    },
    /// And each is read.
    Read,
}

impl Depth {
    fn is_read(self, number: u64) -> bool {
        match self {
            Self::Sizes => false,
            Self::Sample { of, first } => number % of.max(1) == first % of.max(1),
            Self::Read => true,
        }
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
}

/// Look at a complete backup.
///
/// # Errors
/// There is none of this ID that is complete, or the store failed.
pub fn verify(vault: &Vault<'_>, id: &BackupId, depth: Depth) -> Result<Report, Trouble> {
    let catalog = Catalog::read(vault)?;
    let (ring, _) = catalog.complete(id)?;
    let mut report = Report::default();
    schema(vault, ring, &mut report);
    // An entry that cannot be read has been named by the catalog.
    let condemned = condemned(vault, &catalog.chain);
    for member in &ring.members {
        report.objects += 1;
        match ring::read(vault, ring, member) {
            Ok(manifest) => objects(vault, &manifest, (depth, &condemned), &mut report)?,
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

/// Look at the objects of one member.
///
/// # Errors
/// The store failed.
pub fn objects(
    vault: &Vault<'_>,
    manifest: &MemberManifest,
    (depth, condemned): (Depth, &BTreeMap<String, u64>),
    report: &mut Report,
) -> Result<(), Trouble> {
    let mut all: BTreeMap<&str, (&Piece, BTreeSet<String>)> = BTreeMap::new();
    for file in &manifest.files {
        for piece in &file.pieces {
            let (_, tables) = all.entry(&piece.object).or_insert((piece, BTreeSet::new()));
            tables.insert(format!("{}.{}", file.keyspace, file.table));
        }
    }
    for (number, (name, (piece, tables))) in (report.objects..).zip(all) {
        report.objects += 1;
        // A list may lack what is new, and still show what was deleted.
        let stored = vault.head(name)?.map(|meta| meta.bytes);
        let mut found = size(piece, stored);
        if let Some(entry) = condemned.get(name) {
            found = found.and(Err(Wrong::Condemned { entry: *entry }));
        }
        if found.is_ok() && depth.is_read(number) {
            report.read += 1;
            report.read_bytes += piece.stored_bytes;
            found = match read(vault, piece) {
                Ok(_) => Ok(()),
                Err(ReadFailure::Wrong(wrong)) => Err(wrong),
                Err(ReadFailure::Store(trouble)) => return Err(trouble),
            };
        }
        if let Err(wrong) = found {
            report.damaged.push(Damage { object: name.to_string(), wrong, tables });
        }
    }
    Ok(())
}

fn size(piece: &Piece, stored: Option<u64>) -> Result<(), Wrong> {
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
