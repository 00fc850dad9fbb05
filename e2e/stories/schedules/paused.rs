//! A suspended schedule and a paused ring: nothing is repaired that was not begun, and
//! all of it goes on afterwards.

use palladion_e2e::bed::text;
use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::cover::{A_WHILE, COVER, begin, condition, end, forget_tasks, tasks};
use super::{NAMESPACE, SOON};

const TASK: &str = "while-paused";

fn patch(kind: &str, name: &str, spec: &Value) {
    bed().patch(NAMESPACE, kind, name, &json!({ "spec": spec })).expect("patched");
}

/// The condition `Paused` of the schedule has this status, and says this.
fn wait_paused(status: &str, word: &str) {
    let mut last = Value::Null;
    wait_for(&format!("Paused to be {status} ({word})"), SOON, || {
        last = condition("Paused")?;
        let is_so = last["status"] == status && text(&last, "/message").contains(word);
        Ok(is_so.then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {last}"));
}

fn wait_done(name: &str) {
    let mut last = Value::Null;
    wait_for(&format!("the task {name} to be done"), SOON, || {
        last = bed().get(NAMESPACE, "cassandratask", name)?.unwrap_or_default();
        Ok((text(&last, "/status/phase") == "Done").then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", last["status"]));
}

/// The part of a task that each member was given last.
fn given(ring: &Ring<'_>) -> Vec<Value> {
    ring.members().expect("members").iter().map(|m| m["spec"]["job"]["id"].clone()).collect()
}

pub(super) fn nothing_is_repaired(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    forget_tasks();
    // Whatever an earlier step has repaired is due a minute later.
    let cover = json!({ "keyspaces": [KEYSPACE], "withinSeconds": 60 });
    begin(json!({ "suspend": true, "cover": cover }));
    wait_paused("True", "suspend");
    std::thread::sleep(A_WHILE);
    assert!(tasks().expect("tasks").is_empty(), "it is suspended");

    patch("cassandracluster", NAMESPACE, &json!({ "paused": true }));
    wait_paused("True", "suspend");
    let before = given(ring);
    patch("cassandrataskschedule", COVER, &json!({ "suspend": false }));
    wait_paused("True", NAMESPACE);
    let task = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": TASK },
        "spec": { "cluster": NAMESPACE, "repair": { "keyspaces": [KEYSPACE] } },
    });
    bed().apply(NAMESPACE, &task.to_string()).expect("the task is accepted");
    std::thread::sleep(A_WHILE);
    assert!(tasks().expect("tasks").is_empty(), "the ring is paused");
    let task = bed().get(NAMESPACE, "cassandratask", TASK).expect("read").unwrap_or_default();
    assert!(task["status"]["startedAt"].is_null(), "the ring is paused: {}", task["status"]);
    assert_eq!(given(ring), before, "no member was given a part");

    patch("cassandracluster", NAMESPACE, &json!({ "paused": false }));
    wait_done(TASK);
    let created = wait_for("the task of the schedule", SOON, || Ok(tasks()?.into_iter().next()));
    wait_done(text(&created.expect("created"), "/metadata/name"));
    wait_paused("False", "");
    end();
    forget_tasks();
    ring.wait_settled().expect("settled");
}
