//! A schedule with `cover`: what was never repaired is repaired at once, it is
//! remembered, and nothing is repaired twice.

use std::time::Duration;

use anyhow::{Context, Result};
use palladion_api::labels;
use palladion_e2e::bed::text;
use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::{NAMESPACE, SOON, typed};

pub(super) const COVER: &str = "always";
/// More than the operator and the agents take to see that something is due.
pub(super) const A_WHILE: Duration = Duration::from_secs(20);

pub(super) fn tasks() -> Result<Vec<Value>> {
    let mut tasks = bed().list(NAMESPACE, "cassandratasks")?;
    tasks.retain(|task| task["metadata"]["labels"][labels::SCHEDULE] == COVER);
    Ok(tasks)
}

/// What another step has left: its end would keep the schedule from the next one for an hour.
pub(super) fn forget_tasks() {
    for task in tasks().expect("tasks") {
        let name = text(&task, "/metadata/name");
        bed().kubectl(&format!("delete cassandratask {name} -n {NAMESPACE}")).expect("gone");
    }
}

/// The schedule that covers the ring, with this spec.
pub(crate) fn begin(mut spec: Value) {
    spec["cluster"] = json!(NAMESPACE);
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": COVER },
        "spec": spec,
    });
    bed().apply(NAMESPACE, &schedule.to_string()).expect("the schedule is accepted");
}

pub(crate) fn end() {
    bed().kubectl(&format!("delete cassandrataskschedule {COVER} -n {NAMESPACE}")).expect("gone");
}

/// Wait until the first task of the schedule is done: the task.
pub(super) fn wait_done(patience: Duration) -> Result<Value> {
    let mut last = Value::Null;
    let done = wait_for("its task to be done", patience, || {
        last = tasks()?.into_iter().next().unwrap_or_default();
        Ok((text(&last, "/status/phase") == "Done").then_some(()))
    });
    done.with_context(|| format!("the task is {last}"))?;
    Ok(last)
}

/// What each member says of its repair.
fn reported(ring: &Ring<'_>) -> Result<Vec<Value>> {
    Ok(ring.members()?.iter().map(|member| member["status"]["repair"].clone()).collect())
}

pub(super) fn a_ring(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let name = &ring.member_names().expect("names")[2];
    ring.loses_rows(name).expect("rows deleted");
    let found = ring.check_data().expect_err("a replica holds nothing").to_string();
    assert!(found.contains("replica incomplete"), "{found}");

    begin(json!({ "cover": { "keyspaces": [KEYSPACE] } }));
    let done = wait_done(SOON)
        .unwrap_or_else(|error| panic!("{error:#}, the members say {:?}", reported(ring)));
    assert_eq!(done["spec"]["repair"]["scope"], "Due", "{}", done["spec"]);
    ring.check_data().expect("all rows, on every replica");

    wait_for("every member to remember it", SOON, || {
        let all = reported(ring)?;
        let knows = |r: &Value| {
            r["ranges"].as_u64() > Some(0) && r["neverRanges"] == 0 && r["oldestAt"].is_string()
        };
        Ok((all.len() == 3 && all.iter().all(knows)).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {:?}", reported(ring)));
    wait_for("the schedule to say that all is in time", SOON, || {
        Ok((condition("Behind")?["status"] == "False").then_some(()))
    })
    .expect("in time");
    let before = reported(ring).expect("what they say");
    std::thread::sleep(A_WHILE);
    assert_eq!(tasks().expect("tasks").len(), 1, "nothing is due twice");
    assert_eq!(reported(ring).expect("what they say"), before, "at rest nothing is written");
    end();
}

/// The shortest that is protected; Behind at nine tenths of it.
pub(super) const GRACE: u32 = 600;
/// Cassandra's own.
pub(super) const DEFAULT_GRACE: u32 = 864_000;
const BEHIND_IN: Duration = Duration::from_secs(900);

/// A condition of the schedule; null where it has none of this type.
pub(super) fn condition(kind: &str) -> Result<Value> {
    let schedule = bed().get(NAMESPACE, "cassandrataskschedule", COVER)?.unwrap_or_default();
    Ok(bed::condition(&schedule, kind))
}

fn wait_behind(status: &str, patience: Duration) {
    wait_for(&format!("Behind to be {status}"), patience, || {
        Ok((condition("Behind")?["status"] == status).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {:?}", condition("Behind")));
}

/// From now on the tables keep deletions for so many seconds.
pub(super) fn keep_deletions(ring: &Ring<'_>, seconds: u32) {
    let alter = |t: &str| format!("ALTER TABLE {KEYSPACE}.{t} WITH gc_grace_seconds = {seconds}");
    let statements = ["rows", "registers"].map(alter);
    ring.cql(&statements.each_ref().map(String::as_str)).expect("altered");
}

pub(super) fn behind(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    forget_tasks();
    keep_deletions(ring, GRACE);
    begin(json!({ "cover": { "keyspaces": [KEYSPACE], "withinSeconds": 120 } }));
    wait_behind("False", SOON);
    let member = &ring.member_names().expect("names")[2];
    typed(&format!("stop {member} --wait=5m"));
    // What it holds cannot be repaired meanwhile, and that is told before it is too late.
    wait_behind("True", BEHIND_IN);
    let late = text(&condition("Behind").expect("the condition"), "/message").to_string();
    assert!(late.contains("gc_grace_seconds"), "{late}");
    typed(&format!("start {member} --wait=5m"));
    ring.wait_members(3).expect("all well");
    // By itself: the next one begins a tenth of the time after the last.
    wait_behind("False", 3 * SOON);
    ring.check_data().expect("all rows, on every replica");
    end();
    keep_deletions(ring, DEFAULT_GRACE);
    ring.wait_settled().expect("settled");
}
