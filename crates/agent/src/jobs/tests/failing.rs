//! Segments that fail, that do not count and that take too long: tried again, cut and
//! left alone for a while.

use super::due::{due_in, end, how, killed_in_a_repair, of_due};
use crate::admin::RepairState;
use crate::jobs::place::Place;
use crate::jobs::{Waited, settle, work};
use crate::repair::Memory;
use crate::repair::failing::REST;
use palladion_api::member::{JobCause, JobState, JobUnit, MemberState};
use palladion_api::task::KeyspaceState;
use std::time::Duration;

#[tokio::test]
async fn a_segment_does_not_count_if_somebody_has_joined_meanwhile() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let join = async {
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        place.state().members.push(("3", MemberState::Normal));
    };
    let (ended, ()) = tokio::join!(work(&bench), join);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert_eq!(calls[0], calls[2], "it is done once more, in the ring as it is now");
}

#[tokio::test]
async fn a_segment_that_fails_keeps_no_other_from_its_turn() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().fails = Some("shop");
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let calls = place.calls();
    assert!(
        calls[1].starts_with("repair system_auth"),
        "the other keyspace comes first: {calls:?}"
    );
    assert_eq!(calls.iter().filter(|call| **call == calls[0]).count(), 3, "three tries: {calls:?}");
    assert_eq!(calls.len(), 4, "{calls:?}");
    let said = ended.as_ref().unwrap().message.clone().unwrap();
    assert!(
        said.starts_with("1 of 2 segments failed 3 times and rest for up to an hour: "),
        "{said}"
    );
    let status = place.book.status(Some("a")).unwrap();
    let keyspaces: Vec<_> = status.results.iter().map(|r| (r.name.as_str(), r.state)).collect();
    let (failed, done) = (KeyspaceState::Failed, KeyspaceState::Succeeded);
    assert_eq!(keyspaces, [("shop", failed), ("system_auth", done)]);
    assert_eq!(status.unit, Some(JobUnit::Segments));
    end(&place, ended.unwrap());

    place.state().fails = None;
    let ended = work(&place.begun("b", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let said = ended.as_ref().unwrap().message.clone().unwrap();
    assert!(said.starts_with("left out 1 segment that failed 3 times"), "{said}");
    assert!(place.calls().is_empty(), "it rests");
    assert!(due_in(&place, 0), "and is due all the while");
    end(&place, ended.unwrap());

    place.repairs.change(|memory| memory.failing[0].at -= REST).unwrap();
    let ended = work(&place.begun("c", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls(), [calls[0].clone()], "what had failed alone");
    assert!(place.repairs.read(|memory| memory.failing.is_empty()), "it is repaired");
}

/// Deletions in these tables are forgotten after ten minutes.
#[tokio::test]
async fn what_is_forgotten_within_the_hour_does_not_rest_for_an_hour() {
    let place = Place::new();
    place.state().graces = [("items", 600), ("orders", 600), ("roles", 600)].into();
    place.state().fails = Some("shop");
    let ended = work(&place.begun("a", "task", of_due())).await;
    end(&place, ended.unwrap());
    place.state().fails = None;
    let ended = work(&place.begun("b", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)), "it rests");
    end(&place, ended.unwrap());
    let a_tenth = |memory: &mut Memory| memory.failing.iter_mut().for_each(|it| it.at -= 60);
    place.repairs.change(a_tenth).unwrap();
    let ended = work(&place.begun("c", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn a_segment_that_fails_once_is_tried_again_when_all_others_are_done() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = [RepairState::Failed("endpoint not alive".into())].into();
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert_eq!(calls[0], calls[2], "{calls:?}");
    assert!(!due_in(&place, 0));
    assert!(place.repairs.read(|memory| memory.failing.is_empty()));
}

/// The shop has three ranges here; of two and more a repair does not end.
fn slow(place: &Place) -> crate::jobs::Bench {
    place.state().slow = Some(2);
    let mut bench = place.begun("a", "task", of_due());
    bench.pace.segment = Duration::from_millis(10);
    bench
}

#[tokio::test]
async fn a_segment_that_takes_too_long_is_stopped_and_repaired_in_halves() {
    let place = Place::new();
    let ended = work(&slow(&place)).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    let ranges = |call: &String| call.split(' ').rev().nth(2).unwrap().matches(':').count();
    let begun: Vec<usize> =
        calls.iter().filter(|call| call.starts_with("repair shop")).map(ranges).collect();
    assert_eq!(begun, [3, 1, 2, 1, 1], "the halves come after all others: {calls:?}");
    assert!(calls.iter().any(|call| call.starts_with("end repairs")), "{calls:?}");
    assert!(!due_in(&place, 0));
    let text = place.metrics.text();
    let late = "palladion_agent_repair_segments_total{result=\"TooLong\"} 4";
    assert!(text.contains(late), "two of each keyspace: {text}");
}

#[tokio::test]
async fn what_was_cut_stays_cut_for_the_agent_and_the_job_that_come_after() {
    let mut place = Place::new();
    let bench = slow(&place);
    let is_cut = async {
        while place.repairs.read(|memory| memory.failing.is_empty()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        ended = work(&bench) => panic!("{ended:?}"),
        () = is_cut => {}
    }
    let cut = place.repairs.read(|memory| memory.failing.clone());
    assert!(cut.iter().all(|failing| failing.failures == 1), "{cut:?}");
    place.calls();
    place.state().slow = None;
    place.state().repairs.clear();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    let of_shop = calls.iter().filter(|call| call.starts_with("repair shop")).count();
    assert_eq!(of_shop, 2, "in halves: {calls:?}");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn the_time_of_a_segment_runs_on_while_its_agent_is_away() {
    let mut place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    killed_in_a_repair(&place, &bench).await;
    place.repairs.change(|memory| memory.open.as_mut().unwrap().started -= 2000).unwrap();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    let ends = calls.iter().position(|call| call.starts_with("end repairs")).unwrap();
    assert_eq!(ends, 1, "before anything else is called: {calls:?}");
    let of_shop = calls.iter().filter(|call| call.starts_with("repair shop")).count();
    assert_eq!(of_shop, 3, "as a whole, then in halves: {calls:?}");
}

#[tokio::test]
async fn a_segment_of_which_even_the_eighths_take_too_long_rests() {
    let place = Place::new();
    let mut bench = slow(&place);
    place.state().slow = Some(1);
    bench.pace.segment = Duration::from_millis(4);
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let said = ended.as_ref().unwrap().message.clone().unwrap();
    assert!(said.starts_with("16 of 16 segments failed 3 times"), "{said}");
    let calls = place.calls();
    let begun = calls.iter().filter(|call| call.starts_with("repair")).count();
    assert_eq!(begun, 2 * (1 + 2 + 4), "{calls:?}");
    end(&place, ended.unwrap());
    // An hour later the server is as fast as usual, and the pieces are as small.
    place.state().slow = None;
    let wake = |memory: &mut crate::repair::Memory| {
        memory.failing.iter_mut().for_each(|failing| failing.at -= REST);
    };
    place.repairs.change(wake).unwrap();
    place.state().repairs.clear();
    let ended = work(&place.begun("b", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 16);
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn a_segment_that_the_server_does_not_end_fails_the_job_and_is_cut_for_the_next_one() {
    let place = Place::new();
    let mut bench = slow(&place);
    place.state().deaf = true;
    bench.pace.ends = Duration::from_millis(10);
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::LeftRunning)));
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("has not ended repair 1"), "{said}");
    assert_eq!(place.repairs.read(|memory| memory.failing.len()), 2);
}

#[tokio::test]
async fn a_segment_that_failed_leaves_no_number_behind() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().fails = Some("system_auth");
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let left = place.book.read(|notes| notes.open().map(|note| (note.item.clone(), note.repair)));
    assert_eq!(left, Some((None, None)));
}

#[tokio::test]
async fn a_segment_does_not_count_if_the_schema_has_changed_meanwhile() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let change = async {
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        place.state().schema += 1;
    };
    let (ended, ()) = tokio::join!(work(&bench), change);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert_eq!(calls[0], calls[2], "it is done once more");
}

#[tokio::test]
async fn a_segment_with_which_the_server_has_nothing_to_do_does_not_count() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().idle = 1;
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert_eq!(calls[0], calls[2], "it is done once more");
}
