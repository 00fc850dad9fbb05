//! Jobs against a server that breaks, is stopped, and is asked again.

mod due;
mod failing;
mod granted;
mod killed;
mod left;
mod replicated;
mod seen;

use super::place::Place;
use super::testing::Goes;
use super::{Waited, give_back, settle, work};
use crate::admin::RepairState;
use crate::admin::jobs::Rewritten;
use crate::decide::job::Stop;
use crate::volume::jobs::Ended;
use jiff::Timestamp;
use palladion_api::member::{JobCause, JobState};
use palladion_api::runtime::{LogLevel, RuntimeSettings};
use palladion_api::task::{
    CleanupTask, ClearSnapshotTask, CompactTask, FlushTask, KeyspaceState, RepairTask, Selection,
    SetLogLevelTask, SnapshotTask, Work,
};
use std::fs;

fn cleanup() -> Work {
    Work { cleanup: Some(CleanupTask::default()), ..Default::default() }
}

fn of_shop() -> Selection {
    Selection { keyspaces: vec!["shop".into()], tables: Vec::new() }
}

fn how(ended: Option<&Ended>) -> (JobState, Option<JobCause>) {
    let ended = ended.expect("it has ended");
    (ended.state, ended.cause)
}

fn end(place: &Place, ended: Ended) {
    place.book.change(|notes| notes.end(ended, Timestamp::UNIX_EPOCH)).unwrap();
}

#[tokio::test]
async fn tables_are_rewritten_one_after_the_other_each_noted_before_its_call() {
    let place = Place::new();
    let bench = place.begun("a", "task", cleanup());
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(
        place.calls(),
        [
            "Cleanup shop.items at shop.items",
            "Cleanup shop.orders at shop.orders",
            "Cleanup system_auth.roles at system_auth.roles"
        ]
    );
    let status = place.book.status(Some("a")).unwrap();
    let keyspaces: Vec<_> = status.results.iter().map(|r| (r.name.as_str(), r.state)).collect();
    let done = KeyspaceState::Succeeded;
    assert_eq!(keyspaces, [("shop", done), ("system_auth", done)]);
}

#[tokio::test]
async fn a_broken_connection_is_waited_for_and_the_next_try_goes_on_at_that_table() {
    let mut place = Place::new();
    place.state().rewrites = [Goes::Ends(Rewritten::Done), Goes::Breaks(5)].into();
    let bench = place.begun("a", "task", cleanup());
    assert_eq!(work(&bench).await, None, "what became of it is not known");
    place.calls();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Interrupted, Some(JobCause::AgentEnded)));
    assert!(place.calls().is_empty(), "nothing is called beside it");
    assert_eq!(place.state().looks, 0, "it was looked at until it was gone");
    end(&place, ended.unwrap());
    let status = place.book.status(Some("a")).unwrap();
    assert_eq!(status.results.last().unwrap().state, KeyspaceState::Interrupted);

    let again = place.begun("b", "task", cleanup());
    let ended = work(&again).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls()[0], "Cleanup shop.orders at shop.orders");
    end(&place, ended.unwrap());

    let other = place.begun("c", "other task", cleanup());
    work(&other).await;
    assert_eq!(
        place.calls()[0],
        "Cleanup shop.items at shop.items",
        "another task, from the start"
    );
}

#[tokio::test]
async fn what_is_stopped_is_stopped_until_the_call_returns_and_nothing_else_is() {
    for (why, expected) in [
        (Stop::Asked, (JobState::Aborted, None)),
        (Stop::Deadline, (JobState::Failed, Some(JobCause::DeadlineExceeded))),
    ] {
        let place = Place::new();
        place.state().rewrites = [Goes::RunsUntilStopped(3)].into();
        let bench = place.begun("a", "task", cleanup());
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            place.stop.send_replace(Some(why));
        };
        let (ended, ()) = tokio::join!(work(&bench), stop);
        assert_eq!(how(ended.as_ref()), expected);
        let calls = place.calls();
        let stops: Vec<_> = calls.iter().filter(|c| c.starts_with("stop")).collect();
        assert!(stops.len() >= 3 && stops.iter().all(|c| c.starts_with("stop ours")), "{stops:?}");
        assert_eq!(calls.iter().filter(|c| c.starts_with("Cleanup")).count(), 1);
    }
}

