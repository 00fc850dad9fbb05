//! Which parts of the ranges are due, in the order in which they come: what was
//! never repaired first, then what was due first.

use super::memory::Memory;
use crate::ranges::Span;
use palladion_api::repair::Coverage;
use std::collections::BTreeSet;

/// Tables that keep deletions for less than this are repaired now and then only:
/// no repair comes in time.
pub const SHORTEST_GRACE: u32 = 600;

/// How often these are repaired.
const NOW_AND_THEN: i64 = 7 * 24 * 3600;

/// What is due within this part of its interval is repaired with what is due now:
/// else each segment would make a task of its own, an interval later.
const AHEAD: i64 = 10;

/// A part of a range whose tables are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The keyspace.
    pub keyspace: String,
    /// The tables.
    pub tables: Vec<String>,
    /// The part.
    pub span: Span,
    /// When it was repaired last; never, if absent.
    pub at: Option<i64>,
    /// Since when the first of the tables is due.
    pub due: i64,
}

/// How often a table is repaired, in seconds.
pub fn interval(grace: u32, cover: &Coverage) -> i64 {
    let longest = match grace < SHORTEST_GRACE {
        true => NOW_AND_THEN,
        false => i64::from(grace) * 6 / 10,
    };
    cover.within_seconds.map_or(longest, |within| longest.min(within.into()))
}

/// So many ranges are due, counted by keyspace, without what is due soon.
pub fn due_ranges(memory: &Memory, cover: &Coverage, now: i64) -> u32 {
    let mut found = BTreeSet::new();
    let all = due(memory, cover, now);
    for due in all.iter().filter(|due| due.due <= now) {
        let history = memory.keyspaces.get(&due.keyspace);
        let ranges = history.into_iter().flat_map(|history| &history.ranges);
        let of = ranges.filter(|range| range.overlaps(due.span));
        found.extend(of.map(|range| (due.keyspace.as_str(), *range)));
    }
    u32::try_from(found.len()).unwrap_or(u32::MAX)
}

/// All that is due at this time.
pub fn due(memory: &Memory, cover: &Coverage, now: i64) -> Vec<Due> {
    let mut all = Vec::new();
    for (keyspace, history) in &memory.keyspaces {
        let spans: Vec<Span> = history.ranges.iter().flat_map(|range| range.spans()).collect();
        for group in &history.groups {
            let covered = group.tables.iter().filter(|(name, _)| cover.covers(keyspace, name));
            let covered: Vec<_> = covered.collect();
            for piece in &group.pieces {
                let due_of = |grace: u32| match piece.at {
                    None => (piece.since, true),
                    Some(at) => {
                        let interval = interval(grace, cover);
                        let due = at.saturating_add(interval);
                        (due, due - interval / AHEAD <= now)
                    }
                };
                let due = covered.iter().filter(|(_, table)| due_of(table.grace).1);
                let tables: Vec<String> = due.clone().map(|(name, _)| (*name).clone()).collect();
                let Some(first) = due.map(|(_, table)| due_of(table.grace).0).min() else {
                    continue;
                };
                // A call must not cross the border of a range.
                let parts = spans.iter().filter_map(|span| span.overlap(piece.span()));
                all.extend(parts.map(|span| Due {
                    keyspace: keyspace.clone(),
                    tables: tables.clone(),
                    span,
                    at: piece.at,
                    due: first,
                }));
            }
        }
    }
    all.sort_by(|a, b| {
        let place = |d: &Due| (d.at.is_some(), d.due);
        (place(a), &a.keyspace, a.span).cmp(&(place(b), &b.keyspace, b.span))
    });
    all
}
