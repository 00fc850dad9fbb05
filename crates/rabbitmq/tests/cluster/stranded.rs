//! Joiners that the others name, or wait for, and that cannot start before they have the turn:
//! whatever else is to be done waits for their answer.

use super::acts::{node, pod};
use super::model::App;
use super::world::World;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    /// So long it takes at most, and not as many rounds as a history has.
    fn first_serves_soon(&mut self, seconds: i64) {
        self.pass(seconds);
        let runs = self.rabbit.running().iter().any(|p| p.name == node(0) && p.open);
        assert!(runs, "{}", self.last_words());
    }

    fn is_lost(&self, ordinal: i32) -> bool {
        self.member(ordinal)["spec"]["replace"].is_object()
    }
}

/// With the lost one away, the others are a majority only beside it.
#[test]
fn a_joiner_that_the_others_name_goes_on_before_a_lost_member_is_replaced() {
    let mut world = World::growing(3, 3);
    world.unlucky.insert(pod(3));
    world.node_ends(3);
    world.until(|w| w.status()["turn"].is_null());
    world.wipe(2);
    world.until(|w| w.is_lost(2));
    world.unlucky.clear();
    world.delete(kinds::POD, &pod(3));
    world.is_taken_in_soon(3);
    world.settle();
    world.expect(5);
}

/// Also where the replacement has the turn: it was given before anybody said that they name it.
#[test]
fn a_replacement_that_waits_for_a_joiner_gives_way_to_it() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    world.nobody_looks();
    world.until(|w| w.is_being_taken_in(3));
    world.absent.insert(pod(3));
    world.node_ends(3);
    world.delete(kinds::POD, &pod(3));
    world.wipe(2);
    world.until(|w| w.status()["turn"]["step"] == "Replace");
    world.absent.clear();
    world.looked.clear();
    world.is_taken_in_soon(3);
    world.settle();
    world.expect(5);
}

/// One that ran in vain, and one that was taken in: of two nodes the first waits for that one.
fn first_pauses() -> World {
    let mut world = World::settled(1);
    world.stuck.insert(pod(1));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.is_postponed(1));
    world.until(|w| w.is_being_taken_in(2));
    world
}

/// Its next pod says nothing for a while, and the other one gets the turn meanwhile.
#[test]
fn of_two_joiners_the_one_that_ran_in_vain_does_not_keep_the_first_node_waiting() {
    let mut world = first_pauses();
    world.absent.insert(pod(2));
    world.node_ends(2);
    world.delete(kinds::POD, &pod(2));
    world.until(|w| w.status()["turn"]["member"] == json!(pod(1)));
    world.absent.clear();
    world.first_serves_soon(120);
    world.stuck.clear();
    world.settle();
    world.expect(3);
}

/// Nor does one that has failed for good hide another that could start.
#[test]
fn a_joiner_that_has_failed_for_good_hides_no_other_for_which_the_first_node_waits() {
    let mut world = World::settled(1);
    world.stuck.insert(pod(1));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.rabbit.by_name(&node(1)).is_some());
    world.unlucky.insert(pod(1));
    world.node_ends(1);
    world.until(|w| w.is_being_taken_in(2));
    world.stuck.clear();
    world.absent.insert(pod(2));
    world.node_ends(2);
    world.delete(kinds::POD, &pod(2));
    world.pass(30);
    world.absent.clear();
    world.first_serves_soon(120);
    world.unlucky.clear();
    world.delete(kinds::POD, &pod(1));
    world.settle();
    world.expect(3);
}

/// Neither ran in vain, and nobody has named either: the one that started last was permitted when
/// all others had answered that the earlier one is not in the cluster.
#[test]
fn of_two_joiners_that_nobody_has_named_the_one_that_started_last_goes_first() {
    let mut world = World::settled(1);
    world.stuck.insert(pod(1));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.rabbit.by_name(&node(1)).is_some());
    world.absent.insert(pod(1));
    world.node_ends(1);
    world.delete(kinds::POD, &pod(1));
    world.until(|w| w.member(2)["spec"]["start"].is_object());
    world.nobody_looks();
    world.until(|w| w.is_being_taken_in(2));
    world.absent.insert(pod(2));
    world.node_ends(2);
    world.delete(kinds::POD, &pod(2));
    world.until(|w| w.rabbit.by_name(&node(0)).is_some_and(|(_, p)| p.app == App::Paused));
    world.looked.clear();
    world.until(|w| w.status()["turn"].is_null());
    world.absent.clear();
    world.first_serves_soon(120);
    world.stuck.clear();
    world.settle();
    world.expect(3);
}

/// A node that has served again after its restart does not wait for its answer.
#[test]
fn a_restart_ends_although_a_joiner_is_taken_in_and_ends_meanwhile() {
    let mut world = World::settled(3);
    world.stuck.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.is_postponed(3));
    world.until(|w| w.status()["nodes"] == "4/5");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(0)["spec"]["restartToken"] == "x");
    world.taken_in_at_last(3);
    world.is_taken_in_soon(3);
    world.settle();
    world.expect(5);
}

/// Nor does one that has joined, and has yet to take replicas.
#[test]
fn a_join_ends_although_another_joiner_is_taken_in_and_ends_meanwhile() {
    let mut world = World::settled(3);
    world.stuck.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.is_postponed(3));
    world.until(|w| w.is_being_taken_in(4));
    world.taken_in_at_last(3);
    world.is_taken_in_soon(3);
    world.settle();
    world.expect(5);
}

impl World {
    /// What the process of a joiner has begun comes to its end after its permit was withdrawn,
    /// and then the process ends.
    fn taken_in_at_last(&mut self, ordinal: i32) {
        self.tell(&format!("the others take {} in, and its node ends", pod(ordinal)));
        let (name, disk) = (node(ordinal), self.disk(ordinal).content.data.clone());
        let others: Vec<String> = self.rabbit.running().iter().map(|p| p.disk.clone()).collect();
        let known = super::model::data(&self.kube.disks, self.rabbit.running()[0]).clone();
        for other in others {
            let data = self.kube.disks.get_mut(&other).unwrap().content.data.as_mut().unwrap();
            data.cluster.insert(name.clone());
        }
        let mut own = disk.unwrap_or_default();
        (own.cluster, own.queues) = (known.cluster, known.queues);
        own.cluster.insert(name);
        own.is_noted = false;
        self.disk(ordinal).content.data = Some(own);
        self.stuck.clear();
    }
}
