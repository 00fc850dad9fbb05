//! The memory against a model that keeps a time for each token and each table.

use super::due::{due, interval};
use super::memory::{Memory, Own};
use super::outlook::outlook;
use super::pieces::{Piece, coarser, fit, note};
use super::schema::{Keyspace, Schema, Table, parse};
use super::segments::{Held, plan};
use super::survey::of_member;
use crate::admin::jobs::Tables;
use crate::admin::jobs::{Holders, Segment};
use crate::ranges::{Range, Span};
use palladion_api::ids::HostId;
use palladion_api::repair::{Coverage, RepairStatus};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Tokens at which model and memory are compared: some, and the borders of the ring.
fn probes() -> Vec<i64> {
    (0..40).chain([i64::MIN + 1, i64::MIN + 2, -1, i64::MAX - 1, i64::MAX]).collect()
}

fn has(range: Range, token: i64) -> bool {
    match range.start < range.end {
        true => range.start < token && token <= range.end,
        false => range.start < token || token <= range.end,
    }
}

fn at(pieces: &[Piece], token: i64) -> Option<&Piece> {
    pieces.iter().find(|piece| piece.first <= token && token <= piece.last)
}

fn is_in_order(pieces: &[Piece]) -> bool {
    pieces.iter().all(|p| p.first <= p.last)
        && pieces.windows(2).all(|two| two[0].last < two[1].first)
}

/// Ranges that do not overlap: every second stretch between some tokens, around the ring.
fn ranges() -> impl Strategy<Value = Vec<Range>> {
    proptest::collection::btree_set(0_i64..40, 2..8).prop_map(|tokens| {
        let tokens: Vec<i64> = tokens.into_iter().collect();
        let pairs = tokens.iter().zip(tokens.iter().cycle().skip(1)).step_by(2);
        pairs.map(|(start, end)| Range { start: *start, end: *end }).collect()
    })
}

#[derive(Clone, Debug)]
enum Happens {
    /// The member has these ranges from now on.
    Owns(Vec<Range>),
    /// A table is dropped and created again.
    Recreated(usize),
    /// The keyspace gets another replication.
    Replicated,
    /// Some tables are repaired, in a part of the ranges.
    Repaired { tables: [bool; 3], part: (i64, i64), moves: bool },
    /// Time passes.
    Passes(i64),
    /// The clock is set back.
    SetBack(i64),
}

fn happens() -> impl Strategy<Value = Happens> {
    let repaired = (any::<[bool; 3]>(), (0_i64..40, 0_i64..40), any::<bool>())
        .prop_map(|(tables, part, moves)| Happens::Repaired { tables, part, moves });
    prop_oneof![
        2 => ranges().prop_map(Happens::Owns),
        1 => (0_usize..3).prop_map(Happens::Recreated),
        1 => Just(Happens::Replicated),
        6 => repaired,
        3 => (1_i64..100_000).prop_map(Happens::Passes),
        1 => (1_i64..100_000).prop_map(Happens::SetBack),
    ]
}

/// What is true: when each token of each table was repaired last, to the minute of the clock.
struct Model {
    schema: Schema,
    own: Own,
    times: BTreeMap<(String, i64), i64>,
    made: usize,
    now: i64,
}

impl Model {
    fn new(own: Vec<Range>) -> Self {
        let tables =
            (0..3).map(|n| (format!("t{n}"), Table { id: format!("{n}"), grace: 864_000 }));
        let keyspace = Keyspace { replication: "0".into(), tables: tables.collect() };
        Self {
            schema: Schema { keyspaces: [("ks".to_string(), keyspace)].into() },
            own: [("ks".to_string(), own)].into(),
            times: BTreeMap::new(),
            made: 3,
            now: 1_000_000,
        }
    }

