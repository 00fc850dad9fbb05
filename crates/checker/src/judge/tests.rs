//! Rings that did what they promised pass; each promise that is broken is seen.

use proptest::prelude::*;

use super::*;
use crate::dice::value_of;
use crate::history::{Attempt, Run};
use crate::level::Level;

const SEED: u64 = 5;
const STRICT: Claims =
    Claims { at_one: AtOne::MustBeKept, replica_percent: 100, in_flight: 0, lost_before: None };

/// What a write did: which of the three members have it.
#[derive(Clone, Debug)]
struct Write {
    key: i64,
    delete: bool,
    level: Level,
    outcome: Outcome,
    on: [bool; 3],
}

fn member(index: usize) -> Member {
    let address = format!("10.0.0.{}", index + 1);
    Member { address, host_id: format!("host-{}", index + 1), rack: "a".into() }
}

fn acknowledged(key: i64, level: Level, on: [bool; 3]) -> Write {
    Write { key, delete: false, level, outcome: Outcome::Acknowledged, on }
}

fn deleted(key: i64, level: Level, on: [bool; 3]) -> Write {
    Write { delete: true, ..acknowledged(key, level, on) }
}

/// The history of these writes.
fn history_of(writes: &[Write]) -> History {
    let run = Run { at: 0, seed: SEED, keyspace: "checked".into() };
    let operations = writes.iter().enumerate().map(|(index, write)| {
        let id = index as u64 + 1;
        let version = version(writes, index);
        let action = match write.delete {
            true => Action::Delete { version },
            false => Action::Put { version },
        };
        let at = id as i64 * 1_000_000;
        let attempt = Attempt { id, at, key: write.key, action, level: write.level };
        Operation { attempt, outcome: write.outcome.clone(), ended: Some(at + 1) }
    });
    History { runs: vec![run], operations: operations.collect() }
}

fn version(writes: &[Write], index: usize) -> u64 {
    writes[..=index].iter().filter(|write| write.key == writes[index].key).count() as u64
}

/// Index of the newest write of a key that one of these members has.
fn newest(writes: &[Write], key: i64, members: &[usize]) -> Option<usize> {
    writes.iter().rposition(|write| write.key == key && members.iter().any(|m| write.on[*m]))
}

fn read(writes: &[Write], members: &[usize]) -> Found {
    let mut found = Found::new();
    for key in writes.iter().map(|write| write.key) {
        let state = newest(writes, key, members).filter(|index| !writes[*index].delete);
        if let Some(index) = state {
            let version = version(writes, index);
            let value = value_of(SEED, key, version);
            found.insert(key, row_state(Some(version as i64), Some(&value)));
        }
    }
    found
}

/// What a ring of three with three copies answers, that has these writes.
fn reading_of(writes: &[Write]) -> Reading {
    reading_by(writes, &[0, 1, 2])
}

/// What a ring answers whose members all have a copy, and who read at QUORUM with the next.
fn reading_by(writes: &[Write], members: &[usize]) -> Reading {
    let count = members.len();
    let rows = Observed {
        replicas: writes
            .iter()
            .map(|write| (write.key, members.iter().map(|m| member(*m)).collect()))
            .collect(),
        alone: members.iter().map(|m| (member(*m), read(writes, &[*m]))).collect(),
        quorum: members
            .iter()
            .map(|m| (member(*m), read(writes, &[*m, (m + 1) % count])))
            .collect(),
        all: read(writes, members),
    };
    Reading { rows, ..Reading::default() }
}

fn kinds(writes: &[Write], claims: Claims) -> Vec<Kind> {
    let judgement = judge(&history_of(writes), &reading_of(writes), claims);
    let mut kinds: Vec<Kind> = judgement.verdicts.iter().map(|verdict| verdict.kind).collect();
    kinds.dedup();
    kinds
}

const ALL: [bool; 3] = [true; 3];
const NONE: [bool; 3] = [false; 3];
const FIRST: [bool; 3] = [true, false, false];
const TWO: [bool; 3] = [true, true, false];

