//! Which segments of a journal bring a member from a backup to a point in time, or why none do.
//!
//! A window of the journal that is not broken has to reach from before the backup to the point.
//! What a segment had before the backup is taken along: whole segments are replayed, and a write
//! that is in the backup already is the same a second time. Clocks differ, so bytes of a while before it are
//! taken, too, where they are there. Of what came after the point nothing is.

use super::entry::{Brings, Entry, Part};
use crate::hash::Hash;
use crate::manifest::ring::Window;
use serde::{Deserialize, Serialize};

/// Clocks of servers and operator differ by no more than this, in seconds: a window that opened
/// less than this before the backup may have opened after it.
pub const CLOCKS: i64 = 60;
/// Bytes of so many seconds before the backup are taken along.
pub const MARGIN: i64 = 600;

/// What is wanted of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// When the snapshots of the backup were taken.
    pub window: Window,
    /// Of its schema.
    pub schema: Hash,
    /// Of the tokens that the member had then, as it reports them.
    pub tokens_hash: String,
    /// Of all tokens with their owners then; none where that was compared before.
    pub ring: Option<String>,
    /// The point in time, in seconds since 1970: every write with a time up to it.
    pub to: i64,
}

/// A segment, as far as it is replayed: bytes without a gap from its begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Segment {
    /// The name of its file.
    pub file: String,
    /// Length of the file, in bytes: behind the parts it is zeros.
    pub file_bytes: u64,
    /// Its bytes.
    pub parts: Vec<Part>,
}

/// Why a journal does not reach the point. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncovered {
    /// There is no entry.
    Nothing,
    /// It begins too late for this backup.
    Begins {
        /// When.
        at: i64,
    },
    /// It ends before the point.
    Ends {
        /// Until then all is there.
        until: i64,
    },
    /// Something is missing.
    Gap {
        /// Until then all is there.
        until: i64,
        /// Why, for people; nothing where nobody noted it.
        why: Option<String>,
    },
    /// Tables were created, altered or dropped before the point.
    Schema {
        /// Until then the schema is that of the backup.
        until: i64,
        /// From then on it is another one.
        from: i64,
    },
    /// The bytes of a while before the point came together with those of a while after it.
    Between {
        /// They came after this.
        from: i64,
        /// And before this.
        to: i64,
    },
    /// Members had come or gone: what others have written is in other journals.
    Members {
        /// Until then they were those of the backup.
        until: i64,
    },
    /// The member had other tokens.
    Tokens {
        /// Until then it had those of the backup.
        until: i64,
    },
}

/// Choose.
///
/// The entries follow each other by number and hash, as [`super::read::read`] has them.
///
/// # Errors
/// The point is not covered.
pub fn choose(entries: &[Entry], wanted: &Wanted) -> Result<Vec<Segment>, Uncovered> {
    let base = base(entries, wanted)?;
    let end = end(entries, base, wanted)?;
    let taken = &entries[first(entries, base, wanted)..=end];
    let mut segments: Vec<Segment> = Vec::new();
    for part in taken.iter().filter_map(part) {
        match segments.last_mut() {
            Some(last) if last.parts.last().is_some_and(|p| p.segment == part.segment) => {
                last.parts.push(part.clone());
            }
            _ => segments.push(Segment {
                file: part.file.clone(),
                file_bytes: part.file_bytes,
                parts: vec![part.clone()],
            }),
        }
    }
    let headless = |segment: &Segment| segment.parts.first().is_some_and(|part| part.from > 0);
    match segments.iter().any(headless) {
        true => Err(Uncovered::Begins { at: entries[base].until }),
        false => Ok(segments),
    }
}

/// Are all writes that were acknowledged until the snapshots either in them or behind this entry?
/// The last such entry.
fn base(entries: &[Entry], wanted: &Wanted) -> Result<usize, Uncovered> {
    let newest = entries.last().ok_or(Uncovered::Nothing)?;
    let is_before = |entry: &Entry| entry.until <= wanted.window.from - CLOCKS;
    let Some(base) = entries.iter().rposition(is_before) else {
        return Err(Uncovered::Begins { at: entries[0].until });
    };
    match (&entries[base].brings, entries.get(base + 1)) {
        (Brings::Gap { .. }, None) => Err(Uncovered::Ends { until: newest.until }),
        // The window that reaches the backup opens after it.
        (Brings::Gap { .. }, Some(next)) => Err(Uncovered::Begins { at: next.until }),
        (Brings::Opening | Brings::Bytes(_) | Brings::Rest, _) => Ok(base),
    }
}

