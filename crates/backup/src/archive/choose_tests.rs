use super::*;
use crate::manifest::member::Schema;
use crate::names::HostId;

const FROM: i64 = 10_000;
const TO: i64 = 10_030;
const LOSS: i64 = 60;

fn wanted(to: i64) -> Wanted {
    Wanted {
        window: Window { from: FROM, to: TO },
        schema: Hash::of(b"of the backup"),
        tokens_hash: "t".into(),
        ring: Some("all".into()),
        to,
    }
}

fn entry(number: u64, until: i64, brings: Brings) -> Entry {
    Entry {
        repository: "r".into(),
        host: HostId::parse("5f3c2b1a-0000-4000-8000-00000000000a").unwrap(),
        number,
        previous: None,
        until,
        since: until - 20,
        found: until,
        loss: 60,
        schema: Schema { object: "s".into(), sha256: Hash::of(b"of the backup"), bytes: 1 },
        tokens_hash: "t".into(),
        ring: "all".into(),
        version: "5.0.5".into(),
        brings,
    }
}

fn bytes((run, segment): (&str, i64), from: u64, to: u64) -> Brings {
    Brings::Bytes(Part {
        segment,
        file: format!("CommitLog-7-{segment}.log"),
        file_bytes: 100,
        run: run.into(),
        from,
        to,
        object: format!("o{segment}-{from}"),
        sha256: Hash::of(b""),
        stored_bytes: 0,
    })
}

/// One window: it opens at 9,000, a segment is begun before the backup and ends after it.
fn journal() -> Vec<Entry> {
    vec![
        entry(1, 9_000, Brings::Opening),
        entry(2, 9_020, bytes(("a", 1), 0, 100)),
        entry(3, 9_040, bytes(("a", 2), 0, 10)),
        entry(4, 9_500, bytes(("a", 2), 10, 20)),
        entry(5, 9_900, Brings::Rest),
        entry(6, 10_020, bytes(("a", 2), 20, 50)),
        entry(7, 10_050, bytes(("a", 3), 0, 60)),
        entry(8, 10_100, bytes(("b", 9), 0, 30)),
        entry(9, 10_120, Brings::Rest),
        entry(10, 10_140, bytes(("b", 9), 30, 40)),
    ]
}

/// What is chosen: each segment with its end.
fn chosen(entries: &[Entry], to: i64) -> Result<Vec<(String, u64)>, Uncovered> {
    let end = |segment: &Segment| segment.parts.last().map_or(0, |part| part.to);
    let all = choose(entries, &wanted(to))?;
    for segment in &all {
        let mut at = 0;
        for part in &segment.parts {
            assert_eq!(part.from, at, "{}", segment.file);
            at = part.to;
        }
    }
    Ok(all.iter().map(|segment| (segment.file.replace("CommitLog-7-", ""), end(segment))).collect())
}

fn ends(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter().map(|(file, end)| (format!("{file}.log"), *end)).collect()
}

#[test]
fn whole_segments_are_taken_from_before_the_backup_to_the_last_look_before_the_point() {
    let all = ends(&[("2", 50), ("3", 60), ("9", 40)]);
    assert_eq!(chosen(&journal(), 10_140).unwrap(), all);
    // Of what came later nothing is taken: a server would carry out its deletions of rows.
    let before = ends(&[("2", 50), ("3", 60), ("9", 30)]);
    for to in [10_100, 10_139] {
        assert_eq!(chosen(&journal(), to).unwrap(), before, "{to}");
    }
    assert_eq!(chosen(&journal(), 10_099).unwrap(), ends(&[("2", 50), ("3", 60)]));
}

#[test]
fn a_point_that_is_not_archived_is_not_reached() {
    assert!(chosen(&journal(), 10_140 + LOSS).is_ok());
    assert_eq!(chosen(&journal(), 10_141 + LOSS), Err(Uncovered::Ends { until: 10_140 }));
    assert_eq!(chosen(&[], 10_100), Err(Uncovered::Nothing));
    let late = &journal()[6..];
    assert_eq!(chosen(late, 10_100), Err(Uncovered::Begins { at: 10_050 }));
    // Less than the clocks may differ before the backup.
    let mut close = journal();
    close.drain(1..5);
    close[0].until = FROM - CLOCKS + 1;
    assert_eq!(chosen(&close, 10_100), Err(Uncovered::Begins { at: FROM - CLOCKS + 1 }));
}