#[test]
fn a_whole_ring_passes() {
    let writes = [
        acknowledged(1, Level::All, ALL),
        acknowledged(2, Level::One, ALL),
        deleted(1, Level::Quorum, ALL),
    ];
    assert_eq!(kinds(&writes, STRICT), []);
}

#[test]
fn a_replica_that_missed_a_quorum_write_is_incomplete_and_no_more() {
    let writes = [acknowledged(1, Level::All, ALL), acknowledged(2, Level::Quorum, TWO)];
    assert_eq!(kinds(&writes, STRICT), [Kind::ReplicaIncomplete]);
    assert_eq!(kinds(&writes, Claims { replica_percent: 50, ..STRICT }), []);
}

#[test]
fn what_was_in_flight_when_all_ended_may_be_missing_from_one_replica_and_no_more() {
    let one = [acknowledged(1, Level::All, ALL), acknowledged(2, Level::Quorum, TWO)];
    assert_eq!(kinds(&one, Claims { in_flight: 1, ..STRICT }), []);
    let [first, second] = one;
    let two = [first, second, acknowledged(3, Level::Quorum, TWO)];
    assert_eq!(kinds(&two, Claims { in_flight: 1, ..STRICT }), [Kind::ReplicaIncomplete]);
    // What each has acknowledged was not in flight.
    let claims = Claims { in_flight: 1, ..STRICT };
    assert_eq!(kinds(&[acknowledged(1, Level::All, TWO)], claims), [Kind::MissingFromReplica]);
}

#[test]
fn a_replica_that_lacks_what_all_acknowledged_is_named() {
    let writes = [acknowledged(1, Level::All, TWO), acknowledged(2, Level::All, ALL)];
    let judgement = judge(&history_of(&writes), &reading_of(&writes), STRICT);
    let first = &judgement.verdicts[0];
    assert_eq!((first.kind, first.key), (Kind::MissingFromReplica, Some(1)));
    assert_eq!(
        first.message,
        "row 1: version 1, acknowledged at ALL 1 s into the history; \
         10.0.0.3 (rack a, host ID host-3) by itself found nothing"
    );
}

#[test]
fn what_a_quorum_acknowledged_and_one_has_is_held_by_too_few_and_lost_to_some() {
    let writes = [acknowledged(1, Level::Quorum, FIRST)];
    let kinds = kinds(&writes, STRICT);
    assert!(kinds.contains(&Kind::HeldByTooFew) && kinds.contains(&Kind::Lost), "{kinds:?}");
}

#[test]
fn of_two_replicas_that_are_left_one_that_has_it_is_in_each_quorum() {
    let claims = Claims { replica_percent: 0, ..STRICT };
    let left = |on| {
        let writes = [acknowledged(1, Level::Quorum, on)];
        let judgement = judge(&history_of(&writes), &reading_by(&writes, &[0, 1]), claims);
        judgement.verdicts.into_iter().map(|verdict| verdict.kind).collect::<Vec<_>>()
    };
    assert_eq!(left([true, false, true]), []);
    assert!(left([false, false, true]).contains(&Kind::HeldByTooFew));
}

#[test]
fn what_was_acknowledged_at_one_and_nobody_has_is_lost_unless_it_may_be() {
    let writes = [acknowledged(1, Level::One, NONE)];
    assert_eq!(kinds(&writes, STRICT), [Kind::Lost, Kind::ReplicaIncomplete]);
    let lenient = Claims { at_one: AtOne::MayBeLost, replica_percent: 0, ..STRICT };
    assert_eq!(kinds(&writes, lenient), []);
}

#[test]
fn what_was_acknowledged_at_one_after_a_volume_was_lost_must_be_kept() {
    // The first is attempted in second 1, the second in second 2.
    let writes = [acknowledged(1, Level::One, NONE), acknowledged(2, Level::One, NONE)];
    let claims = Claims { lost_before: Some(2_000_000), replica_percent: 0, ..STRICT };
    let judgement = judge(&history_of(&writes), &reading_of(&writes), claims);
    let found: Vec<_> = judgement.verdicts.iter().map(|v| (v.kind, v.key)).collect();
    assert_eq!(found, [(Kind::Lost, Some(2))]);
    // What more than one has acknowledged is not lost with one volume.
    let quorum = [acknowledged(1, Level::Quorum, NONE)];
    assert!(kinds(&quorum, claims).contains(&Kind::Lost));
}

