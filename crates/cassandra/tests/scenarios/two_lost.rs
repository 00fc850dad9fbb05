//! Members that are lost at the same time: one that waits for its pod holds up no other one.

use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::tasks::host_of;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";
const UNPLACED: &str = "demo-dc1-b-0";
const LOST: &str = "demo-dc1-c-0";

/// A ring of five, one of them lost with its Node, and no other machine for it in its zone.
fn with_one_that_has_no_place() -> World {
    let mut world = World::new();
    // One in each rack.
    world.ring.copies = 3;
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut cluster = a_cluster(&[("a", 3), ("b", 1), ("c", 1)]);
    cluster["spec"]["nodeGoneGraceSeconds"] = json!(0);
    let mut world = world.with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    let host = host_of(&world, UNPLACED);
    world.ring.called_lost.insert(host);
    let node = world.node_of(UNPLACED);
    world.lose_node(&node);
    world.pass(900);
    assert_eq!(world.normal(), 4, "{}", world.last_words());
    world
}

/// Another one is lost with its Node, and there is a machine for it.
fn loses_another(world: &mut World) {
    let node = world.node_of(LOST);
    world.lose_node(&node);
    world.register_node("n9", "z3");
}

/// There is a machine for the first one, too: the ring is whole in the end.
fn has_a_place_again(world: &mut World) {
    world.register_node("n8", "z2");
    world.settle();
    world.expect_ring(5);
}

#[test]
fn a_lost_member_without_a_place_holds_up_the_replacement_of_no_other() {
    let mut world = with_one_that_has_no_place();
    loses_another(&mut world);
    world.until(|w| w.normal() == 3);
    world.until(|w| w.normal() == 4);
    assert!(world.runs(LOST), "{}", world.last_words());
    has_a_place_again(&mut world);
}

/// The third one may have what the second one had, alone.
#[test]
fn a_third_member_that_is_down_holds_up_the_replacement_until_it_is_back() {
    let mut world = with_one_that_has_no_place();
    let away = world.node_of("demo-dc1-a-2");
    world.set_machine(&away, Machine::Down);
    world.pass(120);
    loses_another(&mut world);
    world.pass(900);
    assert!(!world.runs(LOST), "{}", world.last_words());
    world.set_machine(&away, Machine::Up);
    world.until(|w| w.normal() == 4);
    assert!(world.runs(LOST), "{}", world.last_words());
    has_a_place_again(&mut world);
}

/// Its first turn takes its identity off its own record, and what its place was is on the claim.
#[test]
fn a_lost_member_whose_replacement_has_begun_counts_with_the_rest_that_must_agree() {
    let mut cluster = a_cluster(&[("a", 1), ("b", 1), ("c", 1)]);
    cluster["spec"]["nodeGoneGraceSeconds"] = json!(0);
    let mut world = World::new().with(&cluster);
    world.settle();
    let node = world.node_of(FIRST);
    world.lose_node(&node);
    world.register_node("n9", "z1");
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, FIRST);
    world.until(|w| w.store.get(&key).is_some_and(|m| m["spec"]["hostID"].is_null()));
    world.lose_node("n9");
    world.pass(300);
    let node = world.node_of(UNPLACED);
    world.lose_node(&node);
    world.pass(300);
    let before = world.writes.len();
    world.pass(300);
    let written = &world.writes[before..];
    let turns = written.iter().filter(|write| write.contains("replacement")).count();
    assert_eq!(turns, 0, "{written:?}");
    let degraded = world.condition("Degraded");
    assert!(degraded.contains(UNPLACED), "{degraded}");
}