/// Somebody else's temporary table; the next members have their turn.
#[tokio::test]
async fn a_table_that_is_dropped_meanwhile_fails_nothing_that_did_not_name_it() {
    let of = |tables: &[&str]| Work {
        cleanup: Some(CleanupTask {
            of: Selection {
                tables: tables.iter().map(ToString::to_string).collect(),
                ..Selection::default()
            },
            ..CleanupTask::default()
        }),
        ..Work::default()
    };
    let place = Place::new();
    place.state().rewrites = [Goes::Drops("items")].into();
    let ended = work(&place.begun("a", "task", of(&[]))).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 3, "the others are cleaned up: {:?}", place.calls());
    // What is there still has failed; and who names a table misses it.
    for (dropped, named) in [("another", &[][..]), ("items", &["shop.items"])] {
        let place = Place::new();
        place.state().rewrites = [Goes::Drops(dropped)].into();
        let ended = work(&place.begun("a", "task", of(named))).await;
        assert_eq!(
            how(ended.as_ref()),
            (JobState::Failed, Some(JobCause::ServerError)),
            "{dropped}"
        );
    }
}

/// A member begins only where there is room for each of its tables.
#[tokio::test]
async fn a_compaction_without_room_for_one_of_its_tables_calls_for_nothing() {
    let place = Place::new();
    place.state().huge = Some("orders");
    let compact = CompactTask { of: of_shop(), ..CompactTask::default() };
    let bench = place.begun("a", "task", Work { compact: Some(compact), ..Work::default() });
    let ended = work(&bench).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::NotEnoughDisk)));
    assert_eq!(place.calls(), Vec::<String>::new());
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("shop.orders") && said.contains("1152921504606846976"), "{said}");
    // What rewrites one SSTable after the other needs room for the largest only.
    let bench = place.begun("b", "another", cleanup());
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
}

/// All threads of the server are busy with long compactions of other tables.
#[tokio::test]
async fn a_rewrite_that_waits_for_a_thread_of_the_server_is_not_waited_for_for_ever() {
    let long = std::time::Duration::from_secs(5);
    for (why, expected) in [
        (Stop::Asked, (JobState::Aborted, Some(JobCause::LeftRunning))),
        (Stop::Deadline, (JobState::Failed, Some(JobCause::LeftRunning))),
    ] {
        let place = Place::new();
        place.state().rewrites = [Goes::Waits].into();
        let bench = place.begun("a", "task", cleanup());
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            place.stop.send_replace(Some(why));
        };
        let both = async { tokio::join!(work(&bench), stop).0 };
        let ended = tokio::time::timeout(long, both).await.expect("it ends");
        assert_eq!(how(ended.as_ref()), expected);
        let said = ended.unwrap().message.unwrap();
        assert!(said.contains("table shop.items") && said.contains("thread"), "{said}");
        let calls = place.calls();
        assert_eq!(calls, ["Cleanup shop.items at shop.items"], "nothing else is stopped");
        let status = place.book.status(Some("a")).unwrap();
        assert_eq!(status.results[0].state, KeyspaceState::Aborted);
    }
}

#[tokio::test]
async fn a_rewrite_of_many_sstables_is_stopped_for_as_long_as_more_of_them_show() {
    let place = Place::new();
    place.state().rewrites = [Goes::RunsUntilStopped(300)].into();
    let mut bench = place.begun("a", "task", cleanup());
    bench.pace.ends = bench.pace.stop * 20;
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        place.stop.send_replace(Some(Stop::Asked));
    };
    let (ended, ()) = tokio::join!(work(&bench), stop);
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, None));
    assert!(place.state().stopped >= 300);
}

#[tokio::test]
async fn a_stop_of_somebody_else_is_a_failure_but_not_of_a_server_that_goes_down() {
    let place = Place::new();
    place.state().rewrites = [Goes::Ends(Rewritten::Stopped); 2].into();
    let bench = place.begun("a", "task", cleanup());
    let failed = (JobState::Failed, Some(JobCause::StoppedByOther));
    assert_eq!(how(work(&bench).await.as_ref()), failed);
    place.state().mode = Some("DRAINED");
    assert_eq!(work(&bench).await, None);
}

#[tokio::test]
async fn a_table_that_other_work_holds_is_tried_for_a_while() {
    let place = Place::new();
    place.state().rewrites = [Goes::Ends(Rewritten::Busy), Goes::Ends(Rewritten::Busy)].into();
    let bench = place.begun("a", "task", cleanup());
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
    let place = Place::new();
    place.state().rewrites = std::iter::repeat_n(Goes::Ends(Rewritten::Busy), 500).collect();
    let bench = place.begun("a", "task", cleanup());
    let busy = (JobState::Failed, Some(JobCause::TableBusy));
    assert_eq!(how(work(&bench).await.as_ref()), busy);
}

