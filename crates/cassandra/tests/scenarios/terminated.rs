//! Volumes that people give up: their servers never start again, nothing is
//! deleted because of it, and only a replacement goes on.

use crate::every::{a_ring, before_each_write, killed_at_every_write, some};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Force;
use crate::tasks::{ask, replace, status, volume_of};
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const OTHER: &str = "demo-dc1-b-0";

/// It is stopped for good: only a replacement goes on.
pub fn terminate_now(world: &mut World, member: &str) {
    terminate(world, member, "Now");
    world.until(|w| !w.runs(member) && !self::member(w, member)["spec"]["terminated"].is_null());
    world.pass(60);
}

pub fn terminate(world: &mut World, member: &str, when: &str) {
    let volume = volume_of(world, member);
    world.want(member, &json!({ "run": "Terminated", "volumeID": volume, "when": when }));
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|m| Value::clone(m)).unwrap_or_default()
}

/// It is stopped for good, as the status tells, and its claim is there.
fn expect_terminated(world: &mut World, name: &str) {
    assert!(!world.runs(name), "{}", world.last_words());
    let spec = member(world, name)["spec"].clone();
    assert_eq!(spec["terminated"]["volumeID"], spec["volumeID"], "{}", world.last_words());
    assert_eq!(spec["run"], "Stopped", "it is in the ring, and not gone");
    assert!(world.exists(kinds::CLAIM, &format!("data-{name}")), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True MemberTerminated"), "{degraded}");
    assert_eq!(world.unmet(), Vec::<String>::new(), "{}", world.last_words());
    world.expect_rest();
}

fn terminated() -> World {
    let mut world = a_ring(2, 1);
    terminate(&mut world, LAST, "RingIsWell");
    world.settle();
    world
}

pub fn replaced_by_task(world: &mut World) {
    let mut spec = replace(LAST);
    spec["replace"]["volumeID"] = json!(volume_of(world, LAST));
    let host = crate::tasks::host_of(world, LAST);
    world.ring.called_lost.insert(host.clone());
    world.given_up.insert(host);
    ask(world, "replace-it", &spec);
    world.settle();
    assert_eq!(status(world, "replace-it").phase, Some(TaskPhase::Done), "{}", world.last_words());
}

#[test]
fn a_terminated_member_is_stopped_for_good_and_then_replaced() {
    let mut world = a_ring(2, 1);
    terminate(&mut world, LAST, "RingIsWell");
    let mut world = killed_at_every_write("a member is terminated", world, 1);
    expect_terminated(&mut world, LAST);
    let old = volume_of(&world, LAST);
    replaced_by_task(&mut world);
    world.expect_ring(3);
    assert_ne!(volume_of(&world, LAST), old);
    assert_eq!(member(&world, LAST)["spec"]["terminated"], Value::Null, "it is void");
    // The wish is about the old volume, and free again.
    assert_eq!(member(&world, LAST)["spec"]["wanted"]["run"], "Terminated");
    world.want(LAST, &json!({ "run": "Stopped", "volumeID": null }));
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn what_was_terminated_is_not_taken_back() {
    let mut world = terminated();
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
    for wanted in [json!({ "run": "Running", "volumeID": null }), Value::Null] {
        let patch = json!({ "spec": { "wanted": wanted } });
        world.store.merge(&key, &patch, Subresource::None).expect_err("it is final");
    }
    // Not even where nothing refuses it, as in a cluster without the rule.
    let patch = json!({ "spec": { "run": "Running" } });
    world.store.merge(&key, &patch, Subresource::None).unwrap();
    world.settle();
    assert!(!world.runs(LAST), "the ledger bans its volume\n{}", world.last_words());
}

#[test]
fn a_terminated_member_never_starts_whatever_ends_or_is_lost() {
    let mut world = terminated();
    world.power_cut();
    world.settle();
    assert!(!world.runs(LAST), "without the API server\n{}", world.last_words());
    world.api_returns();
    world.settle();
    expect_terminated(&mut world, LAST);
    world.delete(kinds::POD, LAST);
    world.settle();
    expect_terminated(&mut world, LAST);
    world.erase_status();
    world.settle();
    expect_terminated(&mut world, LAST);
    world.delete(kinds::MEMBER, LAST);
    world.settle();
    assert!(world.exists(kinds::MEMBER, LAST) && !world.runs(LAST), "{}", world.last_words());
    world.expect_rest();
}

/// Between the order and the stop, whatever ends: the agent, the pod, the power.
#[test]
fn a_member_is_terminated_for_good_from_the_moment_its_agent_has_read_it() {
    let mut world = a_ring(2, 1);
    terminate(&mut world, LAST, "RingIsWell");
    world.until(|w| !member(w, LAST)["spec"]["terminated"].is_null());
    let given = world.clone();
    world.until(|w| !w.runs(LAST));
    let stopped = world;
    for (mut world, what) in [(given, "given"), (stopped, "stopped")] {
        world.pass(1);
        world.restart_agent(LAST);
        world.power_cut();
        world.settle();
        assert!(!world.runs(LAST), "{what}\n{}", world.last_words());
        world.api_returns();
        world.settle();
        expect_terminated(&mut world, LAST);
    }
}

#[test]
fn nothing_is_deleted_because_a_member_was_terminated() {
    let mut world = a_ring(2, 1);
    terminate(&mut world, LAST, "RingIsWell");
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 3, 0) {
        world.erase_status();
        world.settle();
        world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
        world.settle();
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        world.settle();
        expect_terminated(&mut world, LAST);
        assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    }
}

#[test]
fn a_member_is_not_terminated_while_another_one_is_down_but_with_now() {
    let mut world = spread(2, 1);
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    terminate(&mut world, LAST, "RingIsWell");
    world.pass(300);
    assert!(world.runs(LAST), "{}", world.last_words());
    assert_eq!(world.unmet(), [format!("{LAST} run: Terminated MemberStopping")]);
    terminate(&mut world, LAST, "Now");
    world.pass(60);
    assert!(!world.runs(LAST), "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    expect_terminated(&mut world, LAST);
}

#[test]
fn a_stopped_member_is_terminated_as_it_stands() {
    let mut world = a_ring(2, 1);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    terminate(&mut world, LAST, "RingIsWell");
    world.settle();
    expect_terminated(&mut world, LAST);
    replaced_by_task(&mut world);
    world.expect_ring(3);
}

#[test]
fn an_agent_that_cannot_ban_a_volume_is_not_asked_to() {
    let mut world = a_ring(2, 1);
    world.set_protocol(2);
    world.pass(10);
    terminate(&mut world, LAST, "RingIsWell");
    world.settle();
    assert!(world.runs(LAST), "{}", world.last_words());
    assert_eq!(world.unmet(), [format!("{LAST} run: Terminated AgentTooOld")]);
    assert!(world.condition("Degraded").starts_with("True AgentTooOld"));
}

#[test]
fn a_wish_about_another_volume_is_void() {
    let mut world = a_ring(2, 1);
    let wanted = json!({ "run": "Terminated", "volumeID": "another", "when": "Now" });
    world.want(LAST, &wanted);
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.unmet(), Vec::<String>::new());
}

fn says(message: &str, reason: Reason) -> bool {
    message.starts_with(&format!("{reason}: "))
}

/// Why the task that asks for it, and the label, are refused.
fn refusals(world: &mut World, name: &str, spec: &Value) -> (String, String) {
    ask(world, name, spec);
    world.label(kinds::MEMBER, LAST, palladion_api::labels::REPLACE);
    world.pass(10);
    assert_eq!(status(world, name).phase, Some(TaskPhase::Refused), "{}", world.last_words());
    let said = status(world, name).conditions.first().map(|c| c.message.clone());
    let labelled = world.story.iter().rev().find(|l| l.contains("cannot be replaced: "));
    (said.unwrap_or_default(), labelled.cloned().unwrap_or_default())
}

#[test]
fn each_refusal_in_its_order_names_the_next_step_and_then_the_member_is_replaced() {
    let mut world = spread(2, 1);
    let refused = |world: &mut World, name: &str, reason: &str, step: &str| {
        let (task, label) = refusals(world, name, &replace(LAST));
        assert!(task.starts_with(&format!("{reason}: ")) && task.contains(step), "{task}");
        assert!(label.contains(step), "{label}");
        assert!(world.events.iter().any(|r| r.as_str() == reason), "{reason}: {:?}", world.events);
        assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    };
    ask(&mut world, "nobody", &replace("demo-dc1-a-7"));
    world.pass(10);
    let said = status(&world, "nobody").conditions[0].message.clone();
    assert!(says(&said, Reason::NoSuchMember) && said.contains(LAST), "{said}");
    world.want(LAST, &json!({ "seed": "Always" }));
    refused(&mut world, "pinned", "MemberIsPinnedSeed", "kubectl palladion seed demo-dc1-a-1 auto");
    world.want(LAST, &json!({ "seed": "Auto" }));
    refused(&mut world, "alive", "MemberIsLive", "kubectl palladion terminate demo-dc1-a-1");
    // Its server has ended, and its agent would start it again.
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    refused(&mut world, "stopped", "MemberNotTerminated", "kubectl palladion terminate");
    terminate(&mut world, LAST, "RingIsWell");
    world.settle();
    let mut other = replace(LAST);
    other["replace"]["volumeID"] = json!("another");
    ask(&mut world, "other-volume", &other);
    world.pass(10);
    let said = status(&world, "other-volume").conditions[0].message.clone();
    assert!(says(&said, Reason::VolumeDiffers), "{said}");
    // Another member is down, so that the first task waits and the second meets it.
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    ask(&mut world, "first", &replace(LAST));
    world.pass(10);
    ask(&mut world, "second", &replace(LAST));
    world.pass(10);
    let said = status(&world, "second").conditions[0].message.clone();
    assert!(says(&said, Reason::AlreadyReplacing) && said.contains("first"), "{said}");
    let host = crate::tasks::host_of(&world, LAST);
    world.given_up.insert(host);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
    assert_eq!(status(&world, "first").phase, Some(TaskPhase::Done));
}

/// A rollout whose image cannot be pulled: the member has the turn, and is down.
#[test]
fn a_member_that_has_the_turn_is_busy() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "repository": "example.org/missing" }));
    world.pass(300);
    let turn = world.end().status["turn"].clone();
    assert_eq!(turn["step"], "Restart", "{}", world.last_words());
    let name = turn["member"].as_str().unwrap_or_default();
    ask(&mut world, "early", &replace(name));
    world.pass(10);
    assert_eq!(status(&world, "early").phase, Some(TaskPhase::Refused), "{}", world.last_words());
    let said = status(&world, "early").conditions[0].message.clone();
    assert!(says(&said, Reason::MemberBusy) && said.contains("restart"), "{said}");
    assert!(world.destructive.len() == 1, "the pod of the rollout: {:?}", world.destructive);
}

