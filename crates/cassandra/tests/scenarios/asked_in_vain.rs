//! Agents that have lost the API server alone: Node and pod are well, their servers
//! serve, and what they said last stands. While nobody needs them nothing is told;
//! whoever waits for them says so, and whom, since when and what to do.

use crate::holes::wrote;
use crate::nodes::spread;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::Link;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const NEW: &str = "demo-dc1-a-2";

/// An hour, however often nothing happens.
fn an_hour(world: &mut World) {
    for _ in 0..30 {
        world.pass(120);
    }
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|m| (**m).clone()).unwrap_or_default()
}

/// It is told of this agent; nobody writes the same again and again.
fn told_of(world: &mut World, name: &str) {
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AgentSilent"), "{told}\n{}", world.last_words());
    for words in [name, "2026-", "kubectl logs", "NetworkPolic"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let before = world.faults.writes();
    an_hour(world);
    assert_eq!(world.faults.writes(), before, "{}", world.last_words());
    assert_eq!(world.condition("Degraded"), told);
}

fn comes_back(world: &mut World, members: usize) {
    world.agents_are_back();
    world.settle();
    world.expect_ring(members);
}

#[test]
fn a_cut_off_agent_at_rest_costs_nothing_and_is_told_once_somebody_asks_it_in_vain() {
    for link in [Link::Cut, Link::Mute] {
        let mut world = spread(2, 1);
        world.agent_is_cut(FIRST, link);
        let before = world.faults.writes();
        an_hour(&mut world);
        assert_eq!(world.faults.writes(), before, "{}", world.last_words());
        assert!(world.condition("Degraded").starts_with("False"));
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        an_hour(&mut world);
        told_of(&mut world, FIRST);
        let health = world.condition("Healthy");
        assert!(health.contains("do not report: demo-dc1-a-0"), "{health}");
        comes_back(&mut world, 3);
    }
}

/// Nobody asks it any more, and it is as silent as before.
#[test]
fn a_change_that_is_taken_back_leaves_told_who_does_not_answer() {
    let mut world = spread(2, 1);
    world.agent_is_cut(FIRST, Link::Cut);
    world.patch_spec(&json!({ "restartToken": "one" }));
    an_hour(&mut world);
    world.patch_spec(&json!({ "restartToken": null }));
    an_hour(&mut world);
    told_of(&mut world, FIRST);
    comes_back(&mut world, 3);
}

#[test]
fn an_agent_that_never_reports_at_creation_is_told() {
    let mut world = World::new().with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.agent_is_cut(FIRST, Link::Cut);
    an_hour(&mut world);
    told_of(&mut world, FIRST);
    comes_back(&mut world, 3);
}

#[test]
fn an_agent_that_never_reports_in_a_growth_is_told() {
    let mut world = spread(2, 1);
    world.agent_is_cut(NEW, Link::Cut);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    an_hour(&mut world);
    told_of(&mut world, NEW);
    comes_back(&mut world, 4);
}

/// It has reported its empty volume, and does not hear that it may join.
#[test]
fn a_permit_that_nobody_takes_is_told() {
    let mut world = spread(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| wrote(w, "permit member demo-dc1-a-2 to join"));
    world.agent_is_cut(NEW, Link::Cut);
    an_hour(&mut world);
    told_of(&mut world, NEW);
    comes_back(&mut world, 4);
}

#[test]
fn an_intent_that_nobody_answers_is_told() {
    let mut world = spread(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| member(w, NEW)["spec"]["intent"].is_object());
    world.agent_is_cut(NEW, Link::Cut);
    an_hour(&mut world);
    told_of(&mut world, NEW);
    comes_back(&mut world, 3);
}

/// All others are asked whether it has left, under the same turn.
#[test]
fn whoever_does_not_say_that_a_member_has_left_is_told() {
    let mut world = spread(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| member(w, NEW)["spec"]["intent"].is_object());
    world.agent_is_cut(FIRST, Link::Cut);
    an_hour(&mut world);
    told_of(&mut world, FIRST);
    comes_back(&mut world, 3);
}

/// The pod is new, and its agent says nothing to it.
#[test]
fn a_member_that_restarts_and_is_not_heard_again_is_told() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let pod = ObjectKey::new(kinds::POD, NAMESPACE, FIRST);
    let uid = |w: &World| w.store.get(&pod).map(|pod| pod["metadata"]["uid"].clone());
    let before = uid(&world);
    world.until(|w| uid(w).is_some_and(|uid| before.as_ref() != Some(&uid)));
    world.agent_is_cut(FIRST, Link::Cut);
    an_hour(&mut world);
    told_of(&mut world, FIRST);
    comes_back(&mut world, 3);
}

/// What waits for nobody but a slow image is no silence.
#[test]
fn an_agent_that_is_a_minute_late_is_not_told() {
    let mut world = spread(2, 1);
    world.agent_is_cut(FIRST, Link::Cut);
    world.patch_spec(&json!({ "restartToken": "one" }));
    let asked = world.clock();
    loop {
        world.pass(5);
        if world.clock() - asked >= 110 {
            break;
        }
        assert!(!world.condition("Degraded").contains("AgentSilent"), "{}", world.last_words());
    }
    comes_back(&mut world, 3);
}
