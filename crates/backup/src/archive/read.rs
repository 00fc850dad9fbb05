//! Reading a journal: from a while before a backup to the first one behind a point in time. Each entry
//! vouches for the one before it; where one is missing, or is not what was written, the journal
//! ends for whoever reads it.

use super::choose::MARGIN;
use super::entry::{self, Brings, Entry};
use super::{OfJournal, journal, of_journal};
use crate::hash::Hash;
use crate::manifest::ring::Window;
use crate::names::HostId;
use crate::vault::Vault;
use crate::words::trouble::{Trouble, Unsealed, Wrong};

/// The entries of a member from the last one that is well before a backup to the first one that
/// is well behind a time, in seconds since 1970: those of a segment that was begun earlier, too.
///
/// # Errors
/// The store failed, or a key is missing.
pub fn read(
    vault: &Vault<'_>,
    host: &HostId,
    (window, to): (Window, i64),
) -> Result<Vec<Entry>, Trouble> {
    let mut numbers: Vec<u64> = Vec::new();
    for meta in vault.list(&journal(host))? {
        match of_journal(&meta.name) {
            Some(OfJournal::Entry(of, number)) if of == *host => numbers.push(number),
            Some(OfJournal::Entry(..) | OfJournal::Bytes(..)) | None => {}
        }
    }
    numbers.sort_unstable();
    let begin = begin(vault, host, (&numbers, window.from - MARGIN))?;
    let mut entries = forward(vault, host, (&numbers[begin..], to))?;
    let mut earlier = Vec::new();
    while lacks_its_begin(earlier.last().map(|(entry, _)| entry), &entries) {
        let first = earlier.last().or(entries.first());
        let Some((first, _)) = first.filter(|(first, _)| first.number > 1) else { break };
        match whole(entry::read(vault, host, first.number - 1))? {
            Some(found) if first.previous.as_ref() == Some(&found.1) => earlier.push(found),
            Some(_) | None => break,
        }
    }
    earlier.reverse();
    earlier.append(&mut entries);
    Ok(earlier.into_iter().map(|(entry, _)| entry).collect())
}

type Found = (Entry, Hash);

/// What is not what was written is not there; what cannot be known is trouble.
fn whole(read: Result<Option<Found>, Trouble>) -> Result<Option<Found>, Trouble> {
    match read {
        Err(
            missing @ Trouble::Object {
                wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } },
                ..
            },
        ) => Err(missing),
        Err(Trouble::Object { .. }) => Ok(None),
        other => other,
    }
}

/// Where the last entry stands that is of no later time; the first one if all are.
fn begin(
    vault: &Vault<'_>,
    host: &HostId,
    (numbers, before): (&[u64], i64),
) -> Result<usize, Trouble> {
    let (mut low, mut high) = (0, numbers.len());
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        let found = whole(entry::read(vault, host, numbers[middle]))?;
        // Behind one that is lost nothing is read: it is looked for before it.
        match found.is_some_and(|(entry, _)| entry.until <= before) {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(low)
}

fn forward(
    vault: &Vault<'_>,
    host: &HostId,
    (numbers, to): (&[u64], i64),
) -> Result<Vec<Found>, Trouble> {
    let mut all: Vec<Found> = Vec::new();
    for number in numbers {
        let Some(found) = whole(entry::read(vault, host, *number))? else { break };
        let follows = |(last, hash): &Found| {
            last.number + 1 == *number && found.0.previous.as_ref() == Some(hash)
        };
        if !all.last().is_none_or(follows) {
            break;
        }
        let is_behind = found.0.found > to;
        all.push(found);
        if is_behind {
            break;
        }
    }
    Ok(all)
}

/// Are there bytes of a segment whose begin an earlier entry has?
fn lacks_its_begin(earliest: Option<&Entry>, entries: &[Found]) -> bool {
    let begins = |entry: &Entry| match &entry.brings {
        // Nothing before a window goes on in it.
        Brings::Opening | Brings::Gap { .. } => Some(true),
        Brings::Bytes(part) => Some(part.from == 0),
        Brings::Rest => None,
    };
    match earliest.and_then(begins) {
        Some(begins) => !begins,
        None => entries.iter().find_map(|(entry, _)| begins(entry)) == Some(false),
    }
}