#[tokio::test]
async fn a_table_that_is_not_there_fails_before_anything_is_called() {
    let place = Place::new();
    let tables = vec!["shop.orders".into(), "shop.nothing".into()];
    let of = Selection { keyspaces: Vec::new(), tables };
    let compact = CompactTask { of, ..Default::default() };
    let bench = place.begun("a", "task", Work { compact: Some(compact), ..Default::default() });
    let ended = work(&bench).await.unwrap();
    assert_eq!(ended.state, JobState::Failed);
    assert!(ended.message.unwrap().contains("shop.nothing"));
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn a_flush_that_fails_says_which_keyspace_and_in_the_servers_words() {
    let place = Place::new();
    place.state().refuses = Some("no space left on device");
    let flush = Work { flush: Some(FlushTask { of: of_shop() }), ..Default::default() };
    let ended = work(&place.begun("a", "task", flush)).await.unwrap();
    assert_eq!(ended.cause, Some(JobCause::ServerError));
    let why = ended.message.unwrap();
    assert!(why.contains("shop") && why.contains("no space left on device"), "{why}");
    assert_eq!(place.book.status(None).unwrap().results[0].state, KeyspaceState::Failed);
}

/// The disk of the server hangs: what is called answers no more, and cannot be stopped.
#[tokio::test]
async fn a_call_that_is_never_answered_is_not_waited_for_for_ever_after_a_stop() {
    let long = std::time::Duration::from_secs(5);
    let flush = || Work { flush: Some(FlushTask { of: of_shop() }), ..Default::default() };
    let clear = || Work {
        clear_snapshot: Some(ClearSnapshotTask { name: "s".into(), ..Default::default() }),
        ..Default::default()
    };
    let left = Some(JobCause::LeftRunning);
    let deadline = (JobState::Failed, Some(JobCause::LeftRunning));
    for (what, called, why, expected) in [
        (flush(), "flushing keyspace shop", Stop::Asked, (JobState::Aborted, left)),
        (flush(), "flushing keyspace shop", Stop::Deadline, deadline),
        (snapshot(), "taking snapshot s", Stop::Deadline, deadline),
        (clear(), "clearing snapshot s", Stop::Deadline, deadline),
    ] {
        let place = Place::new();
        place.state().never_answers = true;
        let bench = place.begun("a", "task", what);
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            place.stop.send_replace(Some(why));
        };
        let both = async { tokio::join!(work(&bench), stop).0 };
        let ended = tokio::time::timeout(long, both).await.expect("it ends");
        assert_eq!(how(ended.as_ref()), expected, "{called}");
        let said = ended.unwrap().message.unwrap();
        assert!(said.contains(called), "{said}");
        assert_eq!(place.calls().len(), 1, "nothing is called beside it");
    }
}

fn repair() -> Work {
    Work { repair: Some(RepairTask::default()), ..Default::default() }
}

#[tokio::test]
async fn a_repair_is_found_again_by_its_number_and_not_begun_twice() {
    let mut place = Place::new();
    let bench = place.begun("a", "task", repair());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    let killed = tokio::time::timeout(std::time::Duration::from_millis(50), work(&bench)).await;
    assert!(killed.is_err(), "it runs");
    assert_eq!(place.calls(), ["repair shop [] at shop."]);
    let note = place.book.read(|notes| notes.open().unwrap().clone());
    assert_eq!(note.repair, Some(1));
    place.state().repairs = [RepairState::Running, RepairState::Completed].into();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls(), ["repair system_auth [] at system_auth."]);
}

/// Somebody has drained it by hand: its repairs have failed, and it takes no others. It does not
/// end, so nothing else says what became of the repair.
#[tokio::test]
async fn a_repair_that_a_drained_server_has_ended_is_interrupted() {
    let place = Place::new();
    let bench = place.begun("a", "task", repair());
    place.state().mode = Some("DRAINED");
    place.state().fails = Some("shop");
    assert_eq!(work(&bench).await, None, "the server may be about to end");
    let ended = settle(&bench, Waited::ThisAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Interrupted, Some(JobCause::NoAnswer)));
    assert_eq!(place.calls().len(), 1, "it is not begun there once more");
}

/// The agent ended between the call of a repair and the note of its number.
async fn a_repair_without_a_number_is_waited_for(place: &mut Place) {
    let item = crate::volume::jobs::Item { keyspace: "shop".into(), table: None };
    place.book.change(|notes| notes.call(item)).unwrap();
    place.state().repairs = [RepairState::Running, RepairState::Running].into();
    let ended = settle(&place.after_a_restart(), Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Interrupted, Some(JobCause::AgentEnded)));
    assert!(place.state().repairs.is_empty(), "it was asked until it had ended");
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn a_repair_without_a_number_is_waited_for_and_never_counts() {
    let mut place = Place::new();
    place.begun("a", "task", repair());
    place.state().next_repair = 1;
    a_repair_without_a_number_is_waited_for(&mut place).await;
}