    fn follow(&mut self, memory: &mut Memory, what: &Happens) {
        let host = HostId::from("h");
        match what {
            Happens::Owns(ranges) => {
                self.own = [("ks".to_string(), ranges.clone())].into();
                self.times.retain(|(_, token), _| ranges.iter().any(|r| has(*r, *token)));
            }
            Happens::Recreated(n) => {
                self.made += 1;
                let name = format!("t{n}");
                let keyspace = self.schema.keyspaces.get_mut("ks").unwrap();
                keyspace.tables.get_mut(&name).unwrap().id = self.made.to_string();
                self.times.retain(|(table, _), _| *table != name);
            }
            Happens::Replicated => {
                self.made += 1;
                self.schema.keyspaces.get_mut("ks").unwrap().replication = self.made.to_string();
                self.times.clear();
            }
            Happens::Repaired { tables, part, moves } => {
                let tables = (0..3).filter(|n| tables[*n]).map(|n| format!("t{n}"));
                let tables: Vec<String> = tables.collect();
                let ranges = vec![Range { start: part.0, end: part.1 }];
                let segment = Segment {
                    keyspace: "ks".into(),
                    tables: tables.clone(),
                    ranges: ranges.clone(),
                };
                memory.begin(&segment, "ring", self.now);
                assert_eq!(memory.finish(if *moves { "other" } else { "ring" }), !moves);
                let minute = self.now.div_euclid(60) * 60;
                for token in probes().iter().filter(|t| !moves && has(ranges[0], **t)) {
                    let is_own = self.own["ks"].iter().any(|r| has(*r, *token));
                    for table in tables.iter().filter(|_| is_own) {
                        self.times.insert((table.clone(), *token), minute);
                    }
                }
            }
            Happens::Passes(seconds) => self.now += seconds,
            Happens::SetBack(seconds) => self.now -= seconds,
        }
        memory.observe(&host, &self.schema, &self.own, self.now);
        let doubtful = self.now + 60;
        self.times.retain(|_, time| *time <= doubtful);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// It never takes a token for repaired that was not, nor later than it was; and
    /// while there are few groups it forgets nothing that is true.
    #[test]
    fn the_memory_is_never_newer_than_the_truth(own in ranges(), story in proptest::collection::vec(happens(), 1..24)) {
        let (mut model, mut memory) = (Model::new(own.clone()), Memory::default());
        model.follow(&mut memory, &Happens::Owns(own));
        for what in &story {
            model.follow(&mut memory, what);
            let history = &memory.keyspaces["ks"];
            for (name, table) in &model.schema.keyspaces["ks"].tables {
                let of = |g: &&super::memory::Group| g.tables.get(name) == Some(table);
                let group = history.groups.iter().find(of).expect("each table is in a group");
                prop_assert!(is_in_order(&group.pieces));
                for token in probes() {
                    let is_own = model.own["ks"].iter().any(|r| has(*r, token));
                    let found = at(&group.pieces, token);
                    prop_assert_eq!(found.is_some(), is_own, "{}", token);
                    let known = found.and_then(|piece| piece.at);
                    let truth = model.times.get(&(name.clone(), token)).copied();
                    prop_assert_eq!(known, truth, "{} {}", name, token);
                }
            }
            let text = serde_json::to_string(&memory).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Memory>(&text).unwrap(), &memory);
        }
    }

    #[test]
    fn a_span_is_cut_into_pieces_that_are_the_span(first in any::<i64>(), last in any::<i64>(), pieces in 1_u64..64) {
        prop_assume!(first <= last && first > i64::MIN);
        let span = Span { first, last };
        let cut = span.cut(pieces);
        prop_assert_eq!(cut.first().unwrap().first, first);
        prop_assert_eq!(cut.last().unwrap().last, last);
        prop_assert!(cut.windows(2).all(|two| two[0].last + 1 == two[1].first));
        prop_assert!(cut.iter().all(|span| span.first <= span.last));
        prop_assert_eq!(cut.iter().map(|span| u128::from(span.tokens())).sum::<u128>(), u128::from(span.tokens()));
    }

    /// Each table of each part that is due is in the calls exactly once, and a call
    /// has a bounded number of ranges, none of which begins where it ends.
    #[test]
    fn calls_are_of_all_that_is_due(own in ranges(), bytes in proptest::collection::vec(0_u64..5_000, 3), size in 50_u64..3_000) {
        let mut memory = Memory::default();
        let mut model = Model::new(own.clone());
        model.follow(&mut memory, &Happens::Owns(own));
        let all = due(&memory, &Coverage::default(), model.now);
        let tables = (0..3).map(|n| (format!("t{n}"), bytes[n])).collect();
        let held = Held::from([("ks".to_string(), 40)]);
        let calls = plan(&all, &Tables::from([("ks".to_string(), tables)]), &held, size);
        for call in &calls {
            prop_assert!(call.ranges.len() <= 64);
            prop_assert!(call.ranges.iter().all(|r| r.start < r.end), "{:?}", call);
        }
        for token in probes() {
            let is_own = model.own["ks"].iter().any(|r| has(*r, token));
            for name in ["t0", "t1", "t2"] {
                let of = |s: &&Segment| s.tables.iter().any(|t| t == name);
                let ranges = calls.iter().filter(of).flat_map(|s| &s.ranges);
                let times = ranges.filter(|r| has(**r, token)).count();
                prop_assert_eq!(times, usize::from(is_own), "{} {}", name, token);
            }
        }
    }
}

