//! Orders that fail each time, or leave queues as they are: another member tries, it is reported,
//! and others go on meanwhile.

use super::acts::{node, pod};
use super::volume::Kind;
use super::world::World;
use serde_json::json;

#[test]
fn what_one_member_cannot_do_another_one_is_ordered_to_do() {
    let mut world = World::settled(5);
    world.failing.insert(pod(0));
    let before = world.member(1)["spec"]["volumeID"].clone();
    world.wipe(1);
    world.pass(300);
    assert_ne!(world.member(1)["spec"]["volumeID"], before, "{}", world.last_words());
    world.failing.clear();
    world.settle();
    world.expect(5);
}

/// A majority of the replicas of a queue is online, and it refuses to let a lost one go.
fn with_a_stubborn_queue() -> World {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[0, 1, 2, 3, 4]);
    world.pass(5);
    world.stubborn.insert("payments".to_string());
    world
}

#[test]
fn a_replacement_whose_replicas_cannot_be_deleted_is_reported_and_holds_up_no_restart() {
    let mut world = with_a_stubborn_queue();
    world.wipe(1);
    world.pass(300);
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-1 is not replaced"), "{said}");
    assert!(said.contains("1 queue (payments)") && said.contains("delete_member"), "{said}");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!(world.restarted(&[0, 2, 3, 4]), "{}", world.last_words());
    assert_eq!(world.rabbit.running().len(), 4, "{}", world.last_words());
    assert!(world.replicas("payments").contains(&1), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-1 is not replaced"), "{said}");
    world.stubborn.clear();
    world.settle();
    world.expect(5);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

#[test]
fn a_replacement_whose_replicas_cannot_be_deleted_holds_up_no_other_replacement() {
    let mut world = World::on_machines_of_their_own(5);
    world.declare_on("payments", Kind::Quorum, &[0, 1, 2]);
    world.pass(5);
    world.stubborn.insert("payments".to_string());
    world.wipe(1);
    world.until(|w| w.status()["turn"]["step"] == "Replace");
    let before = world.member(4)["spec"]["volumeID"].clone();
    world.wipe(4);
    world.pass(900);
    assert_ne!(world.member(4)["spec"]["volumeID"], before, "{}", world.last_words());
    assert!(world.runs(4), "{}", world.last_words());
    world.stubborn.clear();
    world.settle();
    world.expect(5);
}

#[test]
fn a_leaver_that_nobody_can_forget_starts_again_and_makes_room() {
    let mut world = World::settled(5);
    world.failing.extend((0..4).map(pod));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(420);
    assert!(world.runs(4), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-4 does not leave"), "{said}");
    assert!(said.contains("503"), "{said}");
    assert_eq!(world.member(4)["spec"]["intent"], json!(null), "{}", world.last_words());
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    world.failing.clear();
    world.settle();
    world.expect(3);
}

#[test]
fn a_leaver_whose_application_does_not_stop_is_reported_and_makes_room() {
    let mut world = World::settled(5);
    world.unstoppable.insert(pod(4));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-4 does not leave"), "{said}");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    world.unstoppable.clear();
    world.settle();
    world.expect(3);
}

#[test]
fn a_joiner_that_cannot_take_its_replicas_is_reported_and_makes_room() {
    let mut world = World::on_machines_of_their_own(3);
    for node in 4..=5 {
        world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
    }
    world.failing.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.runs(3));
    world.pass(300);
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-3"), "{said}");
    assert!(said.contains("could not take replicas of queues") && said.contains("503"), "{said}");
    let before = world.member(1)["spec"]["volumeID"].clone();
    world.wipe(1);
    world.pass(900);
    assert_ne!(world.member(1)["spec"]["volumeID"], before, "{}", world.last_words());
    assert!(world.runs(1), "{}", world.last_words());
    world.failing.clear();
    world.settle();
    world.expect(5);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

/// What fails is tried every ten minutes, and not each second.
#[test]
fn what_fails_for_hours_is_tried_seldom() {
    let mut world = World::settled(5);
    world.stubborn.insert("orders".to_string());
    world.wipe(1);
    world.pass(300);
    world.writes.clear();
    world.pass(3_600);
    let begun = world.writes.iter().filter(|w| w.starts_with("begin the replacement")).count();
    assert!((4..8).contains(&begun), "{begun}: {}", world.last_words());
    assert!(world.writes.len() < 200, "{}: {}", world.writes.len(), world.last_words());
    world.stubborn.clear();
    world.settle();
    world.expect(5);
}

/// What is to leave and is lost is taken out before others leave.
#[test]
fn a_lost_leaver_whose_replicas_cannot_be_deleted_holds_up_no_restart() {
    let mut world = with_a_stubborn_queue();
    world.wipe(4);
    world.until(|w| w.status()["turn"]["step"] == "Replace");
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.contains("member demo-rmq-4 does not leave"), "{said}");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    assert!(world.runs(3), "fewer would be left: {}", world.last_words());
    assert!(world.replicas("payments").contains(&4), "{}", world.last_words());
    world.stubborn.clear();
    world.settle();
    assert!(world.rabbit.by_name(&node(4)).is_none(), "{}", world.last_words());
}
