//! What of the journals no backup needs: a restore begins with a backup, and reads a journal from
//! a while before it. So what is well before the oldest backup of the repository is read by nobody.
//! A backup that is condemned counts until it is swept, a day later or more, and what is trimmed
//! is decided by what is there then; so whoever reads one finds its journals as it finds its files.

use super::choose::MARGIN;
use super::entry::{self, Brings, Entry};
use super::{COMMITLOG, OfJournal, journal, of_journal};
use crate::DAY;
use crate::catalog::{Catalog, State};
use crate::names::{BackupId, HostId};
use crate::vault::Vault;
use crate::words::trouble::Trouble;
use std::collections::BTreeSet;

/// So long before the oldest backup everything stays, for clocks that were set back.
pub const SPARE: i64 = DAY;
/// So many objects are deleted at most in one go: the rest comes with the next.
pub const MOST: u64 = 50_000;
/// So many objects are listed at a time.
const PAGE: usize = 1000;
/// Entries that bring nothing are passed over, so many at most in a row.
const MOST_RESTS: u64 = 3000;

/// The begin of a journal that nobody needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// Whose journal.
    pub host: HostId,
    /// Entries with lower numbers, and their bytes.
    pub below: u64,
}

/// What was trimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Objects that were deleted.
    pub objects: u64,
    /// Their length in the store.
    pub bytes: u64,
    /// Is there more?
    pub is_cut: bool,
}

/// What nobody needs once the backups of `without` are gone. Nothing, where it is not known when
/// the oldest one begins.
///
/// # Errors
/// The store failed.
pub fn surplus(
    vault: &Vault<'_>,
    catalog: &Catalog,
    without: &BTreeSet<BackupId>,
) -> Result<Vec<Surplus>, Trouble> {
    let Some(oldest) = oldest(catalog, without) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for folder in vault.folders(COMMITLOG)? {
        let Some(host) = HostId::parse(&folder) else { continue };
        if let Some(below) = below(vault, &host, oldest - MARGIN - SPARE)? {
            all.push(Surplus { host, below });
        }
    }
    Ok(all)
}

/// When the snapshots of the oldest backup were begun.
fn oldest(catalog: &Catalog, without: &BTreeSet<BackupId>) -> Option<i64> {
    let mut oldest: Option<i64> = None;
    for (_, backup) in catalog.backups.iter().filter(|(id, _)| !without.contains(*id)) {
        let from = match &backup.state {
            State::Complete { ring, .. } => ring.window.from,
            // It never will be complete: nobody restores it.
            State::Failed(_) => continue,
            State::Open if backup.condemned.is_some() => continue,
            State::Open | State::Unknown(_) => return None,
        };
        oldest = Some(oldest.map_or(from, |oldest| oldest.min(from)));
    }
    oldest
}

/// The number of the entry that a restore needs which wants a journal from this time on: the one
/// that the segment begins with which was written then.
fn below(vault: &Vault<'_>, host: &HostId, from: i64) -> Result<Option<u64>, Trouble> {
    let Some(first) = first(vault, host)? else { return Ok(None) };
    let is_before = |number: u64| {
        let found = read(vault, host, number)?;
        Ok::<bool, Trouble>(found.is_some_and(|entry| entry.until <= from))
    };
    if !is_before(first)? {
        return Ok(None);
    }
    // Numbers follow each other, so the last one of before is found without a list.
    let (mut low, mut step) = (first, 1);
    while is_before(low + step)? {
        low += step;
        step *= 2;
    }
    let mut high = low + step;
    while low + 1 < high {
        let middle = low.midpoint(high);
        match is_before(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(begin(vault, host, (first, low))?.filter(|number| *number > first))
}

/// An entry. One that cannot be read is none: what goes on with it is not known, so it stays.
fn read(vault: &Vault<'_>, host: &HostId, number: u64) -> Result<Option<Entry>, Trouble> {
    match entry::read(vault, host, number) {
        Ok(found) => Ok(found.map(|(entry, _)| entry)),
        Err(Trouble::Object { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The number of the first entry that is there.
fn first(vault: &Vault<'_>, host: &HostId) -> Result<Option<u64>, Trouble> {
    let mut after = String::new();
    loop {
        let page = vault.list_after(&journal(host), &after, PAGE)?;
        let Some(last) = page.last().map(|meta| meta.name.clone()) else { return Ok(None) };
        let number = page.iter().find_map(|meta| match of_journal(&meta.name) {
            Some(OfJournal::Entry(_, number)) => Some(number),
            Some(OfJournal::Bytes(..)) | None => None,
        });
        if number.is_some() {
            return Ok(number);
        }
        after = last;
    }
}

/// Where that begins which goes on at `last`: a segment, or a window.
fn begin(
    vault: &Vault<'_>,
    host: &HostId,
    (first, last): (u64, u64),
) -> Result<Option<u64>, Trouble> {
    let Some((number, entry)) = bringing(vault, host, (first, last))? else { return Ok(None) };
    let segment = match &entry.brings {
        Brings::Bytes(part) if part.from > 0 => part.segment,
        Brings::Opening | Brings::Gap { .. } | Brings::Bytes(_) => return Ok(Some(number)),
        Brings::Rest => return Ok(None),
    };
    let (mut low, mut high) = (first, number);
    let is_earlier = |number: u64| {
        let found = bringing(vault, host, (first, number))?;
        Ok::<bool, Trouble>(found.is_none_or(|(_, entry)| match &entry.brings {
            Brings::Bytes(part) => part.segment < segment,
            Brings::Opening | Brings::Gap { .. } | Brings::Rest => true,
        }))
    };
    if !is_earlier(low)? {
        return Ok(None);
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        match is_earlier(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    // Only where it is what it should be.
    let found = read(vault, host, high)?;
    let begins = |entry: &Entry| match &entry.brings {
        Brings::Bytes(part) => part.segment == segment && part.from == 0,
        Brings::Opening | Brings::Gap { .. } | Brings::Rest => false,
    };
    Ok(found.filter(begins).map(|_| high))
}

/// The last entry up to this one that is more than that nothing was written.
fn bringing(
    vault: &Vault<'_>,
    host: &HostId,
    (first, last): (u64, u64),
) -> Result<Option<(u64, Entry)>, Trouble> {
    for number in (first..=last).rev().take(usize::try_from(MOST_RESTS).unwrap_or(usize::MAX)) {
        match read(vault, host, number)? {
            None => return Ok(None),
            Some(entry) if entry.brings == Brings::Rest => {}
            Some(entry) => return Ok(Some((number, entry))),
        }
    }
    Ok(None)
}

/// Delete the begin of a journal, the oldest first, and no more than so many objects.
///
/// # Errors
/// The store failed; what was deleted until then is gone.
pub fn trim(vault: &Vault<'_>, surplus: &Surplus, most: u64) -> Result<Trimmed, Trouble> {
    let (mut trimmed, mut after) = (Trimmed::default(), String::new());
    loop {
        let page = vault.list_after(&journal(&surplus.host), &after, PAGE)?;
        let Some(last) = page.last().map(|meta| meta.name.clone()) else { return Ok(trimmed) };
        for meta in &page {
            let number = match of_journal(&meta.name) {
                Some(OfJournal::Entry(_, number) | OfJournal::Bytes(_, number)) => number,
                None => continue,
            };
            if number >= surplus.below {
                return Ok(trimmed);
            }
            if trimmed.objects == most {
                return Ok(Trimmed { is_cut: true, ..trimmed });
            }
            vault.delete(&meta.name)?;
            trimmed.objects += 1;
            trimmed.bytes += meta.bytes;
        }
        after = last;
    }
}
