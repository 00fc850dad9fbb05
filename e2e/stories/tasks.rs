//! Tasks over the members of a ring: each kind of work is done on every member,
//! one at a time and in order; a repair mends what a member lacks; an abort ends
//! what runs within seconds; whoever is killed in the middle costs one try.

mod abort;
mod drain;
mod due;
mod killed;
mod kinds;
mod limits;
mod looks;
mod lost;
mod much;
mod repair;
mod several;
mod typed;

use std::time::Duration;

use anyhow::Result;
use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::wanted::OLDER_VERSION;
use palladion_e2e::{WantedRing, a_ring, bed, wait_for};
use serde_json::{Value, json};

use crate::schedules;

pub(crate) const NAMESPACE: &str = "tasks";
/// The work on so few rows takes a second; a busy machine takes longer.
const SOON: Duration = Duration::from_secs(240);

fn wanted() -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 1)]).rows(3)
}

pub fn story() -> Story {
    schedules::first_on(Story::named(NAMESPACE).breaks_machines().ring(wanted()))
        .step("every kind of work is done on all members, one after the other", kinds::in_order)
        // What the schedule that covers the ring does at each landing, asked for by a task.
        .step("a repair mends what a member lacks", repair::of_lost_rows)
        .in_soak()
        .step("an abort ends a compaction within seconds", abort::of_a_compaction)
        .step("a server that is killed in the middle costs one try", killed::the_server)
        .in_soak()
        // What a rollout does at each landing, asked for by a task.
        .step("members are restarted one after the other", kinds::restarts)
        .in_soak()
        .step("an agent that is killed in the middle is waited for", killed::the_agent)
        .in_soak()
        .step("a pod that is deleted in the middle costs one try", killed::the_pod)
        .in_soak()
        .step("an abort ends a cleanup of all compactors within seconds", abort::of_a_cleanup)
        .in_soak()
        .step("an abort ends a repair, and its server repairs no more", abort::of_a_repair)
        .in_soak()
        .step(
            "whoever is killed, a cleanup is called no oftener than it is tried",
            killed::in_a_cleanup,
        )
        .in_soak()
        .step(
            "whoever is killed, a repair is called no oftener than it is tried",
            killed::in_a_repair,
        )
        .in_soak()
        .step("whoever is killed, what is due is repaired", due::whoever_ends)
        .in_soak()
        .step(
            "an abort ends a repair of what is due, and the next one does it",
            due::aborted_and_done,
        )
        .in_soak()
        .step("a scrub, a garbage collection and an upgrade rewrite every SSTable", kinds::rewrite)
        .in_soak()
        .step("each kind of work has its choices", limits::each_choice)
        .in_soak()
        .step("whoever is stopped is left out, and each task ends in its time", limits::are_kept)
        .in_soak()
        .step("every verb of the command line does on a real ring what it says", typed::every_verb)
        .in_soak()
        .step("a member is drained by a task and serves again after a restart", drain::and_restart)
        .in_soak()
        .step(
            "tasks of a ring that is deleted while the operator is away have failed",
            drain::of_a_ring_that_is_gone,
        )
        .in_soak()
        .step(
            "a Node that goes for good in a repair is replaced first, and the repair goes on",
            lost::in_a_repair,
        )
        .in_soak()
        .leaves_no_ring()
        .ring(several::wanted())
        .step("members that share no range are repaired at the same time", several::at_a_time)
        .in_soak()
        .leaves_no_ring()
        .ring(wanted().version(OLDER_VERSION))
        .step("an abort ends a compaction of 4.1 within seconds", abort::of_a_compaction)
        .in_soak()
        .step("an abort ends a cleanup of 4.1 within seconds", abort::of_a_cleanup)
        .in_soak()
        .step("an abort ends a repair of 4.1, and its server repairs no more", abort::of_a_repair)
        .in_soak()
        .into()
}

/// Ask for this: the spec of a task without its cluster.
fn ask(task: &str, spec: Value) {
    let mut spec = spec;
    spec["cluster"] = json!(NAMESPACE);
    let manifest = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": task },
        "spec": spec,
    });
    bed().apply(NAMESPACE, &manifest.to_string()).expect("the task is accepted");
}

fn read(task: &str) -> Result<Value> {
    Ok(bed().get(NAMESPACE, "cassandratask", task)?.unwrap_or_default())
}

/// Wait as a user does, until the task is done.
fn wait_done(task: &str) -> Value {
    wait_phase(task, "Done")
}

/// Wait until a task is in this phase; fails as soon as it has ended in another.
fn wait_phase(task: &str, phase: &str) -> Value {
    let ended = ["Done", "Partial", "Refused", "Aborted", "Failed"];
    let mut last = Value::Null;
    let found = wait_for(&format!("the task {task} to be {phase}"), SOON, || {
        last = read(task)?;
        let now = text(&last, "/status/phase");
        Ok((now == phase || ended.contains(&now)).then(|| now.to_string()))
    });
    let found = found.unwrap_or_else(|error| panic!("{error:#}; it is {}", last["status"]));
    assert_eq!(found, phase, "{}", last["status"]);
    last
}

/// Wait until a server compacts what there is much of for this task, and return
/// its member.
fn wait_at_work(task: &str) -> String {
    wait_for(&format!("a server to be at work for {task}"), SOON, || {
        let task = read(task)?;
        let member = text(&task, "/status/current/member").to_string();
        if member.is_empty() {
            return Ok(None);
        }
        let words = ["nodetool", "compactionstats"];
        let running = bed().exec(NAMESPACE, &member, &words)?;
        Ok(running.contains("blobs").then_some(member))
    })
    .expect("at work")
}

/// A command in the server's container, as an administrator types it.
fn in_server(member: &str, command: &str) -> String {
    let words = ["bash", "-c", command];
    bed().exec(NAMESPACE, member, &words).unwrap_or_else(|e| panic!("{member}: {command}: {e:#}"))
}
