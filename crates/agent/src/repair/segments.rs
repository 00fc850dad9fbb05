//! In which calls what is due is repaired: none of them of much more than some
//! bytes, small tables and ranges together.

use super::due::Due;
use super::schema::Schema;
use crate::admin::jobs::{Segment, Tables};
use crate::ranges::{Range, Span};
use std::collections::BTreeMap;

/// Ranges of one call at the most: its session has a tree of hashes for each.
const RANGES: usize = 64;
/// A table in one range is cut into so many pieces at the most.
const CUTS: u64 = 4096;

impl Segment {
    /// Of the tables that are there; none if none of its tables is.
    pub fn within(&self, schema: &Schema) -> Option<Self> {
        let there = &schema.keyspaces.get(&self.keyspace)?.tables;
        let tables = self.tables.iter().filter(|name| there.contains_key(*name));
        let tables: Vec<String> = tables.cloned().collect();
        (!tables.is_empty()).then(|| Self { tables, ..self.clone() })
    }

    /// In two of about the same size, unless it is of one token.
    pub fn halves(&self) -> Option<(Self, Self)> {
        let of = |ranges: Vec<Range>| Self { ranges, ..self.clone() };
        if self.ranges.len() > 1 {
            let (first, second) = self.ranges.split_at(self.ranges.len() / 2);
            return Some((of(first.to_vec()), of(second.to_vec())));
        }
        let spans: Vec<Span> = self.ranges.iter().flat_map(|range| range.spans()).collect();
        let halves = match spans.as_slice() {
            [span] => span.cut(2),
            _ => spans.clone(),
        };
        match halves.as_slice() {
            [first, second] => Some((of(vec![first.range()]), of(vec![second.range()]))),
            _ => None,
        }
    }
}

/// Tokens of each keyspace of which this member has a copy.
pub type Held = BTreeMap<String, u64>;

/// The calls, in the order of what is due.
pub fn plan(due: &[Due], bytes: &Tables, held: &Held, segment_bytes: u64) -> Vec<Segment> {
    let mut all: Vec<(Segment, u64)> = Vec::new();
    let one = |due: &Due, tables: Vec<String>, range: Range| Segment {
        keyspace: due.keyspace.clone(),
        tables,
        ranges: vec![range],
    };
    for due in due {
        let size = |table: &String| {
            let all = bytes.get(&due.keyspace).and_then(|tables| tables.get(table)).copied();
            let held = held.get(&due.keyspace).copied().unwrap_or(u64::MAX).max(1);
            let share = u128::from(all.unwrap_or(0)) * u128::from(due.span.tokens());
            u64::try_from(share / u128::from(held)).unwrap_or(u64::MAX)
        };
        let mut small: (Vec<String>, u64) = Default::default();
        for table in &due.tables {
            let size = size(table);
            if size > segment_bytes {
                let pieces = size.div_ceil(segment_bytes).min(CUTS);
                for span in due.span.cut(pieces) {
                    all.push((one(due, vec![table.clone()], span.range()), size / pieces));
                }
                continue;
            }
            if !small.0.is_empty() && small.1 + size > segment_bytes {
                let (tables, size) = std::mem::take(&mut small);
                push(&mut all, one(due, tables, due.span.range()), size, segment_bytes);
            }
            small.0.push(table.clone());
            small.1 += size;
        }
        if !small.0.is_empty() {
            push(&mut all, one(due, small.0, due.span.range()), small.1, segment_bytes);
        }
    }
    all.into_iter().map(|(segment, _)| segment).collect()
}

/// With the call before it, if that is of the same tables and small enough.
fn push(all: &mut Vec<(Segment, u64)>, segment: Segment, size: u64, segment_bytes: u64) {
    match all.last_mut() {
        Some((last, known))
            if last.keyspace == segment.keyspace
                && last.tables == segment.tables
                && last.ranges.len() < RANGES
                && *known + size <= segment_bytes =>
        {
            last.ranges.extend(segment.ranges);
            *known += size;
        }
        Some(_) | None => all.push((segment, size)),
    }
}
