//! Pods that come anew in a revision in which nobody serves yet: whoever waits for its proof
//! waits for one that can give it.

use super::acts::pod;
use super::world::World;
use palladion_plan::sim::kubernetes::Machine;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

impl World {
    /// The revision of the pod of this ordinal.
    fn revision(&self, ordinal: i32) -> Option<String> {
        let pods = self.kube.pods(&self.store);
        pods.into_iter().find(|p| p.key.name == pod(ordinal)).map(|p| p.revision)
    }

    /// May its server start in the pod that it has?
    fn is_allowed(&self, ordinal: i32) -> bool {
        let allowed = self.member(ordinal)["spec"]["revisions"][0].clone();
        self.revision(ordinal).is_some_and(|revision| json!(revision) == allowed)
    }

    /// Somebody changes the template of the pods.
    fn change_template(&mut self) {
        self.patch_spec(&json!({ "config": { "maxClientCnxns": "99" } }));
    }

    /// So long it takes at most, and not as many rounds as a history has.
    fn servers_run_soon(&mut self, count: usize) {
        self.pass(120);
        let serving = self.ensemble.servers.values().filter(|s| s.leader.is_some());
        assert_eq!(serving.count(), count, "{}", self.last_words());
    }
}

/// It votes only once all others answer, so it can prove nothing to them.
#[test]
fn a_member_that_comes_in_a_change_waits_for_no_joiner_to_prove_it() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    let before = world.revision(3);
    world.change_template();
    world.pass(1);
    world.delete(kinds::POD, &pod(3));
    world.until(|w| w.revision(3) != before && w.is_allowed(3));
    world.delete(kinds::POD, &pod(1));
    world.pass(300);
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

/// The new server of a replacement begins only once all others answer.
#[test]
fn a_member_that_comes_in_a_change_waits_for_no_replacement_to_prove_it() {
    let mut world = World::settled(5);
    let before = world.revision(4);
    world.wipe(4);
    world.change_template();
    world.until(|w| w.revision(4) != before && w.is_allowed(4));
    assert!(world.member(4)["spec"]["start"].is_null(), "{}", world.last_words());
    world.delete(kinds::POD, &pod(0));
    world.pass(300);
    world.settle();
    world.expect(5);
}

/// A machine that is away proves nothing, and spares nobody.
#[test]
fn members_that_come_in_a_change_start_although_the_machine_of_another_is_away() {
    for deleted in [vec![0], vec![1], vec![0, 1]] {
        for is_evicted in [false, true] {
            let mut world = World::on_machines_of_their_own(3);
            let machine = world.node_of(2).unwrap();
            world.kube.set_machine(&mut world.store, &machine, Machine::Down);
            world.change_template();
            world.pass(60);
            if is_evicted {
                world.delete(kinds::POD, &pod(2));
            }
            for ordinal in &deleted {
                world.delete(kinds::POD, &pod(*ordinal));
            }
            world.servers_run_soon(2);
            world.kube.set_machine(&mut world.store, &machine, Machine::Up);
            world.settle();
            world.expect(3);
        }
    }
}

/// The one that proves it could not serve without the other.
#[test]
fn two_members_that_come_in_a_change_start_together_where_the_others_are_no_majority() {
    let mut world = World::on_machines_of_their_own(5);
    let machines = [3, 4].map(|ordinal| world.node_of(ordinal).unwrap());
    for machine in &machines {
        world.kube.set_machine(&mut world.store, machine, Machine::Down);
    }
    world.change_template();
    world.pass(60);
    world.delete(kinds::POD, &pod(0));
    world.delete(kinds::POD, &pod(1));
    world.servers_run_soon(3);
    for machine in &machines {
        world.kube.set_machine(&mut world.store, machine, Machine::Up);
    }
    world.settle();
    world.expect(5);
}

/// What the first does not serve in reaches no other one while the rest is a majority.
#[test]
fn of_two_members_that_come_in_a_change_the_second_waits_while_the_others_serve() {
    let mut world = World::settled(5);
    world.unlucky.insert(pod(1));
    world.change_template();
    world.until(|w| w.member(1)["status"]["server"]["state"] == "Failed");
    world.delete(kinds::POD, &pod(2));
    world.pass(60);
    let reason = world.member(2)["status"]["server"]["reason"].clone();
    assert_eq!(reason, json!("WaitingForRevision"), "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(5);
}