/// The server counts its repairs from its start on, and forgets how early ones ended.
#[tokio::test]
async fn a_repair_is_found_behind_a_thousand_others_of_the_same_launch() {
    let mut place = Place::new();
    place.state().next_repair = 1000;
    let ended = work(&place.begun("a", "task", repair())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    end(&place, ended.unwrap());
    place.calls();
    place.begun("b", "other task", repair());
    (place.state().next_repair, place.state().forgotten) = (1003, 1001);
    a_repair_without_a_number_is_waited_for(&mut place).await;
}

#[tokio::test]
async fn a_repair_that_the_server_does_not_end_is_not_waited_for_for_ever() {
    let long = std::time::Duration::from_secs(5);
    let expected = [
        (Stop::Asked, (JobState::Aborted, Some(JobCause::LeftRunning))),
        (Stop::Unheard, (JobState::Aborted, Some(JobCause::LeftRunning))),
        (Stop::Deadline, (JobState::Failed, Some(JobCause::LeftRunning))),
    ];
    for (why, how_it_ends) in expected {
        let mut place = Place::new();
        place.state().deaf = true;
        place.state().repairs = std::iter::repeat_n(RepairState::Running, 100_000).collect();
        let bench = place.begun("a", "task", repair());
        place.stop.send_replace(Some(why));
        let item = crate::volume::jobs::Item { keyspace: "shop".into(), table: None };
        place.book.change(|notes| notes.call(item)).unwrap();
        place.book.change(|notes| notes.number(1)).unwrap();
        place.state().next_repair = 1;
        let ended = tokio::time::timeout(long, work(&bench)).await.expect("it ends").unwrap();
        assert_eq!((ended.state, ended.cause), how_it_ends);
        let why = ended.message.unwrap();
        assert!(why.contains("has not ended repair 1 of keyspace shop"), "{why}");
        // Also one that an earlier agent has begun, and whose number is not known.
        place.book.change(|notes| notes.open_mut().unwrap().repair = None).unwrap();
        place.book.change(|notes| notes.numbered = None).unwrap();
        let bench = place.after_a_restart();
        let settled = settle(&bench, Waited::EarlierAgent);
        let ended = tokio::time::timeout(long, settled).await.expect("it ends").unwrap();
        assert_eq!((ended.state, ended.cause), how_it_ends);
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_does_not_keep_a_stop_from_its_end() {
    let long = std::time::Duration::from_secs(5);
    let place = Place::new();
    (place.state().silent, place.state().deaf) = (true, true);
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 100_000).collect();
    let bench = place.begun("a", "task", repair());
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        place.stop.send_replace(Some(Stop::Asked));
    };
    let both = async { tokio::join!(work(&bench), stop).0 };
    let ended = tokio::time::timeout(long, both).await.expect("it ends");
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, Some(JobCause::LeftRunning)));
    let calls = place.calls();
    let asked = calls.iter().filter(|call| call.starts_with("end repairs")).count();
    assert_eq!(asked, 1, "calls that are not answered hold threads of the server: {calls:?}");
}

#[tokio::test]
async fn a_repair_is_ended_again_until_the_server_says_that_it_failed() {
    let place = Place::new();
    let bench = place.begun("a", "task", repair());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        place.stop.send_replace(Some(Stop::Asked));
    };
    let (ended, ()) = tokio::join!(work(&bench), stop);
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, None));
    let ends = place.calls().iter().filter(|c| c.starts_with("end repairs")).count();
    assert_eq!(ends, 2);
}

fn snapshot() -> Work {
    let what = SnapshotTask { of: of_shop(), name: "s".into(), ..Default::default() };
    Work { snapshot: Some(what), ..Default::default() }
}

fn on_disk(place: &Place, table: &str) {
    let path = place.directory.path().join(format!("data/shop/{table}-1a/snapshots/s"));
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("manifest.json"), "{}").unwrap();
}