#[test]
fn rows_of_which_nothing_is_known_are_counted() {
    let unknown = || Outcome::Unknown { cause: "timeout".into() };
    let vague = |key| Write { outcome: unknown(), ..deleted(key, Level::All, ALL) };
    let mut writes: Vec<Write> = (0..10).map(|key| acknowledged(key, Level::All, ALL)).collect();
    let judged = |writes: &[Write]| Coverage::of(&history_of(writes));
    assert_eq!(judged(&writes), Coverage { rows: 10, unknown: 0 });
    writes.extend([vague(0), vague(1)]);
    assert_eq!(judged(&writes).unknown, 2);
    assert!(judged(&writes).says_enough());
    writes.push(vague(2));
    assert!(!judged(&writes).says_enough(), "three of ten");
}

#[test]
fn a_deletion_that_two_have_forgotten_is_resurrected() {
    let writes = [acknowledged(1, Level::All, ALL), deleted(1, Level::Quorum, NONE)];
    let kinds = kinds(&writes, STRICT);
    assert!(kinds.contains(&Kind::Resurrected), "{kinds:?}");
}

#[test]
fn an_unknown_write_may_be_there_or_not() {
    for on in [NONE, FIRST, ALL] {
        let unknown = Outcome::Unknown { cause: "timeout".into() };
        let last = Write { outcome: unknown, ..acknowledged(1, Level::All, on) };
        assert_eq!(kinds(&[acknowledged(1, Level::All, ALL), last], STRICT), [], "{on:?}");
    }
}

#[test]
fn a_deletion_that_was_refused_excuses_nothing() {
    let refused = Outcome::Failed { cause: "unavailable".into() };
    let writes = [
        acknowledged(1, Level::All, NONE),
        Write { outcome: refused, ..deleted(1, Level::All, NONE) },
    ];
    assert!(kinds(&writes, STRICT).contains(&Kind::Lost));
}

#[test]
fn another_value_or_a_key_that_nobody_wrote_is_wrong() {
    let writes = [acknowledged(1, Level::All, ALL)];
    let mut reading = reading_of(&writes);
    reading.rows.all.insert(1, row_state(Some(1), Some("mud")));
    reading.rows.all.insert(9, row_state(Some(1), Some("mud")));
    let judgement = judge(&history_of(&writes), &reading, STRICT);
    let found: Vec<_> = judgement.verdicts.iter().map(|v| (v.kind, v.key)).collect();
    assert_eq!(found, [(Kind::WrongValue, Some(1)), (Kind::WrongValue, Some(9))]);
}

#[test]
fn an_acknowledged_register_that_went_back_is_lost() {
    let swap = |id: u64, from: Option<&str>, to: &str| {
        let action = Action::Swap { from: from.map(str::to_owned), to: to.to_owned() };
        let attempt = Attempt { id, at: id as i64, key: 3, action, level: Level::Quorum };
        Operation { attempt, outcome: Outcome::Acknowledged, ended: Some(id as i64) }
    };
    let run = Run { at: 0, seed: SEED, keyspace: "checked".into() };
    let operations = vec![swap(1, None, "a"), swap(2, Some("a"), "b")];
    let history = History { runs: vec![run], operations };
    let found = |value: &str| Found::from([(3, value.to_owned())]);
    let reading = |value: &str, serial: &str| Reading {
        registers: Observed {
            replicas: [(3, (0..3).map(member).collect())].into(),
            alone: (0..3).map(|m| (member(m), found(value))).collect(),
            quorum: (0..3).map(|m| (member(m), found(value))).collect(),
            all: found(value),
        },
        serial: found(serial),
        ..Reading::default()
    };
    assert!(judge(&history, &reading("b", "b"), STRICT).verdicts.is_empty());
    let verdicts = judge(&history, &reading("b", "a"), STRICT).verdicts;
    assert_eq!(verdicts[0].kind, Kind::Lost, "{verdicts:?}");
    let verdicts = judge(&history, &reading("a", "b"), STRICT).verdicts;
    assert_eq!(verdicts[0].kind, Kind::Lost, "{verdicts:?}");
    assert!(verdicts[0].message.contains("value b, acknowledged at QUORUM"), "{verdicts:?}");
}

