//! Times that pass while no operator is there.

use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, wait_for};

use super::{A_MINUTE, SCHEDULE, SOON, apply_with, delete, minutes_now, schedule, tasks};

/// Two times of each minute at least are missed meanwhile.
const AWAY: Duration = Duration::from_secs(150);

/// The minutes since 1970 for which there are tasks.
fn minutes() -> Vec<u64> {
    let all = tasks().expect("tasks");
    let names = all.iter().map(|task| text(task, "/metadata/name").to_string());
    let minute = |name: String| name.rsplit('-').next().and_then(|n| n.parse().ok());
    names.map(|name| minute(name.clone()).unwrap_or_else(|| panic!("{name}"))).collect()
}

/// Let the schedule fire once, take the operator away for some minutes, and give it
/// back: the first minute without it, and the first with it again.
fn away(starting_deadline_seconds: u32) -> (u64, u64) {
    if let Ok(old) = tasks() {
        for task in old {
            let name = text(&task, "/metadata/name").to_string();
            let namespace = text(&task, "/metadata/namespace").to_string();
            bed().kubectl(&format!("delete cassandratask {name} -n {namespace}")).expect("deleted");
        }
    }
    apply_with("Forbid", starting_deadline_seconds);
    wait_for("the first task", A_MINUTE, || Ok(tasks()?.into_iter().next())).expect("it fires");
    wait_for("its end", SOON, || {
        Ok(tasks()?.iter().all(|t| t["status"]["endedAt"].is_string()).then_some(()))
    })
    .expect("ended");
    bed().scale_operator(0).expect("the operator goes");
    let gone = minutes_now() + 1;
    std::thread::sleep(AWAY);
    // Not in the second in which the next time comes.
    while std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .is_ok_and(|d| !(20..40).contains(&(d.as_secs() % 60)))
    {
        std::thread::sleep(Duration::from_secs(1));
    }
    bed().scale_operator(1).expect("the operator is back");
    (gone, minutes_now() + 1)
}

pub(super) fn caught_up_once(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let (gone, back) = away(3600);
    let missed = |minute: &u64| (gone..back).contains(minute);
    let caught = wait_for("what was missed to be caught up", SOON, || {
        Ok(minutes().into_iter().find(missed))
    });
    let caught = caught.expect("caught up");
    wait_for("the next time", SOON, || Ok(minutes().into_iter().find(|m| *m >= back)))
        .expect("it goes on");
    let all: Vec<u64> = minutes().into_iter().filter(missed).collect();
    assert_eq!(all, [caught], "of {} times one is caught up", back - gone);
    delete();
    ring.wait_settled().expect("settled");
}

pub(super) fn and_too_late(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let (gone, back) = away(10);
    wait_for("the next time", SOON, || Ok(minutes().into_iter().find(|m| *m >= back)))
        .expect("it goes on");
    let late: Vec<u64> = minutes().into_iter().filter(|m| (gone..back).contains(m)).collect();
    assert_eq!(late, [] as [u64; 0], "nothing is begun so late");
    let told = schedule().expect("the schedule");
    assert!(told["status"]["missed"].as_u64() > Some(0), "{SCHEDULE}: {}", told["status"]);
    delete();
    ring.wait_settled().expect("settled");
}