fn piece(first: i64, last: i64, at: Option<i64>) -> Piece {
    Piece { first, last, since: 0, at }
}

#[test]
fn a_range_that_grew_was_never_repaired_where_it_grew() {
    let known = [piece(11, 20, Some(600))];
    let grown = fit(&known, &[Range { start: 5, end: 20 }], 6_000);
    let new = Piece { first: 6, last: 10, since: 6_000, at: None };
    assert_eq!(grown, [new, piece(11, 20, Some(600))]);
    let less = fit(&known, &[Range { start: 15, end: 20 }], 6_000);
    let back = fit(&less, &[Range { start: 10, end: 20 }], 6_000);
    let lost = Piece { first: 11, last: 15, since: 6_000, at: None };
    assert_eq!(back, [lost, piece(16, 20, Some(600))], "what was lost is forgotten");
}

#[test]
fn a_time_ahead_of_now_is_none_and_one_less_exact_is_earlier() {
    let known = [piece(1, 10, Some(6_000))];
    assert_eq!(fit(&known, &[Range { start: 0, end: 10 }], 5_000)[0].at, None);
    let noted = note(&known, Span { first: 3, last: 4 }, 12_059);
    assert_eq!(noted[1], piece(3, 4, Some(12_000)), "to the minute");
    let less =
        coarser(&[piece(1, 3, None), piece(4, 4, Some(12_000)), piece(5, 9, Some(12_500))], 7_680);
    let times: Vec<_> = less.iter().map(|p| (p.first, p.last, p.at)).collect();
    assert_eq!(times, [(1, 3, None), (4, 9, Some(7_680))]);
}

/// A keyspace of so many tables, of which this member has these ranges.
fn many_tables(tables: usize, ranges: &[Range]) -> (Schema, Own) {
    let table = |n: usize| (format!("t{n}"), Table { id: n.to_string(), grace: 864_000 });
    let keyspace =
        Keyspace { replication: String::new(), tables: (0..tables).map(table).collect() };
    let schema = Schema { keyspaces: [("ks".to_string(), keyspace)].into() };
    (schema, Own::from([("ks".to_string(), ranges.to_vec())]))
}

/// Each table is repaired by itself, first in all of the first range.
fn repair_one_by_one(memory: &mut Memory, tables: usize, ranges: &[Range], step: i64) -> i64 {
    let mut now = 0;
    for range in ranges {
        for n in 0..tables {
            let (tables, ranges) = (vec![format!("t{n}")], vec![*range]);
            let segment = Segment { keyspace: "ks".into(), tables, ranges };
            now += step;
            memory.begin(&segment, "ring", now);
            assert!(memory.finish("ring"));
        }
    }
    now
}

#[test]
fn a_keyspace_that_had_one_copy_for_a_while_is_as_late_as_before() {
    let ranges = [Range { start: 0, end: 30 }];
    let (schema, own) = many_tables(1, &ranges);
    let mut memory = Memory::default();
    memory.observe(&"h".into(), &schema, &own, 0);
    let tables = vec!["t0".to_string()];
    let segment = Segment { keyspace: "ks".into(), tables, ranges: ranges.to_vec() };
    memory.begin(&segment, "ring", 600);
    assert!(memory.finish("ring"));
    let one_copy = Own::from([("ks".to_string(), Vec::new())]);
    for now in [1_000, 2_000] {
        memory.observe(&"h".into(), &schema, &one_copy, now);
        assert_eq!(outlook(&memory, &Coverage::default()), RepairStatus::default());
        assert!(due(&memory, &Coverage::default(), 900_000).is_empty(), "it has no copy");
    }
    memory.observe(&"h".into(), &schema, &own, 500_000);
    let figures = outlook(&memory, &Coverage::default());
    assert_eq!(figures.unsafe_at.map(|at| at.0.as_second()), Some(600 + 864_000));
    assert_eq!(figures.never_ranges, 1, "others have taken rows meanwhile");
    // Of a keyspace that is dropped nothing is kept.
    memory.observe(&"h".into(), &schema, &one_copy, 500_001);
    memory.observe(&"h".into(), &Schema::default(), &one_copy, 500_002);
    memory.observe(&"h".into(), &schema, &own, 600_000);
    let figures = outlook(&memory, &Coverage::default());
    assert_eq!(figures.unsafe_at.map(|at| at.0.as_second()), Some(600_000 + 864_000));
}

