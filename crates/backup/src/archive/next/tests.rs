//! Tables of what is on a volume, and what is sent of it.

use super::*;

const RUN: &str = "run-1";

fn volume(there: &[(i64, bool)]) -> Volume {
    let there =
        there.iter().map(|(number, is_linked)| There { number: *number, is_linked: *is_linked });
    let run = Run { tag: RUN.into(), after: 5 };
    Volume { there: there.collect(), runs: vec![run], ..Volume::default() }
}

fn open(at: Option<(i64, &str, u64)>) -> Cursor {
    let at = at.map(|(segment, run, to)| At { segment, run: run.into(), to });
    Cursor { number: 3, since: Some(100), until: 200, at, ..Cursor::default() }
}

#[test]
fn closed_segments_come_first_and_the_open_one_last() {
    let volume = volume(&[(10, true), (11, true), (12, false), (13, false)]);
    let goes_on = course(&volume, &open(Some((10, RUN, 50))), 10, false);
    assert_eq!(goes_on, Course::GoesOn(vec![(10, 50), (11, 0), (12, 0)]), "13 is made in advance");
    let ended = course(&volume, &open(Some((10, RUN, 50))), 10, true);
    assert_eq!(ended, Course::GoesOn(vec![(10, 50), (11, 0), (12, 0)]));
    let gone = super::tests::volume(&[(11, true), (12, false)]);
    assert_eq!(
        course(&gone, &open(Some((10, RUN, 50))), 10, true),
        Course::GoesOn(vec![(11, 0), (12, 0)])
    );
}

#[test]
fn what_is_gone_before_it_was_sent_ends_the_window() {
    let ends = |there: &[(i64, bool)], cursor: &Cursor, ended: bool| match course(
        &volume(there),
        cursor,
        10,
        ended,
    ) {
        Course::Begins(Some(why), begins) => (why, begins),
        other => panic!("{other:?}"),
    };
    let at = |segment| open(Some((segment, RUN, 50)));
    let missing = ends(&[(10, true), (12, false)], &at(10), false);
    assert_eq!(missing, (Ends::Missing { segment: 11 }, vec![(12, 0)]));
    let gone = ends(&[(11, true), (12, false)], &at(10), false);
    assert_eq!(gone, (Ends::Missing { segment: 10 }, vec![(11, 0), (12, 0)]));
    let begun = ends(&[(11, false)], &open(None), false);
    assert_eq!(begun.0, Ends::Missing { segment: 10 });
}

#[test]
fn a_start_of_the_server_is_no_gap() {
    let mut all = volume(&[(10, true), (900, false), (901, false)]);
    all.runs.push(Run { tag: "run-2".into(), after: 10 });
    let cursor = open(Some((10, RUN, 50)));
    assert_eq!(course(&all, &cursor, 10, false), Course::GoesOn(vec![(10, 50), (900, 0)]));
    // Not linked yet, but nobody writes to it any more.
    all.there[0].is_linked = false;
    assert_eq!(course(&all, &cursor, 10, false), Course::GoesOn(vec![(10, 50), (900, 0)]));
    // And the first of the new run must be there.
    all.there.remove(1);
    let cursor = open(Some((900, "run-2", 50)));
    assert_eq!(
        course(&all, &cursor, 10, false),
        Course::Begins(Some(Ends::Missing { segment: 900 }), vec![(10, 0), (901, 0)])
    );
}

#[test]
fn what_a_start_found_must_have_been_read() {
    let mut all = volume(&[(10, true), (900, false)]);
    all.runs.push(Run { tag: "run-2".into(), after: 11 });
    let cursor = open(Some((10, RUN, 50)));
    // There was an 11, and it brought something perhaps.
    let missing = Course::Begins(Some(Ends::Missing { segment: 11 }), vec![(900, 0)]);
    assert_eq!(course(&all, &cursor, 10, false), missing);
    // It was sent to its end, and brought nothing.
    all.done = 11;
    assert_eq!(course(&all, &cursor, 10, true), Course::GoesOn(vec![(10, 50), (900, 0)]));
}

#[test]
fn a_dropped_link_ends_the_window_unless_it_was_sent() {
    let mut all = volume(&[(12, false)]);
    all.dropped = [9, 10, 11].into();
    let cursor = open(Some((11, RUN, 50)));
    assert_eq!(course(&all, &cursor, 10, true), Course::GoesOn(vec![(12, 0)]));
    let dropped = course(&all, &cursor, 10, false);
    assert_eq!(dropped, Course::Begins(Some(Ends::Dropped { segment: 11 }), vec![(12, 0)]));
}