fn any_level() -> impl Strategy<Value = Level> {
    prop::sample::select(Level::ALL_LEVELS.to_vec())
}

/// A write of a ring that keeps its promises: acknowledged by as many as it
/// says, and on any others too, or not known, or refused and nowhere.
fn any_true_write() -> impl Strategy<Value = Write> {
    let raw = (0..4i64, 0..4u8, any_level(), 0..6u8, 0..3usize, any::<[bool; 3]>());
    raw.prop_map(|(key, delete, level, fate, first, mut on)| {
        let outcome = match fate {
            0 => Outcome::Unknown { cause: "timeout".into() },
            1 => Outcome::Failed { cause: "unavailable".into() },
            _ => Outcome::Acknowledged,
        };
        if fate == 1 {
            on = NONE;
        }
        if fate > 1 {
            let needed = match level {
                Level::One => 1,
                Level::Quorum => 2,
                Level::All => 3,
            };
            (0..needed).for_each(|step| on[(first + step) % 3] = true);
        }
        Write { key, delete: delete == 0, level, outcome, on }
    })
}

fn any_true_writes() -> impl Strategy<Value = Vec<Write>> {
    prop::collection::vec(any_true_write(), 1..25)
}

/// The write that a key's promise at this level stands on, if the key is still
/// to be seen: no later write that may have happened has deleted it or stands over it.
fn bare(writes: &[Write], level: Level) -> Option<usize> {
    let happened = |write: &Write| !matches!(write.outcome, Outcome::Failed { .. });
    (0..writes.len()).find(|index| {
        let write = &writes[*index];
        let later = writes[index + 1..].iter().filter(|w| w.key == write.key && happened(w));
        write.outcome == Outcome::Acknowledged
            && write.level >= level
            && !write.delete
            && later.count() == 0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_ring_that_keeps_its_promises_passes(writes in any_true_writes()) {
        let claims = Claims { replica_percent: 0, ..STRICT };
        prop_assert_eq!(kinds(&writes, claims), []);
    }

    #[test]
    fn what_no_member_has_any_more_is_seen(writes in any_true_writes()) {
        let mut writes = writes;
        if let Some(index) = bare(&writes, Level::One) {
            let key = writes[index].key;
            writes.iter_mut().filter(|w| w.key == key).for_each(|w| w.on = NONE);
            let claims = Claims { replica_percent: 0, ..STRICT };
            prop_assert!(kinds(&writes, claims).contains(&Kind::Lost));
        }
    }

    #[test]
    fn an_emptied_member_is_seen(writes in any_true_writes(), which in 0..3usize) {
        let mut writes = writes;
        let all = bare(&writes, Level::All);
        let one = bare(&writes, Level::One);
        writes.iter_mut().for_each(|write| write.on[which] = false);
        let claims = Claims { replica_percent: 1, ..STRICT };
        if all.is_some() {
            prop_assert!(kinds(&writes, claims).contains(&Kind::MissingFromReplica));
        }
        if one.is_some() {
            prop_assert!(kinds(&writes, claims).contains(&Kind::ReplicaIncomplete));
        }
    }

    #[test]
    fn a_quorum_write_that_only_one_member_has_is_seen(
        writes in any_true_writes(), which in 0..3usize
    ) {
        let mut writes = writes;
        if let Some(index) = bare(&writes, Level::Quorum) {
            writes[index].on = NONE;
            writes[index].on[which] = true;
            let claims = Claims { replica_percent: 0, ..STRICT };
            prop_assert!(kinds(&writes, claims).contains(&Kind::HeldByTooFew));
        }
    }
}
