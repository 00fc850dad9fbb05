//! A task drains one member: it serves nobody until it is restarted, and nobody else
//! goes meanwhile.

use crate::every::{a_ring, all_end_alike, before_each_write, same_end, some};
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use crate::sim::world::cluster_key;
use crate::tasks::{ask, key, status};
use palladion_api::task::{MemberTaskState, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";

fn drain(member: &str) -> Value {
    json!({ "cluster": "demo", "drain": {}, "members": [member] })
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|m| Value::clone(m)).unwrap_or_default()
}

fn mode(world: &World, name: &str) -> String {
    let member = member(world, name);
    member["status"]["server"]["mode"].as_str().unwrap_or_default().to_string()
}

fn of_cluster(world: &World, field: &str) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"][field].clone()).unwrap_or_default()
}

fn restart(world: &mut World, name: &str) {
    world.want(name, &json!({ "restartToken": "now" }));
    world.settle();
    world.want(name, &Value::Null);
}

fn abort(world: &mut World, name: &str) {
    world.tell(&format!("a person aborts the task {name}"));
    let patch = json!({ "spec": { "abort": true } });
    world.store.merge(&key(name), &patch, Subresource::None).expect("the task should exist");
}

fn phase(world: &World, name: &str) -> Option<TaskPhase> {
    status(world, name).phase
}

fn said(world: &World, name: &str) -> String {
    let status = status(world, name);
    let complete = status.conditions.iter().find(|c| c.type_ == "Complete");
    complete.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

#[test]
fn a_member_is_drained_and_serves_again_after_a_restart() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &drain(LAST));
    world.settle();
    let of_task = status(&world, "work");
    assert_eq!(of_task.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(of_task.members[0].state, MemberTaskState::Succeeded);
    assert_eq!(of_task.members[0].reason.as_deref(), Some("Drained"));
    assert_eq!(mode(&world, LAST), "DRAINED");
    let server = &member(&world, LAST)["status"]["server"];
    assert!(server["message"].as_str().unwrap_or_default().contains("restarted"), "{server}");
    for left in [&of_cluster(&world, "turn"), &of_cluster(&world, "job")] {
        assert_eq!(*left, Value::Null);
    }
    assert_eq!(member(&world, LAST)["spec"]["drain"], Value::Null, "no order is left");
    // It stays so, and nothing is written meanwhile.
    let writes = world.writes.len();
    world.pass(60);
    assert_eq!(world.writes.len(), writes, "{}", world.last_words());
    assert_eq!(mode(&world, LAST), "DRAINED");
    restart(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_task_restarts_a_member_that_is_drained() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &drain(LAST));
    world.settle();
    ask(&mut world, "again", &json!({ "cluster": "demo", "restart": {}, "members": [LAST] }));
    world.settle();
    assert_eq!(phase(&world, "again"), Some(TaskPhase::Done), "{}", said(&world, "again"));
    world.expect_ring(3);
}

#[test]
fn nobody_else_is_restarted_or_drained_while_a_member_is_drained() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &drain(LAST));
    world.settle();
    ask(&mut world, "more", &drain(FIRST));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(120);
    assert_eq!(mode(&world, FIRST), "NORMAL");
    assert_eq!(phase(&world, "more"), Some(TaskPhase::Waiting), "{}", said(&world, "more"));
    assert!(said(&world, "more").starts_with("WaitingForRing"), "{}", said(&world, "more"));
    // The restart of the drained one waits for nobody.
    restart(&mut world, LAST);
    assert!(world.comes_to(|w| mode(w, LAST) == "NORMAL"), "{}", world.last_words());
    world.settle();
    assert_eq!(phase(&world, "more"), Some(TaskPhase::Done), "{}", said(&world, "more"));
    restart(&mut world, FIRST);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_drain_is_taken_back_until_the_server_was_asked() {
    let mut world = a_ring(2, 1);
    let ordered = |w: &World| !member(w, LAST)["spec"]["drain"].is_null();
    ask(&mut world, "work", &drain(LAST));
    let (before, _) = before_each_write(world);
    let (mut early, mut late) = (0, 0);
    for mut world in before {
        if phase(&world, "work").is_some_and(TaskPhase::is_final) {
            continue;
        }
        let is_late = ordered(&world) || mode(&world, LAST) == "DRAINED";
        abort(&mut world, "work");
        world.settle();
        let drained = mode(&world, LAST) == "DRAINED";
        let phase = phase(&world, "work");
        if is_late {
            late += 1;
            assert_eq!((phase, drained), (Some(TaskPhase::Done), true), "{}", world.last_words());
        } else {
            early += 1;
            let is_told = match phase {
                Some(TaskPhase::Aborted) => !drained,
                // It was asked in the write before which the person took it back.
                Some(TaskPhase::Done) => drained,
                _ => false,
            };
            assert!(is_told, "{phase:?}\n{}", world.last_words());
        }
        assert_eq!(of_cluster(&world, "turn"), Value::Null);
    }
    assert!(early > 3 && late > 0, "{early} {late}");
}

#[test]
fn a_server_that_was_started_since_is_asked_anew() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &drain(LAST));
    world.until(|w| !member(w, LAST)["spec"]["drain"].is_null());
    world.delete(kinds::POD, LAST);
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(mode(&world, LAST), "DRAINED");
    restart(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn an_agent_that_does_not_know_the_order_is_given_none() {
    let mut world = a_ring(2, 1);
    world.set_protocol(4);
    world.pass(60);
    ask(&mut world, "work", &drain(LAST));
    world.settle();
    assert!(said(&world, "work").starts_with("AgentTooOld"), "{}", said(&world, "work"));
    assert_eq!(mode(&world, LAST), "NORMAL");
}

#[test]
fn the_operator_may_die_at_every_write_of_a_drain() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &drain(LAST));
    let (worlds, mut end) = before_each_write(world);
    let expected = end.end();
    all_end_alike(
        "a drain",
        some(worlds, 2, 0),
        &expected,
        |world| world.faults.plan(world.faults.writes(), Fault::DieAfter),
        same_end,
    );
    restart(&mut end, LAST);
    end.settle();
    end.expect_ring(3);
}