#[test]
fn of_more_histories_than_are_kept_nothing_is_forgotten_that_was_repaired() {
    let ranges = [Range { start: 0, end: 50 }, Range { start: 70, end: 100 }];
    for tables in [17, 70, 200] {
        let (schema, own) = many_tables(tables, &ranges);
        let mut memory = Memory::default();
        memory.observe(&"h".into(), &schema, &own, 0);
        let now = repair_one_by_one(&mut memory, tables, &ranges, 60);
        let left = due(&memory, &Coverage::default(), now);
        assert!(left.is_empty(), "{} of {tables} tables are due: {left:?}", left.len());
        assert_eq!(outlook(&memory, &Coverage::default()).never_ranges, 0);
        let history = &memory.keyspaces["ks"];
        assert!(history.groups.len() <= 64, "{}", history.groups.len());
        assert_eq!(history.groups.iter().map(|g| g.tables.len()).sum::<usize>(), tables);
        for n in 0..tables {
            let name = format!("t{n}");
            let group = history.groups.iter().find(|g| g.tables.contains_key(&name)).unwrap();
            let at = |first| at(&group.pieces, first).unwrap().at.unwrap();
            let begun = |range: usize| 60 * i64::try_from(range * tables + n + 1).unwrap();
            assert!(at(1) <= begun(0) && at(71) <= begun(1), "{name} is not newer than it is");
        }
    }
}

#[test]
fn a_table_that_is_made_beside_many_histories_is_not_late_at_once() {
    let ranges = [Range { start: 0, end: 100 }];
    for tables in [16, 64, 100] {
        let (schema, own) = many_tables(tables, &ranges);
        let mut memory = Memory::default();
        memory.observe(&"h".into(), &schema, &own, 0);
        repair_one_by_one(&mut memory, tables, &ranges, 7_200);
        let (schema, own) = many_tables(tables + 1, &ranges);
        let now = 730_020;
        memory.observe(&"h".into(), &schema, &own, now);
        let told = outlook(&memory, &Coverage::default());
        let at = told.unsafe_at.expect("it has tables").0.as_second();
        assert!(at >= 864_000, "{tables} tables: {at}");
        let made = due(&memory, &Coverage::default(), now);
        assert_eq!(made[0].tables, [format!("t{tables}")]);
        assert_eq!(made.iter().filter(|due| due.at.is_none()).count(), 1, "it alone");
        assert_eq!((made[0].at, made[0].due), (None, now));
    }
}

#[test]
fn another_member_on_the_volume_remembers_nothing() {
    let (own, mut memory) = (vec![Range { start: 0, end: 10 }], Memory::default());
    let mut model = Model::new(own.clone());
    model.follow(&mut memory, &Happens::Owns(own));
    let all = Happens::Repaired { tables: [true; 3], part: (0, 10), moves: false };
    model.follow(&mut memory, &all);
    assert!(due(&memory, &Coverage::default(), model.now).is_empty());
    memory.observe(&"other".into(), &model.schema, &model.own, model.now);
    assert_eq!(due(&memory, &Coverage::default(), model.now)[0].at, None);
}