#[test]
fn a_segment_that_was_never_linked_is_ended_when_three_came_after_it() {
    let all = volume(&[(10, false), (11, false), (12, false)]);
    let cursor = open(Some((10, RUN, 50)));
    assert_eq!(course(&all, &cursor, 10, false), Course::GoesOn(vec![(10, 50)]));
    let all = volume(&[(10, false), (11, false), (12, false), (13, false)]);
    assert_eq!(course(&all, &cursor, 10, false), Course::GoesOn(vec![(10, 50), (11, 0)]));
}

fn steps(next: &Next) -> Vec<Step> {
    next.steps.clone()
}

#[test]
fn a_window_opens_before_its_bytes_and_links_go_when_they_are_sent() {
    let all = volume(&[(7, true), (10, true), (11, false)]);
    let begins = course(&all, &Cursor::default(), 0, false);
    assert_eq!(begins, Course::Begins(None, vec![(10, 0), (11, 0)]));
    let scanned = vec![(10, vec![(0, 50), (50, 90)]), (11, vec![(0, 30)])];
    let found = next(&all, (&Cursor::default(), None), (&begins, &scanned), 500);
    let part = |segment, from, to| Step::Part { segment, from, to };
    let expected =
        [Step::Opening { segment: 10 }, part(10, 0, 50), part(10, 50, 90), part(11, 0, 30)];
    assert_eq!(steps(&found), expected);
    assert_eq!((found.is_all, found.sent), (true, [7, 10].into()));
}

#[test]
fn a_window_that_ends_is_said_to_before_another_opens() {
    let all = volume(&[(10, false)]);
    let cursor = open(Some((10, RUN, 50)));
    let goes_on = course(&all, &cursor, 10, false);
    let scanned = vec![(10, vec![(50, 90)])];
    let found = next(&all, (&cursor, Some(Ends::Truncated)), (&goes_on, &scanned), 500);
    assert_eq!(steps(&found), [Step::Gap { why: Ends::Truncated.to_string() }]);
    assert!(!found.is_all && found.sent.is_empty());
    let none = next(&all, (&Cursor::default(), Some(Ends::Truncated)), (&goes_on, &scanned), 500);
    assert_eq!(steps(&none)[0], Step::Opening { segment: 10 });
}

#[test]
fn at_rest_an_entry_comes_every_five_minutes() {
    let all = volume(&[(10, false)]);
    let cursor = open(Some((10, RUN, 50)));
    let goes_on = course(&all, &cursor, 10, false);
    let at = |now| steps(&next(&all, (&cursor, None), (&goes_on, &vec![(10, vec![])]), now));
    assert_eq!((at(499), at(500)), (vec![], vec![Step::Rest]));
}

#[test]
fn while_a_full_segment_is_not_linked_nothing_is_said_of_now() {
    let mut all = volume(&[(10, false), (11, false)]);
    let cursor = open(Some((10, RUN, 50)));
    let goes_on = course(&all, &cursor, 10, false);
    assert_eq!(goes_on, Course::GoesOn(vec![(10, 50)]));
    let of = |all: &Volume, parts| next(all, (&cursor, None), (&goes_on, &vec![(10, parts)]), 900);
    assert_eq!(steps(&of(&all, vec![])), [Step::Rest]);
    // Writes are whole in the next one already.
    all.goes_beyond = true;
    let found = of(&all, vec![(50, 90)]);
    assert_eq!((found.steps.len(), found.is_all), (1, false));
    let found = of(&all, vec![]);
    assert_eq!((found.steps.len(), found.is_all), (0, false));
}

#[test]
fn what_is_far_behind_is_sent_by_several_looks() {
    let all = volume(&[(10, true), (11, false)]);
    let cursor = open(Some((10, RUN, 0)));
    let goes_on = course(&all, &cursor, 10, false);
    let many: Vec<(u64, u64)> = (0..100).map(|at| (at, at + 1)).collect();
    let found = next(&all, (&cursor, None), (&goes_on, &vec![(10, many)]), 500);
    assert_eq!((found.steps.len(), found.is_all, found.sent), (PARTS, false, [].into()));
}
