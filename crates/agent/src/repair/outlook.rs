//! How far the repair of this member is, in the few figures that it reports. It
//! depends on what is remembered alone, and not on the time: at rest it stays.

use super::due::{SHORTEST_GRACE, interval};
use super::memory::Memory;
use super::pieces::Piece;
use crate::admin::jobs::Segment;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::repair::{Coverage, LONGEST_TABLE, RepairStatus};

/// Tables that are named.
const NAMED: usize = 16;
/// Rows of traces expire by themselves.
const TRACES: &str = "system_traces";

/// The earliest of times.
#[derive(Default)]
struct First(Option<i64>);

impl First {
    fn note(&mut self, time: i64) {
        self.0 = Some(self.0.map_or(time, |first| first.min(time)));
    }

    fn time(self) -> Option<Time> {
        Timestamp::from_second(self.0?).ok().map(Time)
    }
}

/// A table that keeps deletions for so long is late here from then on.
fn late_from(piece: &Piece, grace: u32) -> i64 {
    piece.at.unwrap_or(piece.since).saturating_add(i64::from(grace) * 9 / 10)
}

/// Is a table of this segment late, in a part of it? That others are hastens nothing here.
pub fn is_late(memory: &Memory, segment: &Segment, now: i64) -> bool {
    let history = memory.keyspaces.get(&segment.keyspace);
    history.into_iter().flat_map(|history| &history.groups).any(|group| {
        let meant = group.tables.iter().filter(|(name, _)| segment.tables.contains(name));
        let graces = meant.map(|(_, table)| table.grace);
        graces.filter(|grace| *grace >= SHORTEST_GRACE).min().is_some_and(|grace| {
            let late = group.pieces.iter().filter(|piece| late_from(piece, grace) <= now);
            late.map(|piece| piece.span())
                .any(|span| segment.ranges.iter().any(|range| range.overlaps(span)))
        })
    })
}

/// The figures.
pub fn outlook(memory: &Memory, cover: &Coverage) -> RepairStatus {
    let (mut due, mut behind, mut unsafe_from, mut oldest) =
        (First::default(), First::default(), First::default(), First::default());
    let mut status = RepairStatus::default();
    for (keyspace, history) in &memory.keyspaces {
        let mut never = vec![false; history.ranges.len()];
        let mut is_covered = false;
        for group in &history.groups {
            let covered = group.tables.iter().filter(|(name, _)| cover.covers(keyspace, name));
            let covered: Vec<_> = covered.collect();
            is_covered |= !covered.is_empty();
            for (name, table) in &covered {
                if table.grace < SHORTEST_GRACE && keyspace != TRACES {
                    let table = format!("{keyspace}.{name}");
                    status.short_grace.push(table.chars().take(LONGEST_TABLE).collect());
                }
                if table.grace >= SHORTEST_GRACE {
                    let smallest = status.grace_seconds.unwrap_or(u32::MAX);
                    status.grace_seconds = Some(smallest.min(table.grace));
                }
                for piece in &group.pieces {
                    let since = piece.at.unwrap_or(piece.since);
                    due.note(match piece.at {
                        Some(at) => at.saturating_add(interval(table.grace, cover)),
                        None => piece.since,
                    });
                    if table.grace >= SHORTEST_GRACE {
                        let grace = i64::from(table.grace);
                        behind.note(late_from(piece, table.grace));
                        unsafe_from.note(since.saturating_add(grace));
                    }
                }
            }
            for piece in group.pieces.iter().filter(|_| !covered.is_empty()) {
                match piece.at {
                    Some(at) => oldest.note(at),
                    None => {
                        for (range, never) in history.ranges.iter().zip(&mut never) {
                            *never |= range.overlaps(piece.span());
                        }
                    }
                }
            }
        }
        if is_covered {
            let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            status.ranges = status.ranges.saturating_add(count(never.len()));
            let never = never.iter().filter(|never| **never).count();
            status.never_ranges = status.never_ranges.saturating_add(count(never));
        }
    }
    status.short_grace.sort();
    status.short_grace.truncate(NAMED);
    status.due_at = due.time();
    status.behind_at = behind.time();
    status.unsafe_at = unsafe_from.time();
    status.oldest_at = oldest.time();
    status
}
