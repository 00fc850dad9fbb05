//! Pods that come anew in a revision in which nobody serves yet: whoever waits for its proof
//! waits for one that can give it.

use super::acts::{node, pod};
use super::world::World;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    /// The revision of the pod of this ordinal.
    fn revision(&self, ordinal: i32) -> Option<String> {
        let pods = self.kube.pods(&self.store);
        pods.into_iter().find(|p| p.key.name == pod(ordinal)).map(|p| p.revision)
    }

    /// May its node start in the pod that it has?
    fn is_allowed(&self, ordinal: i32) -> bool {
        let allowed = self.member(ordinal)["spec"]["revisions"][0].clone();
        self.revision(ordinal).is_some_and(|revision| json!(revision) == allowed)
    }

    /// Somebody changes the template of the pods.
    fn change_template(&mut self) {
        self.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    }

    /// So long it takes at most, and not as many rounds as a history has.
    fn nodes_run_soon(&mut self, count: usize) {
        self.pass(120);
        assert_eq!(self.rabbit.running().len(), count, "{}", self.last_words());
    }
}

/// It runs and does not get in, and then waits until all others answer: it proves nothing.
#[test]
fn a_member_that_comes_in_a_change_waits_for_no_joiner_to_prove_it() {
    let mut world = World::apart_and_growing();
    let before = world.revision(3);
    world.change_template();
    world.pass(1);
    world.delete(kinds::POD, &pod(3));
    world.until(|w| w.revision(3) != before && w.is_allowed(3));
    world.delete(kinds::POD, &pod(0));
    world.pass(120);
    assert!(world.rabbit.by_name(&node(0)).is_some(), "{}", world.last_words());
    world.stuck.clear();
    world.settle();
    world.expect(5);
}

/// As long as its pod is the old one, it waits for the answers of all.
#[test]
fn a_member_that_comes_in_a_change_waits_for_no_restart_that_has_not_begun() {
    for ordinal in 0..3 {
        let mut world = World::settled(3);
        world.change_template();
        world.until(|w| w.status()["turn"]["step"] == "Restart");
        world.delete(kinds::POD, &pod(ordinal));
        world.pass(300);
        world.settle();
        world.expect(3);
    }
}

/// A machine that is away proves nothing, and spares nobody.
#[test]
fn members_that_come_in_a_change_start_although_the_machine_of_another_is_away() {
    for deleted in [vec![0], vec![1], vec![0, 1]] {
        for is_evicted in [false, true] {
            let mut world = World::on_machines_of_their_own(3);
            let machine = world.node_of(2);
            world.kube.set_machine(&mut world.store, &machine, Machine::Down);
            world.change_template();
            world.pass(60);
            if is_evicted {
                world.delete(kinds::POD, &pod(2));
            }
            for ordinal in &deleted {
                world.delete(kinds::POD, &pod(*ordinal));
            }
            world.nodes_run_soon(2);
            world.kube.set_machine(&mut world.store, &machine, Machine::Up);
            world.settle();
            world.expect(3);
        }
    }
}

/// All nodes wait for the tables of the last one that ran.
#[test]
fn the_last_node_that_ran_starts_in_a_change_although_the_others_do_not_serve() {
    for (last, other, comes_anew) in [(1, 2, false), (2, 1, false), (1, 2, true), (2, 1, true)] {
        let mut world = World::settled(3);
        world.change_template();
        world.until(|w| w.writes.iter().any(|write| write.starts_with("begin the restart")));
        world.unlucky.extend([pod(0), pod(other)]);
        world.kill(0);
        world.kill(other);
        if comes_anew {
            world.delete(kinds::POD, &pod(other));
        }
        world.pass(1);
        world.delete(kinds::POD, &pod(last));
        world.unlucky.clear();
        world.nodes_run_soon(3);
        world.settle();
        world.expect(3);
    }
}
