//! Repair of what is due, against a server that fails, is stopped and restarts.

use crate::admin::RepairState;
use crate::admin::jobs::Segment;
use crate::decide::job::Stop;
use crate::jobs::place::{Place, calm};
use crate::jobs::{Bench, Waited, settle, work};
use crate::ranges::Range;
use crate::repair::Memory;
use crate::repair::due::due;
use crate::repair::pressure::Load;
use crate::volume::jobs::Ended;
use jiff::Timestamp;
use palladion_api::member::{JobCause, JobState, MemberState};
use palladion_api::task::{RepairScope, RepairTask, Work};
use std::time::Duration;

pub(super) fn of_due() -> Work {
    let repair = RepairTask { scope: RepairScope::Due, ..RepairTask::default() };
    Work { repair: Some(repair), ..Default::default() }
}

/// Each table and range in a call of its own: the shop has 400 bytes in half of the ring.
pub(super) fn small_segments() -> Work {
    let mut work = of_due();
    work.repair.as_mut().unwrap().segment_bytes = Some(40);
    work
}

pub(super) fn how(ended: Option<&Ended>) -> (JobState, Option<JobCause>) {
    let ended = ended.expect("it has ended");
    (ended.state, ended.cause)
}

pub(super) fn end(place: &Place, ended: Ended) {
    place.book.change(|notes| notes.end(ended, Timestamp::UNIX_EPOCH)).unwrap();
}

/// Is anything due, now or this many seconds later?
pub(super) fn due_in(place: &Place, seconds: i64) -> bool {
    let at = Timestamp::now().as_second() + seconds;
    place.repairs.read(|memory| !due(memory, &place.cover, at).is_empty())
}

/// Kill the agent once the server has given a repair of it a number.
pub(super) async fn killed_in_a_repair(place: &Place, bench: &Bench) {
    let runs = async {
        let is_open = |memory: &Memory| memory.open.as_ref().is_some_and(|it| it.number.is_some());
        while !place.repairs.read(is_open) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        ended = work(bench) => panic!("it runs: {ended:?}"),
        () = runs => {}
    }
}

const DAY: i64 = 24 * 3600;