#[test]
fn what_came_in_one_piece_is_not_cut() {
    let all = ends(&[("2", 50), ("3", 60), ("9", 40)]);
    let mut late = journal();
    late.push(Entry { since: 10_300, ..entry(11, 10_500, bytes(("b", 9), 40, 50)) });
    // All of a while before the point is in what came before it.
    assert_eq!(chosen(&late, 10_300 + LOSS).unwrap(), all);
    let between = Err(Uncovered::Between { from: 10_300, to: 10_500 });
    assert_eq!(chosen(&late, 10_301 + LOSS), between);
    assert_eq!(chosen(&late, 10_499), between);
    assert_eq!(chosen(&late, 10_500).unwrap(), ends(&[("2", 50), ("3", 60), ("9", 50)]));
    // At rest nothing came, however long.
    late[10].brings = Brings::Rest;
    assert_eq!(chosen(&late, 10_499).unwrap(), all);
    // What does not follow says nothing of what came before it.
    late[10].brings = bytes(("b", 9), 45, 50);
    assert_eq!(chosen(&late, 10_300 + LOSS), Err(Uncovered::Gap { until: 10_140, why: None }));
}

#[test]
fn what_others_have_written_is_in_other_journals() {
    let mut grown = journal();
    for entry in &mut grown[7..] {
        entry.ring = "with another one".into();
    }
    let members = Err(Uncovered::Members { until: 10_050 });
    assert_eq!(chosen(&grown, 10_100), members);
    assert!(chosen(&grown, 10_050).is_ok());
    // It came at some time before the entry that says so.
    grown[7].until = 10_400;
    grown[7].found = 10_400;
    assert_eq!(chosen(&grown[..8], 10_050 + LOSS).map(drop), Ok(()));
    assert_eq!(chosen(&grown[..8], 10_051 + LOSS), members);
    // Before the backup others may have been there.
    let mut earlier = journal();
    for entry in &mut earlier[..5] {
        entry.ring = "without one".into();
    }
    assert!(chosen(&earlier, 10_100).is_ok());
}

#[test]
fn nothing_goes_on_behind_a_gap() {
    let why = || "links were dropped".to_string();
    let mut gap = journal();
    gap[7].brings = Brings::Gap { why: why() };
    gap[8].brings = Brings::Opening;
    let expected = Uncovered::Gap { until: 10_050, why: Some(why()) };
    assert_eq!(chosen(&gap, 10_140), Err(expected));
    assert!(chosen(&gap, 10_050).is_ok(), "the point is before it");
    let mut unsaid = journal();
    unsaid[7].brings = bytes(("a", 5), 0, 30);
    assert_eq!(chosen(&unsaid, 10_140), Err(Uncovered::Gap { until: 10_050, why: None }));
    // A window that opens after the backup does not reach it, and one before does.
    let mut before = journal();
    before[4].brings = Brings::Gap { why: why() };
    before[5].brings = Brings::Opening;
    assert_eq!(chosen(&before, 10_140), Err(Uncovered::Begins { at: 10_020 }));
    let mut opens = journal();
    opens[1].brings = Brings::Gap { why: why() };
    opens[2].brings = Brings::Opening;
    opens[3].brings = bytes(("a", 2), 0, 20);
    assert_eq!(chosen(&opens, 10_050).unwrap(), ends(&[("2", 50), ("3", 60)]));
}

#[test]
fn a_segment_whose_begin_is_not_there_is_not_replayed() {
    let cut = &journal()[3..];
    assert_eq!(chosen(cut, 10_100), Err(Uncovered::Begins { at: 9_900 }));
}

#[test]
fn tables_that_change_before_the_point_are_named_and_after_it_they_end_what_is_taken() {
    let mut altered = journal();
    for entry in &mut altered[7..] {
        entry.schema.sha256 = Hash::of(b"another one");
    }
    let schema = Uncovered::Schema { until: 10_050, from: 10_100 };
    assert_eq!(chosen(&altered, 10_100), Err(schema));
    assert_eq!(chosen(&altered, 10_099).unwrap(), ends(&[("2", 50), ("3", 60)]));
    // What was changed before the backup is in it.
    let mut earlier = journal();
    for entry in &mut earlier[..6] {
        entry.schema.sha256 = Hash::of(b"an earlier one");
    }
    assert!(chosen(&earlier, 10_100).is_ok());
    earlier[6].schema.sha256 = Hash::of(b"an earlier one");
    assert!(matches!(chosen(&earlier, 10_100), Err(Uncovered::Schema { .. })));
}

#[test]
fn other_tokens_are_those_of_another_place() {
    let mut moved = journal();
    moved[6].tokens_hash = "u".into();
    assert_eq!(chosen(&moved, 10_100), Err(Uncovered::Tokens { until: 10_020 }));
}
