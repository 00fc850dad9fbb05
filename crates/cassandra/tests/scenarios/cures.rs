//! Restarts that are what the ring waits for: of a member that is cut off, that has another schema
//! than the rest, or that does not come up and has no turn. A corrected spec reaches it, and so does
//! a person; nobody else is restarted meanwhile.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::cluster_key;
use crate::tasks::{ask, status};
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const OTHER: &str = "demo-dc1-b-0";

fn turn(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"]["turn"].clone()).unwrap_or_default()
}

fn uid(world: &World, member: &str) -> Value {
    let key = ObjectKey::new(kinds::POD, NAMESPACE, member);
    world.store.get(&key).map(|pod| pod["metadata"]["uid"].clone()).unwrap_or_default()
}

fn token(world: &World, member: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
    world.store.get(&key).map(|m| m["spec"]["restartToken"].clone()).unwrap_or_default()
}

fn restart(world: &mut World, member: &str) {
    world.want(member, &json!({ "restartToken": "cure" }));
}

/// The first member of a rollout comes up, and nobody reaches it: the rollout stops there.
fn with_a_canary_that_is_cut_off() -> (World, String) {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.until(|w| turn(w)["step"] == "Restart");
    let canary = turn(&world)["member"].as_str().expect("somebody has the turn").to_string();
    world.until(|w| !w.runs(&canary));
    world.cut_off(&canary);
    world.until(|w| w.normal() == 3);
    world.pass(900);
    assert_eq!(turn(&world), Value::Null, "{}", world.last_words());
    (world, canary)
}

#[test]
fn a_canary_that_is_cut_off_takes_the_corrected_spec() {
    let (mut world, canary) = with_a_canary_that_is_cut_off();
    let others = [FIRST, LAST, OTHER].into_iter().filter(|m| *m != canary);
    let before: Vec<(&str, Value)> = others.map(|m| (m, uid(&world, m))).collect();
    let stands = uid(&world, &canary);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    world.until(|w| uid(w, &canary) != stands && !w.runs(&canary));
    for (member, uid_before) in &before {
        assert_eq!(uid(&world, member), *uid_before, "{member}");
    }
    world.reconnect();
    world.settle();
    world.expect_ring(3);
}

/// The spec asks for more members besides, and they wait for a ring that is well.
#[test]
fn a_canary_that_is_cut_off_takes_the_corrected_spec_before_others_join() {
    let (mut world, canary) = with_a_canary_that_is_cut_off();
    let stands = uid(&world, &canary);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(120);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    world.until(|w| uid(w, &canary) != stands && !w.runs(&canary));
    world.reconnect();
    world.settle();
    world.expect_ring(4);
}

/// What its clients have written may be there alone, and so may what the one that is down has.
#[test]
fn a_canary_that_is_cut_off_is_not_restarted_while_another_one_is_down() {
    let (mut world, canary) = with_a_canary_that_is_cut_off();
    let stands = uid(&world, &canary);
    let down = if canary == OTHER { LAST } else { OTHER };
    let node = world.node_of(down);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    world.pass(900);
    assert_eq!(uid(&world, &canary), stands, "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.until(|w| uid(w, &canary) != stands && !w.runs(&canary));
    world.reconnect();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_that_is_cut_off_is_restarted_as_a_person_asks_and_no_other_one_is() {
    let mut world = a_ring(2, 1);
    world.cut_off(LAST);
    world.pass(120);
    restart(&mut world, FIRST);
    world.pass(600);
    assert_eq!(token(&world, FIRST), Value::Null, "{}", world.last_words());
    restart(&mut world, LAST);
    world.until(|w| !w.runs(LAST));
    assert_eq!(token(&world, FIRST), Value::Null, "{}", world.last_words());
    world.reconnect();
    world.settle();
    world.expect_ring(3);
    assert!(token(&world, FIRST).is_string(), "{}", world.last_words());
}

/// Members have not agreed for so long that it does not pass.
fn with_an_odd_schema() -> World {
    let mut world = a_ring(2, 1);
    world.ring.odd_schemas.insert(LAST.into());
    world.pass(400);
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True SchemasDisagree"), "{degraded}");
    world
}

#[test]
fn a_member_whose_schema_differs_is_restarted_as_a_person_asks() {
    let mut world = with_an_odd_schema();
    restart(&mut world, LAST);
    world.until(|w| !w.runs(LAST));
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_whose_schema_differs_is_restarted_by_a_task() {
    let mut world = with_an_odd_schema();
    ask(&mut world, "cure", &json!({ "cluster": "demo", "restart": {}, "members": [LAST] }));
    world.until(|w| !w.runs(LAST));
    world.ring.odd_schemas.clear();
    world.settle();
    assert_eq!(status(&world, "cure").phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

/// It would be no cure, and a joiner waits for the schema as well.
#[test]
fn nobody_else_is_restarted_while_schemas_differ() {
    let mut world = with_an_odd_schema();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    restart(&mut world, FIRST);
    world.pass(900);
    assert_eq!(token(&world, FIRST), Value::Null, "{}", world.last_words());
    restart(&mut world, LAST);
    world.until(|w| !w.runs(LAST));
    assert_eq!(token(&world, FIRST), Value::Null, "{}", world.last_words());
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(4);
}

/// The operator's own restarts begin with it.
#[test]
fn a_rollout_begins_with_the_member_whose_schema_differs() {
    let mut world = with_an_odd_schema();
    let others = [FIRST, OTHER].map(|member| (member, uid(&world, member)));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.until(|w| !w.runs(LAST));
    world.pass(300);
    for (member, before) in others {
        assert_eq!(uid(&world, member), before, "{member}: {}", world.last_words());
    }
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_whose_schema_differs_is_not_restarted_while_another_one_is_down() {
    let mut world = spread(2, 1);
    world.ring.odd_schemas.insert(LAST.into());
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(400);
    restart(&mut world, LAST);
    world.pass(900);
    assert_eq!(token(&world, LAST), Value::Null, "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.until(|w| !w.runs(LAST));
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(3);
}

/// The turn of its restart was passed to a stop, which was taken back before it was given.
#[test]
fn a_member_that_hangs_without_a_turn_takes_the_corrected_spec() {
    let mut world = spread(3, 1);
    world.patch_spec(&json!({ "config": { "hanging_setting": 8 } }));
    world.until(|w| turn(w)["step"] == "Restart");
    let member = turn(&world)["member"].as_str().expect("somebody has the turn").to_string();
    world.until(|w| !w.runs(&member));
    world.pass(900);
    world.want(&member, &json!({ "run": "Stopped" }));
    world.until(|w| turn(w)["step"] == "Stop");
    world.want(&member, &json!({ "run": null }));
    world.pass(120);
    assert_eq!(turn(&world), Value::Null, "{}", world.last_words());
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "hanging_setting": null } }));
    world.settle();
    world.expect_ring(4);
}

/// It may be either of them: a person chooses.
#[test]
fn a_rollout_chooses_none_of_two_that_do_not_see_each_other() {
    let mut world = spread(1, 1);
    world.cut_off(OTHER);
    world.pass(120);
    let before = [FIRST, OTHER].map(|member| uid(&world, member));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(900);
    assert_eq!([FIRST, OTHER].map(|member| uid(&world, member)), before, "{}", world.last_words());
    restart(&mut world, OTHER);
    world.until(|w| uid(w, OTHER) != before[1] && !w.runs(OTHER));
    world.reconnect();
    world.settle();
    world.expect_ring(2);
}
