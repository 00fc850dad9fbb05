//! Networks that are cut.

use super::world::World;
use serde_json::json;

#[test]
fn a_node_that_is_cut_off_pauses_and_nothing_is_changed_until_it_is_back() {
    let mut world = World::settled(3);
    world.cut(2, 0);
    world.cut(2, 1);
    world.pass(60);
    assert_eq!(world.rabbit.running().len(), 2, "{}", world.last_words());
    world.writes.clear();
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(120);
    let permits = world.writes.iter().filter(|w| w.starts_with("permit the join")).count();
    assert_eq!(permits, 0, "{:?}", world.writes);
    assert_eq!(world.rabbit.running().len(), 2, "{}", world.last_words());
    assert!(world.condition("AllNodesSeen").starts_with("False NodesUnseen"));
    assert!(world.condition("Available").starts_with("True"), "two of three serve");
    world.heal();
    world.settle();
    world.expect(5);
}

#[test]
fn a_partition_that_pauses_nobody_is_shown_and_stops_every_change() {
    let mut world = World::settled(3);
    world.cut(0, 1);
    world.pass(30);
    let said = world.condition("Partitioned");
    assert!(said.starts_with("True Partitioned"), "{said}");
    let said = world.condition("Degraded");
    assert!(said.contains("check the network between them"), "{said}");
    world.writes.clear();
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    world.heal();
    world.settle();
    world.expect(1);
}
