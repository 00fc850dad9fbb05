//! Nodes that are deleted, for good or for an hour, with local volumes in their machines.

use super::acts::pod;
use super::world::{NAMESPACE, World};
use palladion_api::labels;
use palladion_plan::sim::Feed;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::json;

/// Its local volume went with the machine.
#[test]
fn a_member_whose_node_is_gone_for_good_is_replaced_after_the_grace_time() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    world.kube.delete_node(&mut world.store, "n2");
    world.pass(250);
    let said = world.condition("Degraded");
    assert!(said.contains("Node n2, which holds the volume of member demo-zk-1"), "{said}");
    assert!(world.voters().contains(&2), "not before the grace time has passed");
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4]);
}

/// What the watch of Nodes knows is as old as its last event: the machine has its Node again,
/// and with it the volume.
#[test]
fn a_node_that_is_back_before_the_watch_knows_it_costs_a_new_member_no_volume() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0, "servers": 5 }));
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(3)));
    world.until(|w| w.node_of(3).is_some());
    let node = world.node_of(3).unwrap();
    world.kube.set_machine(&mut world.store, &node, Machine::Down);
    world.kube.forget_node(&mut world.store, &node);
    let noted = |w: &World| {
        w.store.get(&claim).unwrap()["metadata"]["annotations"][labels::NODE_GONE].clone()
    };
    world.until(|w| noted(w).is_string());
    let uid = |w: &World| w.store.get(&claim).map(|c| c["metadata"]["uid"].clone());
    let before = uid(&world);
    assert!(world.member(3)["spec"]["serverID"].is_null(), "{}", world.last_words());
    world.operators[0].cache.set_feed(kinds::NODE, Feed::Stale);
    world.kube.add_node(&mut world.store, &node, "z1");
    world.kube.set_machine(&mut world.store, &node, Machine::Down);
    world.pass(120);
    assert_eq!(uid(&world), before, "{}", world.last_words());
    world.operators[0].cache.set_feed(kinds::NODE, Feed::Live);
    world.operators[0].resync();
    world.kube.set_machine(&mut world.store, &node, Machine::Up);
    world.settle();
    world.expect(5);
    assert_eq!(uid(&world), before, "{}", world.last_words());
    assert!(noted(&world).is_null(), "{}", world.last_words());
}

#[test]
fn a_node_that_comes_back_in_time_brings_its_member_back() {
    let mut world = World::settled(3);
    world.kube.forget_node(&mut world.store, "n2");
    world.pass(100);
    world.kube.add_node(&mut world.store, "n2", "z2");
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 3]);
}

#[test]
fn a_member_whose_volumes_its_node_cannot_mount_is_reported_and_comes_back() {
    let mut world = World::settled(3);
    world.kube.without_mounts.insert("n2".to_string());
    world.delete(kinds::POD, &pod(1));
    world.pass(180);
    let said = world.condition("Degraded");
    assert!(said.contains("WaitingForVolumes") && said.contains("n2"), "{said}");
    world.kube.without_mounts.clear();
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 3]);
}

fn is_marked(world: &World, ordinal: i32) -> bool {
    !world.member(ordinal)["spec"]["replace"].is_null()
}

/// A machine was worked on for longer than the grace time, a rack was without power: the
/// disks are as they were.
#[test]
fn nodes_that_come_back_after_the_grace_time_bring_their_members_back() {
    for (servers, away) in [(1, vec![0]), (3, vec![1, 2])] {
        let mut world = World::settled(servers);
        let voters = world.voters();
        let nodes: Vec<String> = away.iter().map(|o| world.node_of(*o).unwrap()).collect();
        nodes.iter().for_each(|node| world.take_away(node));
        world.pass(400);
        assert!(away.iter().all(|o| is_marked(&world, *o)), "{}", world.last_words());
        nodes.iter().for_each(|node| world.bring_back(node));
        world.settle();
        world.expect(servers);
        assert_eq!(world.voters(), voters, "{}", world.last_words());
        assert!(!away.iter().any(|o| is_marked(&world, *o)), "{}", world.last_words());
    }
}

/// What has begun by then is brought to its end; what has not is not begun.
#[test]
fn a_node_may_come_back_at_any_time_of_the_replacement() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    let node = world.node_of(1).unwrap();
    world.take_away(&node);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    world.expect(3);
    let (mut kept, mut replaced) = (0, 0);
    for mut world in worlds.into_iter().filter(|w| is_marked(w, 1)).step_by(2) {
        world.bring_back(&node);
        world.settle();
        world.expect(3);
        match world.voters().contains(&2) {
            true => kept += 1,
            false => replaced += 1,
        }
    }
    assert!(kept > 0 && replaced > 0, "{kept} and {replaced}");
}

/// Nobody looks at Nodes while the ensemble is paused: two short absences are not one that
/// is longer than the grace time.
#[test]
fn the_grace_time_begins_again_after_a_time_in_which_nobody_looked() {
    let mut world = World::settled(3);
    let node = world.node_of(1).unwrap();
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(1)));
    let is_noted = |w: &World| {
        w.store.get(&claim).unwrap()["metadata"]["annotations"][labels::NODE_GONE].is_string()
    };
    world.take_away(&node);
    world.until(is_noted);
    world.patch_spec(&json!({ "paused": true }));
    world.pass(60);
    world.bring_back(&node);
    world.pass(3_600);
    assert!(is_noted(&world), "nothing is written while it is paused");
    world.take_away(&node);
    world.patch_spec(&json!({ "paused": false }));
    world.pass(240);
    assert!(!is_marked(&world, 1), "{}", world.last_words());
    world.settle();
    world.expect(3);
    assert!(!world.voters().contains(&2), "it was gone for long enough: {}", world.last_words());
}

/// Anybody who may annotate a claim can write any time.
#[test]
fn a_note_of_the_end_of_time_is_no_look_at_a_node() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    let node = world.node_of(1).unwrap();
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(1)));
    let noted = |w: &World| {
        w.store.get(&claim).unwrap()["metadata"]["annotations"][labels::NODE_GONE_SEEN].clone()
    };
    world.take_away(&node);
    world.until(|w| noted(w).is_string());
    let last = json!("9999-12-30T21:59:59Z");
    let annotations = json!({ labels::NODE_GONE_SEEN: last });
    let patch = json!({ "metadata": { "annotations": annotations } });
    world.store.merge(&claim, &patch, Subresource::None).unwrap();
    world.until(|w| noted(w) != last);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
}
