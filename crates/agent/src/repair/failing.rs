//! Segments that have failed or took too long: how often, and in which pieces they are
//! tried next. That is remembered on the volume, so that neither a restart nor the next
//! job begins with them from the start: what was cut stays cut until it is repaired, and
//! what fails over and over rests while all others go on.

use super::due::{Due, SHORTEST_GRACE};
use super::memory::Memory;
use super::pieces::AHEAD;
use crate::admin::jobs::Segment;
use crate::ranges::{Range, Span};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A segment that has failed so often rests.
pub const TRIES: u32 = 3;

/// It rests for so many seconds at the most, and for a tenth of the time for which its
/// tables keep deletions: three tenths are left between due and late. A failure counts for
/// as long.
pub const REST: i64 = 3600;

/// It rests for so many seconds at least: whoever fails gets no quieter by being asked at once.
const SHORTEST_REST: i64 = 60;

/// As many are remembered at the most, the newest: the file is written for every segment.
/// What is forgotten is tried sooner and in larger pieces, and nothing else.
const KEPT: usize = 64;

/// A segment that has failed.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Failing {
    /// Which.
    pub segment: Segment,
    /// How often.
    pub failures: u32,
    /// When it failed last, in seconds since 1970.
    pub at: i64,
    /// For how long it rests after so many failures, in seconds.
    #[serde(default = "longest")]
    pub rest: i64,
}

fn longest() -> i64 {
    REST
}

impl Failing {
    /// So many failures count at this time; none of a time that is ahead of it.
    fn count(&self, now: i64) -> u32 {
        let is_ahead = self.at > now.saturating_add(AHEAD);
        match is_ahead || now >= self.rests_until() {
            true => 0,
            false => self.failures,
        }
    }

    fn rests_until(&self) -> i64 {
        self.at.saturating_add(self.rest)
    }
}

/// What rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resting {
    /// So many segments.
    pub segments: usize,
    /// Of these keyspaces.
    pub keyspaces: BTreeSet<String>,
    /// Until when all of them do, in seconds since 1970.
    pub until: i64,
}

impl Memory {
    /// So often this segment has failed.
    pub fn failures(&self, segment: &Segment, now: i64) -> u32 {
        let known = self.failing.iter().find(|failing| failing.segment == *segment);
        known.map_or(0, |failing| failing.count(now))
    }

    /// A segment has failed so often, and is tried in these pieces next.
    pub fn fail(&mut self, segment: &Segment, pieces: &[Segment], failures: u32, now: i64) {
        self.forget_failures(segment);
        let rest = self.rest(segment);
        for piece in pieces {
            self.forget_failures(piece);
            self.failing.push(Failing { segment: piece.clone(), failures, at: now, rest });
        }
        // Stable: of equal times the last one is the newest.
        self.failing.sort_by_key(|failing| failing.at);
        let surplus = self.failing.len().saturating_sub(KEPT);
        self.failing.drain(..surplus);
    }

    /// For how long a segment rests.
    fn rest(&self, segment: &Segment) -> i64 {
        let graces = self.tables_of(segment).map(|(_, table)| table.grace);
        let graces = graces.filter(|grace| *grace >= SHORTEST_GRACE);
        let tenth = graces.min().map_or(REST, |grace| i64::from(grace) / 10);
        tenth.clamp(SHORTEST_REST, REST)
    }

    /// A segment was repaired.
    pub fn forget_failures(&mut self, segment: &Segment) {
        self.failing.retain(|failing| failing.segment != *segment);
    }

    /// Forget what is not due any more: it was repaired in other pieces, or is gone.
    pub fn forget_all_but(&mut self, due: &[Due]) {
        self.failing.retain(|failing| !take(due.to_vec(), &failing.segment).1.is_empty());
    }
}

/// What is due, without what rests.
pub fn awake(due: Vec<Due>, failing: &[Failing], now: i64) -> (Vec<Due>, Option<Resting>) {
    let (mut left, mut resting) = (due, None::<Resting>);
    for failing in failing.iter().filter(|failing| failing.count(now) >= TRIES) {
        let (rest, taken) = take(left, &failing.segment);
        left = rest;
        if !taken.is_empty() {
            let until = failing.rests_until();
            let known = resting.get_or_insert_with(|| Resting {
                segments: 0,
                keyspaces: BTreeSet::new(),
                until,
            });
            known.segments += 1;
            known.keyspaces.insert(failing.segment.keyspace.clone());
            known.until = known.until.max(until);
        }
    }
    (left, resting)
}

