//! Repair while tables come and go beside it, and of tables that are late at
//! different times.

use crate::admin::{RepairState, ServerAdmin};
use crate::jobs::place::Place;
use crate::jobs::work;
use crate::repair::due::due;
use crate::repair::pressure::Load;
use crate::repair::schema::Schemas;
use crate::repair::survey::survey;
use crate::volume::jobs::Ended;
use jiff::Timestamp;
use palladion_api::member::{JobCause, JobState};
use palladion_api::task::{RepairScope, RepairTask, Work};
use std::time::Duration;
use tokio::time::Instant;

fn of_due() -> Work {
    let repair = RepairTask { scope: RepairScope::Due, ..RepairTask::default() };
    Work { repair: Some(repair), ..Default::default() }
}

fn how(ended: Option<&Ended>) -> (JobState, Option<JobCause>) {
    let ended = ended.expect("it has ended");
    (ended.state, ended.cause)
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// As the loop looks, at this time.
async fn looked(place: &Place, at: i64) {
    let server = place.fake.as_ref();
    let schema = Schemas::read(server).await.unwrap();
    let reading = ServerAdmin::read(server).await.unwrap();
    let found = survey(server, schema, &reading).await.unwrap();
    place.repairs.change(|memory| found.observed_by(memory, at)).unwrap();
}

async fn until_begun(place: &Place, repairs: i64) {
    while place.state().next_repair < repairs {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn until_offered(place: &Place) {
    while place.book.status(None).is_none_or(|status| status.batches.is_empty()) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_repair_of_everything_forgets_no_table_that_was_created_meanwhile() {
    let place = Place::new();
    let everything = Work { repair: Some(RepairTask::default()), ..Default::default() };
    let bench = place.begun("a", "task", everything);
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let create = async {
        until_begun(&place, 1).await;
        place.state().created = vec!["returns"];
        place.state().schema += 1;
        looked(&place, now()).await;
    };
    let (ended, ()) = tokio::join!(work(&bench), create);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let left = place.repairs.read(|memory| due(memory, &place.cover, now()));
    let is_due = left.iter().any(|due| due.tables.iter().any(|name| name == "returns"));
    assert!(is_due, "it was never repaired: {left:?}");
}

#[tokio::test]
async fn tables_that_were_dropped_are_repaired_no_more_and_fail_nothing() {
    for dropped in [&["orders"][..], &["items", "orders"]] {
        let place = Place::new();
        let bench = place.by_grants("a", "task", of_due());
        let drop = async {
            until_offered(&place).await;
            place.state().dropped = dropped.to_vec();
            place.state().schema += 1;
            place.grant(1, &["1", "2"]);
        };
        let (ended, ()) = tokio::join!(work(&bench), drop);
        let said = ended.as_ref().and_then(|ended| ended.message.clone());
        assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None), "{said:?}");
        let calls = place.calls();
        assert_eq!(calls.len(), 3 - dropped.len(), "{calls:?}");
        assert!(dropped.iter().all(|name| !calls.iter().any(|call| call.contains(name))));
        assert!(place.repairs.read(|memory| due(memory, &place.cover, now()).is_empty()));
    }
}

#[tokio::test]
async fn tables_that_are_dropped_under_their_repair_fail_nothing_either() {
    for dropped in [&["orders"][..], &["items", "orders"]] {
        let place = Place::new();
        let bench = place.begun("a", "task", of_due());
        place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
        let drop = async {
            until_begun(&place, 1).await;
            place.state().dropped = dropped.to_vec();
            place.state().schema += 1;
        };
        let (ended, ()) = tokio::join!(work(&bench), drop);
        let said = ended.as_ref().and_then(|ended| ended.message.clone());
        assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None), "{said:?}");
        let calls = place.calls();
        let of_orders = calls.iter().filter(|call| call.contains("orders")).count();
        assert_eq!((calls.len(), of_orders), (4 - dropped.len(), 1), "{calls:?}");
        assert!(place.repairs.read(|memory| memory.failing.is_empty()));
        assert!(place.repairs.read(|memory| due(memory, &place.cover, now()).is_empty()));
    }
}

/// A table that keeps deletions for an hour is late soon; that hastens nothing else.
#[tokio::test]
async fn a_server_that_has_much_to_do_is_spared_but_for_what_is_late() {
    let place = Place::new();
    place.state().graces = [("roles", 3_600)].into();
    place.load.send_replace(Load::High);
    looked(&place, now() - 7_200).await;
    let ended = work(&place.begun("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    let of = |keyspace: &str| {
        calls.iter().filter(|call| call.starts_with(&format!("repair {keyspace} "))).count()
    };
    assert_eq!((of("shop"), of("system_auth")), (2, 1), "what is in time is cut: {calls:?}");
}

/// It would pause for nine times as long as the segment took.
#[tokio::test]
async fn a_pause_ends_when_the_server_has_done_what_it_had_to_do() {
    let place = Place::new();
    place.load.send_replace(Load::High);
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 300).collect();
    let bench = place.begun("a", "task", of_due());
    let said = || place.book.status(None).and_then(|status| status.message);
    let begun = Instant::now();
    let spared = async {
        while said().is_none_or(|said| !said.contains("more to do than it gets done")) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let worked = begun.elapsed();
        assert!(worked > Duration::from_millis(500), "{worked:?}");
        place.load.send_replace(Load::Usual);
        worked
    };
    let (ended, worked) = tokio::join!(work(&bench), spared);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    // Whatever else the machine does, it made the segment longer as well.
    assert!(begun.elapsed() < worked * 5, "{worked:?}, then {:?}", begun.elapsed() - worked);
    assert_eq!(said(), None, "it pauses no more");
}

#[tokio::test]
async fn a_keyspace_says_for_how_long_its_segments_were_repaired() {
    let place = Place::new();
    let bench = place.begun("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 600).collect();
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let results = place.book.status(Some("a")).unwrap().results;
    let seconds: Vec<_> = results.iter().map(|r| (r.name.as_str(), r.seconds > 0)).collect();
    assert_eq!(seconds, [("shop", true), ("system_auth", false)]);
}