/// The last entry that is taken: the last one all of whose bytes came until the point. A server
/// leaves out what has a later time, but for deletions of rows, which it does not compare
/// (`PartitionUpdate.maxTimestamp`): so nothing is taken that came later.
fn end(entries: &[Entry], base: usize, wanted: &Wanted) -> Result<usize, Uncovered> {
    let mut last = last_part(&entries[..=base]);
    let mut is_schema = false;
    let mut taken = base;
    for (at, entry) in entries.iter().enumerate().skip(base) {
        let until = entries[at.saturating_sub(1).max(base)].until;
        if at > base && entry.found > wanted.to {
            return reaches((&entries[taken], last), entry, wanted).map(|()| taken);
        }
        let why = match at > base {
            true => breaks(entry, last, (until, is_schema), wanted),
            false => other_tokens(entry, until, wanted),
        };
        if let Some(why) = why {
            return Err(why);
        }
        is_schema |= entry.schema.sha256 == wanted.schema;
        last = part(entry).or(last);
        taken = at;
    }
    match entries[taken].until >= wanted.to - entries[taken].loss {
        true => Ok(taken),
        false => Err(Uncovered::Ends { until: entries[taken].until }),
    }
}

/// Is all that was acknowledged until a while before the point in what is taken? By that itself,
/// or by the entry behind it, which says after when its bytes came.
fn reaches(
    (taken, last): (&Entry, Option<&Part>),
    next: &Entry,
    wanted: &Wanted,
) -> Result<(), Uncovered> {
    let (least, until) = (wanted.to - next.loss, taken.until);
    if until >= least {
        return Ok(());
    }
    if next.ring != *wanted.ring.as_ref().unwrap_or(&next.ring) {
        return Err(Uncovered::Members { until });
    }
    match &next.brings {
        Brings::Rest if next.until >= least => Ok(()),
        Brings::Bytes(part) if last.is_some_and(|last| !part.follows(last)) => {
            Err(Uncovered::Gap { until, why: None })
        }
        Brings::Bytes(_) if next.since >= least => Ok(()),
        Brings::Rest | Brings::Bytes(_) => {
            Err(Uncovered::Between { from: next.since.max(until), to: next.found })
        }
        Brings::Opening => Err(Uncovered::Gap { until, why: None }),
        Brings::Gap { why } => Err(Uncovered::Gap { until, why: Some(why.clone()) }),
    }
}

/// Why this entry does not go on where the one before it ended.
fn breaks(
    entry: &Entry,
    last: Option<&Part>,
    (until, is_schema): (i64, bool),
    wanted: &Wanted,
) -> Option<Uncovered> {
    match &entry.brings {
        Brings::Opening => return Some(Uncovered::Gap { until, why: None }),
        Brings::Gap { why } => return Some(Uncovered::Gap { until, why: Some(why.clone()) }),
        Brings::Bytes(part) if last.is_some_and(|last| !part.follows(last)) => {
            return Some(Uncovered::Gap { until, why: None });
        }
        Brings::Bytes(_) | Brings::Rest => {}
    }
    // Before the backup tables may have been others: what came is dropped or known by now.
    let is_before = !is_schema && entry.until <= wanted.window.to;
    if entry.schema.sha256 != wanted.schema && !is_before {
        return Some(Uncovered::Schema { until, from: entry.until });
    }
    let is_other = wanted.ring.as_ref().is_some_and(|ring| entry.ring != *ring);
    // Who came or went before the snapshots is in them, or has left what it had to others.
    if is_other && entry.until > wanted.window.from {
        return Some(Uncovered::Members { until });
    }
    other_tokens(entry, until, wanted)
}

fn other_tokens(entry: &Entry, until: i64, wanted: &Wanted) -> Option<Uncovered> {
    (entry.tokens_hash != wanted.tokens_hash).then_some(Uncovered::Tokens { until })
}

/// The first entry that is taken: from a while before the backup, and from the begin of a segment.
fn first(entries: &[Entry], base: usize, wanted: &Wanted) -> usize {
    let is_of_window = |at: &usize| {
        let goes_on = |entry: &Entry| matches!(entry.brings, Brings::Bytes(_) | Brings::Rest);
        // What opens a window is of it; what ends one is not.
        *at == base || goes_on(&entries[*at]) || matches!(entries[*at].brings, Brings::Opening)
    };
    let mut first = base;
    for at in (0..=base).rev().take_while(is_of_window) {
        first = at;
        let is_margin = entries[at].until <= wanted.window.from - MARGIN;
        let is_opening = matches!(entries[at].brings, Brings::Opening);
        let next = entries[at..].iter().find_map(part);
        if is_opening || (is_margin && next.is_none_or(|part| part.from == 0)) {
            break;
        }
    }
    first
}

fn part(entry: &Entry) -> Option<&Part> {
    match &entry.brings {
        Brings::Bytes(part) => Some(part),
        Brings::Opening | Brings::Rest | Brings::Gap { .. } => None,
    }
}

/// The last bytes of the window that these end with.
fn last_part(entries: &[Entry]) -> Option<&Part> {
    let is_of_window = |entry: &&Entry| matches!(entry.brings, Brings::Bytes(_) | Brings::Rest);
    entries.iter().rev().take_while(is_of_window).find_map(part)
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