#[test]
fn with_another_replication_it_is_late_as_long_after_its_last_repair_as_before() {
    let second = |time: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>| {
        time.map(|t| t.0.as_second())
    };
    let (own, mut memory) = (vec![Range { start: 0, end: 30 }], Memory::default());
    let mut model = Model::new(own.clone());
    model.follow(&mut memory, &Happens::Owns(own));
    let begun = model.now.div_euclid(60) * 60;
    let half = Happens::Repaired { tables: [true; 3], part: (0, 10), moves: false };
    model.follow(&mut memory, &Happens::Passes(600));
    model.follow(&mut memory, &half);
    model.follow(&mut memory, &Happens::Passes(800_000));
    let before = outlook(&memory, &Coverage::default());
    model.follow(&mut memory, &Happens::Replicated);
    let told = outlook(&memory, &Coverage::default());
    assert_eq!(told.behind_at, before.behind_at, "nothing was repaired");
    assert_eq!(second(told.unsafe_at), Some(begun + 864_000));
    assert_eq!((told.never_ranges, told.oldest_at), (1, None), "what was repaired counts no more");
    let all = due(&memory, &Coverage::default(), model.now);
    assert!(all.iter().all(|due| due.at.is_none()), "{all:?}");
    let since: Vec<_> = all.iter().map(|due| (due.span.first, due.due)).collect();
    assert_eq!(since, [(11, begun), (1, begun + 600)]);
}

/// How old its data is nobody knows: it may be as old as deletions are kept.
#[test]
fn what_was_forgotten_as_a_whole_is_late_from_then_on() {
    let (schema, own) = many_tables(2, &[Range { start: 0, end: 50 }]);
    let mut memory = Memory::forgotten();
    memory.observe(&"h".into(), &schema, &own, 900_000);
    let told = outlook(&memory, &Coverage::default());
    let second = |time: &Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>| {
        time.as_ref().map(|t| t.0.as_second())
    };
    assert_eq!(second(&told.unsafe_at), Some(900_000));
    let (schema, own) = many_tables(3, &[Range { start: 0, end: 50 }]);
    memory.observe(&"h".into(), &schema, &own, 900_060);
    let all = due(&memory, &Coverage::default(), 900_060);
    let since: Vec<_> = all.iter().map(|due| (due.tables.len(), due.due)).collect();
    assert_eq!(since, [(2, 36_000), (1, 900_060)], "one that was created since is not");
}

#[test]
fn what_was_never_repaired_comes_first_then_what_was_due_first() {
    let (own, mut memory) = (vec![Range { start: 0, end: 30 }], Memory::default());
    let mut model = Model::new(own.clone());
    model.follow(&mut memory, &Happens::Owns(own));
    for part in [(10, 20), (0, 10)] {
        let repaired = Happens::Repaired { tables: [true; 3], part, moves: false };
        model.follow(&mut memory, &repaired);
        model.follow(&mut memory, &Happens::Passes(600));
    }
    let later = model.now + interval(864_000, &Coverage::default());
    let all = due(&memory, &Coverage::default(), later);
    let order: Vec<_> = all.iter().map(|due| (due.span.first, due.at.is_some())).collect();
    assert_eq!(order, [(21, false), (11, true), (1, true)]);
}

#[test]
fn the_outlook_says_when_what_is_due_and_stays_while_nothing_is_repaired() {
    let (own, mut memory) = (vec![Range { start: 0, end: 30 }], Memory::default());
    let mut model = Model::new(own.clone());
    model.schema.keyspaces.get_mut("ks").unwrap().tables.get_mut("t2").unwrap().grace = 60;
    model.follow(&mut memory, &Happens::Owns(own));
    let begun = model.now.div_euclid(60) * 60;
    let second = |time: &Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>| {
        time.as_ref().map(|t| t.0.as_second())
    };
    let first = outlook(&memory, &Coverage::default());
    assert_eq!((second(&first.due_at), first.never_ranges, first.ranges), (Some(begun), 1, 1));
    assert_eq!(second(&first.unsafe_at), Some(begun + 864_000));
    assert_eq!(first.short_grace, ["ks.t2"]);
    let all = Happens::Repaired { tables: [true; 3], part: (0, 30), moves: false };
    model.follow(&mut memory, &all);
    let repaired = outlook(&memory, &Coverage::default());
    assert_eq!(second(&repaired.due_at), Some(begun + 518_400), "60% of ten days");
    assert_eq!(second(&repaired.behind_at), Some(begun + 777_600));
    assert_eq!(second(&repaired.oldest_at), Some(begun));
    assert_eq!(repaired.never_ranges, 0);
    model.follow(&mut memory, &Happens::Passes(5_000));
    assert_eq!(outlook(&memory, &Coverage::default()), repaired);
    let soon = Coverage { within_seconds: Some(3_600), ..Coverage::default() };
    assert_eq!(second(&outlook(&memory, &soon).due_at), Some(begun + 3_600));
    let other = Coverage { keyspaces: vec!["other".into()], ..Coverage::default() };
    assert_eq!(outlook(&memory, &other).due_at, None);
    let tables = ["ks.t0", "ks.t1", "ks.t2"].map(str::to_string).to_vec();
    let none = Coverage { exclude_tables: tables, ..Coverage::default() };
    assert_eq!(outlook(&memory, &none), Default::default());
}