#[tokio::test]
async fn what_was_never_repaired_is_due_and_then_rests_until_it_is_due_again() {
    let place = Place::new();
    let ended = work(&place.begun("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let own = "200:9223372036854775807,-9223372036854775808:0,0:100";
    let calls = place.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].starts_with("repair shop [\"items\", \"orders\"] "), "{calls:?}");
    for range in own.split(',') {
        assert!(calls.iter().all(|call| call.contains(range)), "{range} in {calls:?}");
    }
    end(&place, ended.unwrap());
    assert!(!due_in(&place, 5 * DAY), "60% of ten days, less a tenth");
    assert!(due_in(&place, 6 * DAY + 60));
    let again = work(&place.begun("b", "task 2", of_due())).await.unwrap();
    assert_eq!(again.message.as_deref(), Some("no range is due for repair"));
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn a_repair_that_is_stopped_goes_on_with_the_segments_that_are_left() {
    let place = Place::new();
    let all = {
        let whole = Place::new();
        work(&whole.begun("a", "task", small_segments())).await;
        whole.calls()
    };
    assert!(all.len() > 4, "{all:?}");
    let bench = place.begun("a", "task", small_segments());
    // Two are done, and the third runs until it is ended.
    let two = std::iter::repeat_n(RepairState::Completed, 2);
    place.state().repairs = two.chain(std::iter::repeat_n(RepairState::Running, 10_000)).collect();
    let stop = async {
        while place.state().next_repair < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        place.stop.send_replace(Some(Stop::Asked));
    };
    let (ended, ()) = tokio::join!(work(&bench), stop);
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, None));
    end(&place, ended.unwrap());
    let before = place.calls();
    place.stop.send_replace(None);
    place.state().repairs.clear();
    let ended = work(&place.begun("b", "task", small_segments())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let after = place.calls();
    let begun: Vec<&String> = before.iter().filter(|call| call.starts_with("repair")).collect();
    assert_eq!(begun.len(), 3, "{before:?}");
    assert_eq!(after.len(), all.len() - 2, "what was done is not done again: {after:?}");
    assert!(after.contains(begun[2]), "what was ended is");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn a_segment_is_found_again_by_its_number_and_counts_from_its_beginning() {
    let mut place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    killed_in_a_repair(&place, &bench).await;
    assert_eq!(place.calls().len(), 1);
    place.state().repairs = [RepairState::Running, RepairState::Completed].into();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("repair system_auth"), "{calls:?}");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn nothing_is_called_while_somebody_moves_or_tables_cannot_be_read() {
    let place = Place::new();
    place.state().members = vec![("1", MemberState::Normal), ("2", MemberState::Leaving)];
    let ended = work(&place.begun("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    assert!(place.calls().is_empty());
    end(&place, ended.unwrap());
    place.state().members = calm();
    place.state().no_schema = Some("the server requires a user name and password");
    let ended = work(&place.begun("b", "task", of_due())).await.unwrap();
    assert!(ended.message.unwrap().contains("`gc_grace_seconds` over CQL: the server requires"));
    assert!(place.calls().is_empty());
}

/// What is said of each keyspace of the job that ended last.
fn said_of_keyspaces(place: &Place) -> Vec<String> {
    place.book.read(|notes| {
        let results = &notes.last.as_ref().expect("a job that has ended").status.results;
        results.iter().map(|result| result.message.clone().unwrap_or_default()).collect()
    })
}

#[tokio::test]
async fn a_repair_of_everything_is_remembered_too() {
    let place = Place::new();
    let everything = Work { repair: Some(RepairTask::default()), ..Default::default() };
    let ended = work(&place.begun("a", "task", everything.clone())).await.unwrap();
    end(&place, ended);
    assert_eq!(place.calls(), ["repair shop [] at shop.", "repair system_auth [] at system_auth."]);
    let ranges = place.repairs.read(|memory| memory.keyspaces["shop"].ranges.clone());
    assert_eq!(ranges, [Range { start: 0, end: 100 }, Range { start: 200, end: 0 }]);
    assert!(!due_in(&place, 0));
    let unread = Place::new();
    unread.state().no_schema = Some("no");
    let ended = work(&unread.begun("a", "task", everything.clone())).await.unwrap();
    assert_eq!(how(Some(&ended)), (JobState::Succeeded, None), "it needs no CQL");
    assert!(unread.repairs.read(|memory| memory.keyspaces.is_empty()), "and is not remembered");
    end(&unread, ended);
    let said = said_of_keyspaces(&unread);
    assert!(said.iter().all(|said| said.contains("not recorded as repaired, because")), "{said:?}");
    // The ring changes in its middle.
    let moved = Place::new();
    moved.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let bench = moved.begun("a", "task", everything);
    let changes = async {
        while moved.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        moved.state().schema += 1;
    };
    let (ended, ()) = tokio::join!(work(&bench), changes);
    end(&moved, ended.unwrap());
    let said = said_of_keyspaces(&moved);
    assert!(
        said[0].contains("the ring or its schema has changed since the repair began"),
        "{said:?}"
    );
    // The next keyspace was begun after that.
    assert_eq!(said[1], "", "{said:?}");
    let left = moved.repairs.read(|memory| due(memory, &moved.cover, Timestamp::now().as_second()));
    assert!(!left.is_empty() && left.iter().all(|due| due.keyspace == "shop"), "{left:?}");
}

#[tokio::test]
async fn a_segment_that_was_noted_last_does_not_count_by_the_number_of_another() {
    let mut place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    killed_in_a_repair(&place, &bench).await;
    let (open, ranges) = place.repairs.read(|memory| {
        (memory.open.clone().unwrap(), memory.keyspaces["system_auth"].ranges.clone())
    });
    let tables = vec!["roles".to_string()];
    let other = Segment { keyspace: "system_auth".into(), tables, ranges };
    place.repairs.change(|memory| memory.begin(&other, &open.ring, open.started)).unwrap();
    place.state().repairs.clear();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let of = |keyspace: &str| {
        let calls = place.state().calls.clone();
        calls.iter().filter(|call| call.starts_with(&format!("repair {keyspace}"))).count()
    };
    assert_eq!((of("shop"), of("system_auth")), (2, 1), "neither counts");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn a_repair_ends_when_somebody_moves_and_tries_no_other_segment() {
    let place = Place::new();
    let bench = place.begun("a", "task", small_segments());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let moves = async {
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        place.state().members[1].1 = MemberState::Leaving;
    };
    let (ended, ()) = tokio::join!(work(&bench), moves);
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("joining, leaving or moving") && !said.contains("segments"), "{said}");
    assert_eq!(place.calls().len(), 1);
}

#[tokio::test]
async fn what_a_clock_that_was_ahead_has_noted_is_forgotten_when_it_is_set_right() {
    let place = Place::new();
    let ended = work(&place.begun("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let now = Timestamp::now().as_second();
    let (ranges, tables) = place
        .repairs
        .read(|memory| (memory.keyspaces["system_auth"].ranges.clone(), vec!["roles".to_string()]));
    let segment = Segment { keyspace: "system_auth".into(), tables, ranges };
    let note_ahead = |memory: &mut crate::repair::Memory| {
        memory.begin(&segment, "ring", now + 30 * DAY);
        memory.finish("ring")
    };
    assert!(place.repairs.change(note_ahead).unwrap());
    let later = place.repairs.read(|memory| due(memory, &place.cover, now + 29 * DAY));
    assert!(later.iter().all(|due| due.keyspace == "shop"), "for a month it is not due");
    let before = place.repairs.version();
    place.repairs.doubt(now + 30 * DAY).unwrap();
    assert_eq!(place.repairs.version(), before, "by its own clock it is not ahead");
    place.repairs.doubt(now).unwrap();
    assert!(place.repairs.version() > before, "it is told anew");
    let left = place.repairs.read(|memory| due(memory, &place.cover, now));
    assert!(!left.is_empty() && left.iter().all(|due| due.keyspace == "system_auth"), "{left:?}");
    assert!(left.iter().all(|due| due.at.is_none() && due.due <= now), "{left:?}");
}

#[tokio::test]
async fn segments_are_cut_in_halves_while_the_server_has_much_to_do() {
    let place = Place::new();
    place.load.send_replace(Load::High);
    let ended = work(&place.begun("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 4, "twice as many: {calls:?}");
    assert!(!due_in(&place, 0));
    let text = place.metrics.text();
    let done = "palladion_agent_repair_segments_total{result=\"Done\"} 4";
    assert!(text.contains(done), "{text}");
}
