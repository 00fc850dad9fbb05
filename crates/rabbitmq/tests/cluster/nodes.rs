//! Nodes that are deleted for longer than the grace time and come back, with the local
//! volumes in their machines.

use super::acts::pod;
use super::world::{NAMESPACE, World};
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    pub fn node_of(&self, ordinal: i32) -> String {
        let pod = self.store.get(&ObjectKey::new(kinds::POD, NAMESPACE, &pod(ordinal))).unwrap();
        pod["spec"]["nodeName"].as_str().unwrap().to_string()
    }

    fn is_marked(&self, ordinal: i32) -> bool {
        self.member(ordinal)["spec"]["replace"].is_object()
    }
}

/// With `deletionPolicy: Delete` the cluster waits for all pods before any data goes.
#[test]
fn a_deletion_names_the_pods_that_it_waits_for_and_what_ends_one_on_a_machine_that_is_away() {
    let mut world = World::on_machines_of_their_own(3);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    let machine = world.node_of(1);
    world.kube.set_machine(&mut world.store, &machine, Machine::Down);
    world.pass(60);
    world.delete_cluster();
    world.pass(600);
    let said = world.condition("Progressing");
    let named = [pod(1), format!("`kubectl delete node {machine}`")];
    assert!(named.iter().all(|name| said.contains(name)), "{said}");
    assert!(!said.contains(&pod(0)), "{said}");
    world.kube.take_away(&mut world.store, &machine);
    world.until(World::is_deleted);
}

#[test]
fn nodes_that_come_back_after_the_grace_time_bring_their_members_back() {
    for (nodes, away) in [(1, vec![0]), (3, vec![1, 2])] {
        let mut world = World::settled(nodes);
        let volumes: Vec<_> =
            away.iter().map(|o| world.member(*o)["spec"]["volumeID"].clone()).collect();
        let machines: Vec<String> = away.iter().map(|o| world.node_of(*o)).collect();
        for machine in &machines {
            world.kube.take_away(&mut world.store, machine);
        }
        world.pass(400);
        assert!(away.iter().all(|o| world.is_marked(*o)), "{}", world.last_words());
        for machine in &machines {
            world.kube.bring_back(&mut world.store, machine, "z1");
        }
        world.settle();
        world.expect(nodes);
        assert!(!away.iter().any(|o| world.is_marked(*o)), "{}", world.last_words());
        let kept: Vec<_> =
            away.iter().map(|o| world.member(*o)["spec"]["volumeID"].clone()).collect();
        assert_eq!(kept, volumes, "{}", world.last_words());
    }
}

/// From the first replica that is taken off it on the member is replaced, whatever returns.
#[test]
fn a_node_may_come_back_at_any_time_of_the_replacement() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    let machine = world.node_of(1);
    let volume = world.member(1)["spec"]["volumeID"].clone();
    world.kube.take_away(&mut world.store, &machine);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    world.expect(3);
    let (mut kept, mut replaced) = (0, 0);
    let marked = worlds.into_iter().filter(|w| w.is_marked(1));
    for mut world in marked.step_by(4) {
        let has_moved = world.replicas("orders") != [0, 1, 2];
        world.kube.bring_back(&mut world.store, &machine, "z1");
        world.settle();
        world.expect(3);
        let is_kept = world.member(1)["spec"]["volumeID"] == volume;
        match is_kept {
            true => kept += 1,
            false => replaced += 1,
        }
        assert!(!(has_moved && is_kept), "{}", world.last_words());
    }
    assert!(kept > 0 && replaced > 0, "{kept} and {replaced}");
}
