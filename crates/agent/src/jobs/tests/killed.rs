//! The agent is killed at each of its notes and calls in turn; the next one finds what is
//! on the disk, and the operator gives the job once more where that says that it was interrupted.

use crate::jobs::place::Place;
use crate::jobs::{Bench, Waited, kill, settle, work};
use crate::repair::due::due;
use crate::volume::jobs::Ended;
use jiff::Timestamp;
use palladion_api::member::{JobCause, JobState};
use palladion_api::task::{
    CleanupTask, CompactTask, FlushTask, KeyspaceState, RepairScope, RepairTask, Selection,
    SnapshotTask, Work,
};
use std::collections::BTreeMap;

type Begin = fn(&Place, &str) -> Bench;

fn begun(place: &Place, id: &str, work: Work) -> Bench {
    place.begun(id, "task", work)
}

/// By the agent that is killed at the point after so many: how the job has ended, or `None`
/// where that agent was killed.
async fn killed_after(bench: Bench, points: usize) -> Option<Ended> {
    kill::after(points);
    let task = tokio::spawn(async move { work(&bench).await });
    let ended = task.await.ok().flatten();
    kill::never();
    ended
}

/// What another agent makes of it, and the one that is given the job once more.
async fn goes_on(place: &mut Place, begin: Begin, at: usize) -> Ended {
    let bench = place.after_a_restart();
    // The server has done meanwhile what it was called for.
    place.state().compactions.clear();
    let ended = settle(&bench, Waited::EarlierAgent).await.expect("it is over");
    place.book.change(|notes| notes.end(ended.clone(), Timestamp::UNIX_EPOCH)).unwrap();
    if ended.state == JobState::Succeeded {
        return ended;
    }
    let interrupted = (JobState::Interrupted, Some(JobCause::AgentEnded));
    assert_eq!((ended.state, ended.cause), interrupted, "killed at {at}: {:?}", ended.message);
    let bench = begin(place, "b");
    let ended = work(&bench).await.expect("it ends");
    place.book.change(|notes| notes.end(ended.clone(), Timestamp::UNIX_EPOCH)).unwrap();
    ended
}

/// Each table and range of a call by itself: what is left after a restart goes together in
/// other calls. A call of anything else is one part.
fn parts(call: &str) -> Vec<String> {
    let words: Vec<&str> = call.split(' ').collect();
    let [begin @ .., ranges, "at", _] = words.as_slice() else { return vec![call.into()] };
    match (begin.join(" ").split_once(" ["), ranges.contains(':')) {
        (Some((what, tables)), true) => {
            let tables = tables.trim_end_matches(']').split(", ");
            let of = |table: &str| {
                ranges.split(',').map(|range| format!("{what} {table} {range}")).collect::<Vec<_>>()
            };
            tables.flat_map(of).collect()
        }
        (Some(_) | None, _) => vec![call.into()],
    }
}

/// All keyspaces are done in the end, and only what was called when the agent was killed is
/// called once more. Says at how many points it was killed.
async fn survives(begin: Begin, is_done: fn(&Place)) -> usize {
    let whole = Place::new();
    work(&begin(&whole, "a")).await.expect("it ends");
    let wanted: Vec<String> = whole.calls().iter().flat_map(|call| parts(call)).collect();
    for at in 0..1_000 {
        let mut place = Place::new();
        let bench = begin(&place, "a");
        if let Some(ended) = killed_after(bench, at).await {
            assert_eq!(ended.state, JobState::Succeeded, "it was not killed");
            return at;
        }
        let last = place.state().calls.last().map(|call| parts(call)).unwrap_or_default();
        let ended = goes_on(&mut place, begin, at).await;
        assert_eq!(ended.state, JobState::Succeeded, "killed at {at}: {:?}", ended.message);
        let results = place.book.status(None).unwrap().results;
        let done = results.iter().all(|result| result.state == KeyspaceState::Succeeded);
        assert!(done, "killed at {at}: {results:?}");
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for part in place.calls().iter().flat_map(|call| parts(call)) {
            *times.entry(part).or_default() += 1;
        }
        assert!(wanted.iter().all(|part| times.contains_key(part)), "killed at {at}: {times:?}");
        let is_alright = |(part, times): (&String, &usize)| match times {
            1 => true,
            2 => last.contains(part),
            _ => false,
        };
        assert!(times.iter().all(is_alright), "killed at {at}: {times:?}");
        is_done(&place);
    }
    panic!("it never ends")
}

fn of_shop() -> Selection {
    Selection { keyspaces: vec!["shop".into()], tables: Vec::new() }
}

#[tokio::test]
async fn work_on_tables_goes_on_wherever_the_agent_was_killed() {
    let of_all: [Begin; 3] = [
        |place, id| {
            begun(place, id, Work { cleanup: Some(CleanupTask::default()), ..Work::default() })
        },
        |place, id| {
            begun(place, id, Work { compact: Some(CompactTask::default()), ..Work::default() })
        },
        |place, id| begun(place, id, Work { flush: Some(FlushTask::default()), ..Work::default() }),
    ];
    let mut points = Vec::new();
    for begin in of_all {
        points.push(survives(begin, |_| {}).await);
    }
    // Of each of three tables a note, the call and a note, and a note of each of two keyspaces.
    assert_eq!(points, [11, 11, 8]);
}

#[tokio::test]
async fn a_snapshot_is_taken_wherever_the_agent_was_killed() {
    let snapshot: Begin = |place, id| {
        let what = SnapshotTask { of: of_shop(), name: "s".into(), ..Default::default() };
        begun(place, id, Work { snapshot: Some(what), ..Work::default() })
    };
    assert_eq!(survives(snapshot, |_| {}).await, 3, "a note, the call and a note");
}

fn repair(scope: RepairScope) -> Work {
    let segment_bytes = (scope == RepairScope::Due).then_some(150);
    let repair = RepairTask { scope, segment_bytes, ..RepairTask::default() };
    Work { repair: Some(repair), ..Work::default() }
}

fn nothing_is_due(place: &Place) {
    let now = Timestamp::now().as_second();
    let left = place.repairs.read(|memory| due(memory, &place.cover, now));
    assert!(left.is_empty(), "{left:?}");
    let is_open = place.repairs.read(|memory| memory.open.is_some());
    assert!(!is_open, "nothing is noted as under way");
}

#[tokio::test]
async fn a_repair_goes_on_wherever_the_agent_was_killed() {
    let everything: Begin = |place, id| begun(place, id, repair(RepairScope::Everything));
    assert!(survives(everything, |_| {}).await > 8);
    let due: Begin = |place, id| begun(place, id, repair(RepairScope::Due));
    assert!(survives(due, nothing_is_due).await > 15);
    let by_grants: Begin = |place, id| {
        place.grant(1, &["1", "2"]);
        place.by_grants(id, "task", repair(RepairScope::Due))
    };
    assert!(survives(by_grants, nothing_is_due).await > 15);
}