/// It was made to leave by hand in the middle of a flush, which its server has not ended.
#[test]
fn a_member_whose_server_works_for_a_task_is_busy() {
    let mut world = a_ring(2, 1);
    world.ring.hanging.insert(LAST.into());
    let flush = json!({ "cluster": "demo", "members": [LAST], "flush": {} });
    ask(&mut world, "flush", &flush);
    world.until(|w| !w.ring.calls.is_empty());
    world.pass(10);
    world.ring.hanging.clear();
    world.nodetool_decommission(LAST, Force::Yes);
    world.pass(120);
    ask(&mut world, "early", &replace(LAST));
    world.pass(10);
    let said = status(&world, "early").conditions[0].message.clone();
    assert!(says(&said, Reason::MemberBusy) && said.contains("its job"), "{said}");
}

#[test]
fn the_only_member_of_a_ring_is_not_replaced() {
    let mut world = World::new().with(&a_cluster(&[("a", 1), ("b", 0)]));
    world.settle();
    world.break_volume("demo-dc1-a-0");
    world.pass(60);
    world.label(kinds::MEMBER, "demo-dc1-a-0", palladion_api::labels::REPLACE);
    world.pass(60);
    assert!(world.events.contains(&Reason::ReplaceRefused), "{:?}", world.events);
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
}
