//! Rollouts beside a lost member whose replacement cannot begin.

use crate::nodes::spread;
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const LOST: &str = "demo-dc1-b-0";

/// A ring of two whose other member is down and marked: its replacement is held, since
/// the only other one cannot tell a lost member from one that it does not reach.
fn with_a_held_replacement() -> World {
    is_lost(spread(1, 1))
}

fn is_lost(mut world: World) -> World {
    let node = world.node_of(LOST);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    world.label(kinds::MEMBER, LOST, labels::REPLACE);
    world.pass(120);
    world
}

fn pod_of(world: &World, member: &str) -> Value {
    let key = ObjectKey::new(kinds::POD, NAMESPACE, member);
    world.store.get(&key).map(|pod| pod["metadata"]["uid"].clone()).unwrap_or_default()
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|m| Value::clone(m)).unwrap_or_default()
}

fn annotate(world: &mut World, name: &str) {
    let annotation = json!({ "metadata": { "annotations": { labels::UPGRADE_WITHOUT: "" } } });
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.merge(&key, &annotation, Subresource::None).expect("the member should exist");
}

#[test]
fn a_rollout_beside_a_replacement_that_cannot_begin_waits_for_a_person_and_says_so() {
    let mut world = with_a_held_replacement();
    let before = pod_of(&world, FIRST);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(600);
    assert_eq!(pod_of(&world, FIRST), before, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    let said = [FIRST, LOST, "palladion.dev/upgrade-without="];
    assert!(said.iter().all(|words| degraded.contains(words)), "{degraded}");
    annotate(&mut world, LOST);
    world.pass(600);
    assert_ne!(pod_of(&world, FIRST), before, "{}", world.last_words());
    assert!(world.runs(FIRST), "{}", world.last_words());
    // It comes back, and what was said of its loss is void.
    let node = world.node_of(LOST);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(2);
    let annotations = &member(&world, LOST)["metadata"]["annotations"];
    assert!(annotations[labels::UPGRADE_WITHOUT].is_null(), "{annotations}");
}

#[test]
fn what_was_said_of_an_earlier_loss_lets_no_rollout_pass() {
    let mut world = spread(1, 1);
    annotate(&mut world, LOST);
    let mut world = is_lost(world);
    let before = pod_of(&world, FIRST);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(600);
    assert_eq!(pod_of(&world, FIRST), before, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("palladion.dev/upgrade-without="), "{degraded}");
}

#[test]
fn nothing_is_said_of_a_rollout_where_none_is_due() {
    let mut world = with_a_held_replacement();
    world.pass(600);
    let degraded = world.condition("Degraded");
    assert!(!degraded.contains("palladion.dev/upgrade-without="), "{degraded}");
}