/// What of it has failed before, in segments of its own, each with how often; and the rest.
pub fn cut(due: Vec<Due>, failing: &[Failing], now: i64) -> (Vec<Due>, Vec<(Segment, u32)>) {
    let (mut left, mut pieces) = (due, Vec::new());
    // Where two overlap the newer one is of the smaller piece.
    for failing in failing.iter().rev() {
        let (rest, taken) = take(left, &failing.segment);
        left = rest;
        let mut ranges: BTreeMap<Vec<String>, Vec<Range>> = BTreeMap::new();
        for due in taken {
            ranges.entry(due.tables).or_default().push(due.span.range());
        }
        let of = |(tables, ranges)| {
            let keyspace = failing.segment.keyspace.clone();
            (Segment { keyspace, tables, ranges }, failing.count(now))
        };
        pieces.extend(ranges.into_iter().map(of));
    }
    (left, pieces)
}

/// What is due without what is in a segment, and what is in it.
fn take(due: Vec<Due>, segment: &Segment) -> (Vec<Due>, Vec<Due>) {
    let (mut rest, mut taken) = (Vec::new(), Vec::new());
    let spans: Vec<Span> = segment.ranges.iter().flat_map(|range| range.spans()).collect();
    for due in due {
        let is_in = |table: &String| segment.tables.contains(table);
        let common: Vec<Span> = spans.iter().filter_map(|span| due.span.overlap(*span)).collect();
        if due.keyspace != segment.keyspace || common.is_empty() || !due.tables.iter().any(is_in) {
            rest.push(due);
            continue;
        }
        let mut outside = vec![due.span];
        for span in &common {
            outside = outside.into_iter().flat_map(|part| part.without(*span)).collect();
        }
        let (inside, others): (Vec<String>, Vec<String>) =
            due.tables.iter().cloned().partition(|table| is_in(table));
        let part =
            |span: Span, tables: &[String]| Due { span, tables: tables.to_vec(), ..due.clone() };
        rest.extend(outside.into_iter().map(|span| part(span, &due.tables)));
        if !others.is_empty() {
            rest.extend(common.iter().map(|span| part(*span, &others)));
        }
        taken.extend(common.iter().map(|span| part(*span, &inside)));
    }
    (rest, taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(start: i64, end: i64) -> Range {
        Range { start, end }
    }

    fn segment(tables: &[&str], ranges: &[Range]) -> Segment {
        let tables = tables.iter().map(|name| (*name).to_string()).collect();
        Segment { keyspace: "shop".into(), tables, ranges: ranges.to_vec() }
    }

    fn due(tables: &[&str], start: i64, end: i64) -> Due {
        Due {
            keyspace: "shop".into(),
            tables: tables.iter().map(|name| (*name).to_string()).collect(),
            span: Span { first: start + 1, last: end },
            at: None,
            due: 0,
        }
    }

    #[test]
    fn what_failed_three_times_rests_for_an_hour_and_is_tried_in_the_same_pieces_then() {
        let mut memory = Memory::default();
        let whole = segment(&["a"], &[range(0, 100)]);
        let (first, second) = whole.halves().unwrap();
        memory.fail(&whole, &[first.clone(), second.clone()], 1, 1000);
        assert_eq!((memory.failures(&whole, 1000), memory.failures(&first, 1000)), (0, 1));
        memory.fail(&first, std::slice::from_ref(&first), 3, 2000);
        memory.forget_failures(&second);

        let all = vec![due(&["a", "b"], 0, 100)];
        let (left, resting) = awake(all.clone(), &memory.failing, 2000 + REST - 1);
        let keyspaces = BTreeSet::from([first.keyspace.clone()]);
        assert_eq!(resting, Some(Resting { segments: 1, keyspaces, until: 2000 + REST }));
        assert_eq!(left, [due(&["a", "b"], 50, 100), due(&["b"], 0, 50)], "others go on");
        let (left, resting) = awake(all.clone(), &memory.failing, 2000 + REST);
        assert_eq!((left.as_slice(), resting), (all.as_slice(), None), "the hour is over");
        let (_, pieces) = cut(all.clone(), &memory.failing, 2000 + REST);
        assert_eq!(pieces, [(first.clone(), 0)], "in the same pieces");
        let (left, resting) = awake(all.clone(), &memory.failing, 1000);
        assert_eq!((left, resting), (all, None), "a time that is ahead of now counts for nothing");
    }

    #[test]
    fn what_is_not_due_any_more_is_forgotten_and_no_more_are_kept_than_a_number() {
        let mut memory = Memory::default();
        for n in 0..100 {
            let one = segment(&["a"], &[range(n * 10, n * 10 + 10)]);
            memory.fail(&one, std::slice::from_ref(&one), 1, n);
        }
        assert_eq!(memory.failing.len(), KEPT);
        assert_eq!(memory.failing.last().unwrap().at, 99, "the newest");
        memory.forget_all_but(&[due(&["a"], 985, 990), due(&["b"], 0, 1000)]);
        let left: Vec<i64> = memory.failing.iter().map(|failing| failing.at).collect();
        assert_eq!(left, [98]);
    }

    #[test]
    fn of_two_that_overlap_the_newer_one_comes_first() {
        let mut memory = Memory::default();
        let whole = segment(&["a"], &[range(0, 100)]);
        let part = segment(&["a"], &[range(40, 60)]);
        memory.fail(&whole, std::slice::from_ref(&whole), 1, 10);
        memory.fail(&part, std::slice::from_ref(&part), 2, 10);
        let (left, pieces) = cut(vec![due(&["a"], 0, 100)], &memory.failing, 10);
        let rest = segment(&["a"], &[range(0, 40), range(60, 100)]);
        assert_eq!((left, pieces), (Vec::new(), vec![(part, 2), (rest, 1)]));
    }

    type Cell = (String, i64);

    fn cells(tables: &[String], span: Span) -> impl Iterator<Item = Cell> {
        (span.first..=span.last).flat_map(|token| tables.iter().map(move |t| (t.clone(), token)))
    }

    fn tables() -> impl Strategy<Value = Vec<String>> {
        proptest::sample::subsequence(vec!["a".to_string(), "b".into(), "c".into()], 1..=3)
    }

    proptest! {
        /// Each table of each token that is due is in one place, and in no other.
        #[test]
        fn nothing_is_lost_and_nothing_comes_twice(
            owned in proptest::collection::vec((tables(), 0_i64..8), 1..4),
            failed in proptest::collection::vec((tables(), 0_i64..40, 1_i64..20, 1_u32..5), 0..6),
        ) {
            let mut all = Vec::new();
            let mut first = 0;
            for (tables, size) in owned {
                let span = Span { first, last: first + size };
                first += size + 2;
                all.push(Due { keyspace: "shop".into(), tables, span, at: None, due: 0 });
            }
            let mut memory = Memory::default();
            for (tables, start, size, failures) in failed {
                let ranges = vec![range(start, start + size)];
                let one = Segment { keyspace: "shop".into(), tables, ranges };
                memory.fail(&one, std::slice::from_ref(&one), failures, 0);
            }
            let wanted: BTreeSet<Cell> =
                all.iter().flat_map(|d| cells(&d.tables, d.span)).collect();
            let (left, _) = awake(all, &memory.failing, 0);
            let rests = |cell: &Cell| memory.failing.iter().any(|failing| {
                let has = |r: &Range| r.overlaps(Span { first: cell.1, last: cell.1 });
                failing.failures >= TRIES
                    && failing.segment.tables.contains(&cell.0)
                    && failing.segment.ranges.iter().any(has)
            });
            let wanted: Vec<Cell> = wanted.into_iter().filter(|cell| !rests(cell)).collect();
            let (left, pieces) = cut(left, &memory.failing, 0);
            let mut found: Vec<Cell> =
                left.iter().flat_map(|d| cells(&d.tables, d.span)).collect();
            for (piece, failures) in &pieces {
                prop_assert!(*failures < TRIES && !piece.ranges.is_empty());
                for span in piece.ranges.iter().flat_map(|range| range.spans()) {
                    found.extend(cells(&piece.tables, span));
                }
            }
            found.sort();
            prop_assert_eq!(found, wanted);
        }
    }
}
