//! Tasks that come again and again, by the clock of a real cluster.

pub(crate) mod cover;
mod mended;
mod missed;
mod paused;

use std::time::Duration;

use anyhow::Result;
use palladion_api::labels;
use palladion_e2e::bed::text;
use palladion_e2e::story::{Draft, OnRing};
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use crate::tasks::NAMESPACE;

const SCHEDULE: &str = "each-minute";
/// Until the next minute begins, and what a look takes.
const A_MINUTE: Duration = Duration::from_secs(70);
/// What the operator takes to create what is due, and somebody to see it.
const A_LOOK: Duration = Duration::from_secs(8);
const SOON: Duration = Duration::from_secs(180);

/// These steps come first on the ring of tasks: nothing was ever repaired there.
pub(super) fn first_on(ring: Draft<OnRing>) -> Draft<OnRing> {
    ring.step("a schedule that covers a ring repairs it once and knows", cover::a_ring)
        .step("a schedule of each minute fires and its task completes", fires)
        .step("a task that waits for a machine is replaced by the next one", replaces)
        .in_soak()
        .step("what is missed while the operator is away is caught up once", missed::caught_up_once)
        .in_soak()
        .step("what is missed for too long is counted and not caught up", missed::and_too_late)
        .in_soak()
        .step(
            "nothing is repaired for a suspended schedule and in a paused ring, and all of it after",
            paused::nothing_is_repaired,
        )
        .in_soak()
        .step("a cover is Behind while a member is down, and in time again after", cover::behind)
        .in_soak()
        .step(
            "rows and deletions that one replica lacks are brought to it before deletions are forgotten",
            mended::of_a_replica,
        )
        .in_soak()
}

/// A flush in each minute.
fn apply(concurrency_policy: &str) {
    apply_with(concurrency_policy, 3600);
}

/// The same, with so long for a start that is late.
fn apply_with(concurrency_policy: &str, starting_deadline_seconds: u32) {
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": SCHEDULE },
        "spec": {
            "cluster": NAMESPACE,
            "schedule": "* * * * *",
            "timeZone": "Europe/Berlin",
            "concurrencyPolicy": concurrency_policy,
            "startingDeadlineSeconds": starting_deadline_seconds,
            "taskTemplate": { "spec": { "flush": {} } },
        },
    });
    bed().apply(NAMESPACE, &schedule.to_string()).expect("the schedule is accepted");
}

fn schedule() -> Result<Value> {
    Ok(bed().get(NAMESPACE, "cassandrataskschedule", SCHEDULE)?.unwrap_or_default())
}

fn delete() {
    bed()
        .kubectl(&format!("delete cassandrataskschedule {SCHEDULE} -n {NAMESPACE}"))
        .expect("gone");
}

/// The tasks of the schedule, the oldest first.
fn tasks() -> Result<Vec<Value>> {
    let mut tasks = bed().list(NAMESPACE, "cassandratasks")?;
    tasks.retain(|task| task["metadata"]["labels"][labels::SCHEDULE] == SCHEDULE);
    tasks.sort_by_key(|task| text(task, "/metadata/name").to_string());
    Ok(tasks)
}

/// What a person types into the command line, and it is done.
pub(crate) fn typed(words: &str) {
    let typed = bed().palladion(&format!("{words} -n {NAMESPACE}")).expect("typed");
    assert_eq!(typed.code, 0, "{typed:?}");
}

/// Minutes since 1970, by the clock that the testbed has, too.
fn minutes_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.expect("after 1970").as_secs() / 60
}

fn fires(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    apply("Forbid");
    let first = wait_for("the first task", A_MINUTE, || Ok(tasks()?.into_iter().next()));
    let name = text(&first.expect("within its minute"), "/metadata/name").to_string();
    wait_for("its completion", SOON, || {
        let task = bed().get(NAMESPACE, "cassandratask", &name)?.unwrap_or_default();
        Ok((task["status"]["phase"] == "Done").then_some(()))
    })
    .expect("done");
    wait_for("the schedule to say so", SOON, || {
        let status = &schedule()?["status"];
        let is_told = status["lastSuccessfulTime"].is_string() && status["missed"] == 0;
        Ok((is_told && status["nextScheduleTime"].is_string()).then_some(()))
    })
    .expect("told");
    let listed = bed().palladion(&format!("schedule list -n {NAMESPACE}")).expect("typed");
    assert!(listed.code == 0 && listed.out.contains(SCHEDULE), "{listed:?}");
    typed(&format!("schedule suspend {SCHEDULE} --wait=1m"));
    let (before, minute) = (tasks().expect("tasks").len(), minutes_now());
    // What a person runs meanwhile is created by hand, and none beside it.
    typed(&format!("schedule run {SCHEDULE} --wait=3m"));
    while minutes_now() == minute {
        std::thread::sleep(Duration::from_secs(1));
    }
    std::thread::sleep(A_LOOK);
    assert_eq!(tasks().expect("tasks").len(), before + 1, "suspended");
    delete();
    assert!(!tasks().expect("tasks").is_empty(), "tasks outlive their schedule");
}

fn replaces(ring: &Ring<'_>) {
    let (_, node) = ring.a_victim().expect("a victim");
    bed().cluster.freeze_node(node).expect("freeze");
    apply("Replace");
    let aborted = wait_for("a task that the next one aborts", 3 * A_MINUTE, || {
        let all = tasks()?;
        Ok(all.iter().find(|task| task["spec"]["abort"] == true).cloned())
    });
    let aborted = aborted.expect("aborted");
    let newest = tasks().expect("tasks").pop().expect("the next one");
    assert_ne!(newest["metadata"]["name"], aborted["metadata"]["name"]);
    delete();
    bed().cluster.thaw_node(node).expect("thaw");
    ring.wait_ready(3).expect("all ready");
    wait_for("every task to end", 2 * SOON, || {
        let all = tasks()?;
        Ok(all.iter().all(|task| task["status"]["endedAt"].is_string()).then_some(()))
    })
    .expect("ended");
    let name = text(&aborted, "/metadata/name");
    let task = bed().get(NAMESPACE, "cassandratask", name).expect("task").unwrap_or_default();
    assert_eq!(task["status"]["phase"], "Aborted", "{}", task["status"]);
    ring.wait_settled().expect("settled");
}
