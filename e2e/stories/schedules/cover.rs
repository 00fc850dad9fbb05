//! A schedule with `cover`: what was never repaired is repaired at once, it is
//! remembered, and nothing is repaired twice.

use std::time::Duration;

use anyhow::Result;
use palladion_api::labels;
use palladion_e2e::bed::text;
use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::{NAMESPACE, SOON};

pub(super) const COVER: &str = "always";
/// More than the operator and the agents take to see that something is due.
const A_WHILE: Duration = Duration::from_secs(30);

pub(super) fn tasks() -> Result<Vec<Value>> {
    let mut tasks = bed().list(NAMESPACE, "cassandratasks")?;
    tasks.retain(|task| task["metadata"]["labels"][labels::SCHEDULE] == COVER);
    Ok(tasks)
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

    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": COVER },
        "spec": { "cluster": NAMESPACE, "cover": { "keyspaces": [KEYSPACE] } },
    });
    bed().apply(NAMESPACE, &schedule.to_string()).expect("the schedule is accepted");
    let mut last = Value::Null;
    let done = wait_for("its task to be done", SOON, || {
        last = tasks()?.into_iter().next().unwrap_or_default();
        Ok((text(&last, "/status/phase") == "Done").then_some(()))
    });
    if let Err(error) = done {
        panic!("{error:#}; the task is {last}, the members say {:?}", reported(ring));
    }
    assert_eq!(last["spec"]["repair"]["scope"], "Due", "{}", last["spec"]);
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
        let schedule = bed().get(NAMESPACE, "cassandrataskschedule", COVER)?.unwrap_or_default();
        let conditions = schedule["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_behind = |c: &&Value| c["type"] == "Behind";
        Ok(conditions.iter().find(is_behind).filter(|c| c["status"] == "False").cloned())
    })
    .expect("in time");
    let before = reported(ring).expect("what they say");
    std::thread::sleep(A_WHILE);
    assert_eq!(tasks().expect("tasks").len(), 1, "nothing is due twice");
    assert_eq!(reported(ring).expect("what they say"), before, "at rest nothing is written");
    bed().kubectl(&format!("delete cassandrataskschedule {COVER} -n {NAMESPACE}")).expect("gone");
}

/// The shortest that is protected; Behind at nine tenths of it.
const GRACE: u32 = 600;
const BEHIND_IN: Duration = Duration::from_secs(900);

/// The condition `Behind` of the schedule.
fn behind_now() -> Result<Value> {
    let schedule = bed().get(NAMESPACE, "cassandrataskschedule", COVER)?.unwrap_or_default();
    let conditions = schedule["status"]["conditions"].as_array().cloned().unwrap_or_default();
    Ok(conditions.into_iter().find(|c| c["type"] == "Behind").unwrap_or_default())
}

fn wait_behind(status: &str, patience: Duration) {
    wait_for(&format!("Behind to be {status}"), patience, || {
        Ok((behind_now()?["status"] == status).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {:?}", behind_now()));
}

pub(super) fn behind(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let grace = |seconds: u32| {
        let tables = ["rows", "registers"];
        let alter =
            |t: &str| format!("ALTER TABLE {KEYSPACE}.{t} WITH gc_grace_seconds = {seconds}");
        let statements = tables.map(alter);
        ring.cql(&statements.each_ref().map(String::as_str)).expect("altered");
    };
    grace(GRACE);
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": COVER },
        "spec": {
            "cluster": NAMESPACE,
            "cover": { "keyspaces": [KEYSPACE], "withinSeconds": 120 },
        },
    });
    bed().apply(NAMESPACE, &schedule.to_string()).expect("the schedule is accepted");
    wait_behind("False", SOON);
    let member = &ring.member_names().expect("names")[2];
    let typed = |words: &str| {
        let line = format!("{words} {member} -n {NAMESPACE} --wait=5m");
        let typed = bed().palladion(&line).expect("typed");
        assert_eq!(typed.code, 0, "{typed:?}");
    };
    typed("stop");
    // What it holds cannot be repaired meanwhile, and that is told before it is too late.
    wait_behind("True", BEHIND_IN);
    typed("start");
    ring.wait_members(3).expect("all well");
    // The next one of the schedule begins an hour after the last: a person need not wait.
    let task = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": "catch-up" },
        "spec": { "cluster": NAMESPACE, "repair": { "scope": "Due" } },
    });
    bed().apply(NAMESPACE, &task.to_string()).expect("the task is accepted");
    wait_behind("False", 3 * SOON);
    ring.check_data().expect("all rows, on every replica");
    bed().kubectl(&format!("delete cassandrataskschedule {COVER} -n {NAMESPACE}")).expect("gone");
    grace(864_000);
    ring.wait_settled().expect("settled");
}