#[test]
fn own_ranges_are_those_whose_first_copy_is_here_and_that_have_another() {
    let range = |start: &str, end: &str, members: &[&'static str]| Holders {
        start: start.into(),
        end: end.into(),
        members: members.iter().map(|m| (*m).into()).collect(),
    };
    let all = [
        range("-9223372036854775808", "-1", &["a", "b"]),
        range("-1", "7", &["b", "a"]),
        range("7", "-9223372036854775808", &["a"]),
    ];
    let (own, held) = of_member(&all, &"a".into()).unwrap();
    assert_eq!(own, [Range { start: i64::MIN, end: -1 }]);
    assert_eq!(held, u64::MAX, "all tokens but the border, which no key has");
    assert!(of_member(&[range("ab", "cd", &["a", "b"])], &"a".into()).is_err());
}

#[test]
fn tables_and_views_are_read_from_rows() {
    let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_string()).collect::<Vec<_>>();
    let keyspaces =
        rows(&[r#"{"keyspace_name": "shop", "replication": {"dc1": "3", "class": "N"}}"#]);
    let tables = rows(&[
        r#"{"keyspace_name": "shop", "table_name": "t", "id": "1", "gc_grace_seconds": 864000}"#,
        r#"{"keyspace_name": "shop", "view_name": "v", "id": "2", "gc_grace_seconds": 600}"#,
        r#"{"keyspace_name": "new", "table_name": "t", "id": "3", "gc_grace_seconds": 600}"#,
    ]);
    let schema = parse(&keyspaces, &tables).unwrap();
    assert_eq!(schema.keyspaces.len(), 1);
    let shop = &schema.keyspaces["shop"];
    assert_eq!(shop.replication, r#"{"class":"N","dc1":"3"}"#);
    let names: Vec<_> = shop.tables.iter().map(|(name, t)| (name.as_str(), t.grace)).collect();
    assert_eq!(names, [("t", 864_000), ("v", 600)]);
    // Without it the keyspace or table would be forgotten, and nothing of it would be due.
    for odd in [
        "no json",
        r#"{"keyspace_name": "shop", "replication": "N"}"#,
        r#"{"replication": {"class": "N"}}"#,
    ] {
        let why = parse(&rows(&[odd]), &tables).unwrap_err();
        assert!(why.contains(odd), "{why}");
    }
    for odd in [
        "no json",
        r#"{"keyspace_name": "shop", "table_name": "odd", "id": "4", "gc_grace_seconds": -1}"#,
        r#"{"keyspace_name": "shop", "table_name": "odd", "gc_grace_seconds": 600}"#,
        r#"{"table_name": "odd", "id": "4", "gc_grace_seconds": 600}"#,
    ] {
        let why = parse(&keyspaces, &rows(&[odd])).unwrap_err();
        assert!(why.contains(odd), "{why}");
    }
}

#[test]
fn halves_of_a_segment_have_all_of_its_tokens_and_none_twice() {
    let of = |ranges: &[(i64, i64)]| Segment {
        keyspace: "shop".into(),
        tables: vec!["orders".into()],
        ranges: ranges.iter().map(|(start, end)| Range { start: *start, end: *end }).collect(),
    };
    for ranges in [&[(0, 100)][..], &[(0, 7), (20, 30), (50, 60)], &[(100, -100)]] {
        let segment = of(ranges);
        let (a, b) = segment.halves().unwrap();
        for token in probes().into_iter().chain([-100, -99, 100, 101]) {
            let held = |s: &Segment| s.ranges.iter().filter(|range| has(**range, token)).count();
            assert_eq!(held(&a) + held(&b), held(&segment), "{token} of {ranges:?}");
        }
        assert!(!a.ranges.is_empty() && !b.ranges.is_empty());
    }
    assert_eq!(of(&[(0, 1)]).halves(), None, "one token");
}