#[tokio::test]
async fn a_snapshot_of_somebody_else_is_never_taken_for_ours() {
    let place = Place::new();
    on_disk(&place, "items");
    let ended = work(&place.begun("a", "task", snapshot())).await;
    let exists = (JobState::Failed, Some(JobCause::SnapshotExists));
    assert_eq!(how(ended.as_ref()), exists);
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn a_snapshot_of_another_table_is_not_cleared_with_ours() {
    let place = Place::new();
    on_disk(&place, "users");
    place.book.change(|notes| notes.take_snapshot("s")).unwrap();
    let of = Selection { tables: vec!["shop.orders".into()], ..Default::default() };
    let what = SnapshotTask { of, name: "s".into(), ..Default::default() };
    let work_of = Work { snapshot: Some(what), ..Default::default() };
    let ended = work(&place.begun("a", "task", work_of)).await;
    let exists = (JobState::Failed, Some(JobCause::SnapshotExists));
    assert_eq!(how(ended.as_ref()), exists);
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn a_snapshot_whose_answer_was_lost_is_looked_up_on_the_disk() {
    let mut place = Place::new();
    place.begun("a", "task", snapshot());
    place.book.change(|notes| notes.take_snapshot("s")).unwrap();
    on_disk(&place, "items");
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Interrupted, Some(JobCause::AgentEnded)));
    end(&place, ended.unwrap());
    let again = place.begun("b", "task", snapshot());
    assert_eq!(how(work(&again).await.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls(), [r#"clear s ["shop"] at "#, r#"snapshot s ["shop"] at "#]);

    on_disk(&place, "orders");
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert!(place.calls().is_empty());
}

/// A member that is away for long lets other tasks pass.
#[tokio::test]
async fn a_task_that_others_came_between_goes_on_where_it_was() {
    let mut place = Place::new();
    place.begun("a1", "a", snapshot());
    place.book.change(|notes| notes.take_snapshot("s")).unwrap();
    on_disk(&place, "items");
    let ended = settle(&place.after_a_restart(), Waited::EarlierAgent).await;
    end(&place, ended.unwrap());
    place.state().rewrites = [Goes::Ends(Rewritten::Done), Goes::Breaks(2)].into();
    assert_eq!(work(&place.begun("b1", "b", cleanup())).await, None);
    let ended = settle(&place.after_a_restart(), Waited::EarlierAgent).await;
    end(&place, ended.unwrap());
    place.calls();
    let ended = work(&place.begun("a2", "a", snapshot())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None), "its own snapshot");
    assert_eq!(place.calls(), [r#"clear s ["shop"] at "#, r#"snapshot s ["shop"] at "#]);
    end(&place, ended.unwrap());
    let ended = work(&place.begun("b2", "b", cleanup())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls()[0], "Cleanup shop.orders at shop.orders", "not from the start");
}

/// Nothing of the name is its own any more once somebody has cleared it.
#[tokio::test]
async fn a_snapshot_that_was_cleared_between_two_tries_is_nobodys() {
    let mut place = Place::new();
    place.begun("a1", "a", snapshot());
    place.book.change(|notes| notes.take_snapshot("s")).unwrap();
    let ended = settle(&place.after_a_restart(), Waited::EarlierAgent).await;
    end(&place, ended.unwrap());
    let what = ClearSnapshotTask { name: "s".into(), ..Default::default() };
    let clear = Work { clear_snapshot: Some(what), ..Default::default() };
    let ended = work(&place.begun("b", "b", clear)).await;
    end(&place, ended.unwrap());
    on_disk(&place, "items");
    place.calls();
    let ended = work(&place.begun("a2", "a", snapshot())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::SnapshotExists)));
    assert!(place.calls().is_empty(), "that of somebody else is not touched");
}

#[tokio::test]
async fn log_levels_are_given_back_to_the_same_server_and_to_no_other() {
    let place = Place::new();
    place.state().levels.log_levels = [("ROOT".to_string(), LogLevel::Info)].into();
    let levels = [("ROOT".into(), LogLevel::Debug), ("a".into(), LogLevel::Trace)].into();
    let what = SetLogLevelTask { levels, seconds: 0 };
    let work_of = || Work { set_log_level: Some(what.clone()), ..Default::default() };
    let ended = work(&place.begun("a", "task", work_of())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.state().levels.log_levels["ROOT"], LogLevel::Debug);
    let none = RuntimeSettings::default();
    give_back(&place.book, place.fake.as_ref(), "t1", &none).await.unwrap();
    let info = [("ROOT".to_string(), LogLevel::Info)].into();
    assert_eq!(place.state().levels.log_levels, info);
    end(&place, ended.unwrap());

    let ended = work(&place.begun("b", "task", work_of())).await;
    end(&place, ended.unwrap());
    place.calls();
    give_back(&place.book, place.fake.as_ref(), "t2", &none).await.unwrap();
    assert!(place.calls().is_empty(), "it was started since");
    assert_eq!(place.book.read(|notes| notes.levels.clone()), None);
}
