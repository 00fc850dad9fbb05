//! Removals that outlive those who ordered them: a server goes on removing a
//! host ID when the agent that has called it is restarted, and meanwhile the
//! member that is removed comes back.

use crate::every::{before_each_write, some};
use crate::maintenance::member_key;
use crate::nodes::{LAST, spread, spread_with};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::rows::Level;
use crate::tasks::{ask, host_of, key as task_key, replace, volume_of};
use jiff::SignedDuration;
use palladion_api::member::Liveness;
use palladion_plan::Subresource;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const HELPERS: [&str; 2] = ["demo-dc1-a-0", "demo-dc1-b-0"];

/// The Node of a leaver is deleted while its machine is down, with its disk intact.
fn to_be_removed(members: i32) -> (World, String) {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.ring.removals.time = SignedDuration::from_secs(90);
    world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    (world, node)
}

fn agents_restart(world: &mut World) {
    HELPERS.iter().for_each(|helper| world.restart_agent(helper));
}

fn comes_back(world: &mut World, node: &str) {
    world.register_node(node, "z1");
    world.set_machine(node, Machine::Up);
}

fn was_removed(world: &World) -> bool {
    world.story.iter().any(|line| line.contains("is removed"))
}

/// Each datacenter removes a lost member: neither waits until the other one has.
#[test]
fn a_lost_member_is_removed_while_one_of_another_datacenter_is_down() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.elsewhere("west-0", "west", "10.97.0.1");
    world.elsewhere("west-1", "west", "10.97.0.2");
    world.settle();
    world.there("west-0", "goes down", |m| m.liveness = Liveness::Down);
    world.pass(60);
    let host = host_of(&world, LAST);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    world.pass(3600);
    assert!(was_removed(&world) && !world.ring.seats.contains_key(&host), "{}", world.last_words());
    world.there("west-0", "comes back", |m| m.liveness = Liveness::Up);
    world.settle();
    world.expect_ring(2);
}

/// Its agent would not begin, and the turn would wait for it.
#[test]
fn a_member_that_is_closed_to_clients_is_asked_for_no_removal_while_another_one_can() {
    let (mut world, _) = to_be_removed(1);
    world.ring.closed.insert(HELPERS[0].into());
    world.pass(1800);
    assert!(was_removed(&world), "{}", world.last_words());
    world.ring.closed.clear();
    world.settle();
    world.expect_ring(2);
}

#[test]
fn where_all_are_closed_to_clients_the_wait_for_a_removal_says_so() {
    let (mut world, _) = to_be_removed(1);
    world.ring.closed.extend(HELPERS.map(str::to_string));
    world.pass(600);
    assert!(!was_removed(&world), "{}", world.last_words());
    assert!(world.waits().contains("nodetool enablebinary"), "{}", world.waits());
    world.ring.closed.clear();
    world.settle();
    world.expect_ring(2);
}

#[test]
fn a_member_that_comes_back_while_it_is_removed_does_not_start() {
    let (mut world, node) = to_be_removed(1);
    let host = host_of(&world, LAST);
    world.until(|w| w.ring.removals.are_under_way());
    agents_restart(&mut world);
    let (worlds, mut end) = before_each_write(world);
    end.expect_ring(2);
    for mut world in some(worlds, 2, 0) {
        comes_back(&mut world, &node);
        world.settle();
        assert!(was_removed(&world), "{}", world.last_words());
        assert!(!world.ring.seats.contains_key(&host), "{}", world.last_words());
        world.expect_ring(2);
    }
}

#[test]
fn a_removal_goes_on_whenever_the_agents_of_all_others_restart() {
    let (world, node) = to_be_removed(1);
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 2, 0) {
        agents_restart(&mut world);
        world.pass(10);
        if !world.exists(palladion_cassandra::resources::NODE, &node) {
            comes_back(&mut world, &node);
        }
        world.settle();
        world.expect_ring(2);
    }
}

#[test]
fn a_removal_that_no_server_has_begun_is_cancelled_when_its_member_comes_back() {
    let (mut world, node) = to_be_removed(1);
    world.ring.removals.unheard.extend(HELPERS.map(str::to_string));
    let before = world.ring.begun.len();
    world.until(|w| w.ring.begun.len() > before);
    agents_restart(&mut world);
    comes_back(&mut world, &node);
    world.settle();
    assert!(!was_removed(&world), "{}", world.last_words());
    world.expect_ring(2);
}

#[test]
fn a_removal_is_finished_although_the_cluster_forgets_whose_turn_it_is() {
    let (mut world, node) = to_be_removed(1);
    world.until(|w| w.ring.removals.are_under_way());
    agents_restart(&mut world);
    world.erase_status();
    comes_back(&mut world, &node);
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    world.expect_ring(2);
}

#[test]
fn a_removal_ends_although_the_server_that_removes_is_restarted() {
    let (mut world, node) = to_be_removed(1);
    world.until(|w| w.ring.removals.are_under_way());
    for helper in HELPERS {
        world.delete(palladion_cassandra::resources::POD, helper);
    }
    world.pass(20);
    comes_back(&mut world, &node);
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    world.expect_ring(2);
}

/// A user names the volume of a leaver that is down, and takes that back too late:
/// what is removed is removed, also where the cluster has forgotten whose turn it is.
#[test]
fn a_member_that_was_removed_starts_on_no_volume_of_its_old_identity() {
    let mut world = spread(2, 1);
    world.ring.removals.time = SignedDuration::from_secs(90);
    let node = world.node_of(LAST);
    let mut task = replace(LAST);
    task["replace"]["volumeID"] = json!(volume_of(&world, LAST));
    let host = host_of(&world, LAST);
    world.ring.called_lost.insert(host.clone());
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    ask(&mut world, "lost", &task);
    world.until(|w| w.ring.removals.are_under_way());
    let (worlds, _) = before_each_write(world);
    for mut world in worlds {
        world.erase_status();
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        let abort = json!({ "spec": { "abort": true } });
        world.store.merge(&task_key("lost"), &abort, Subresource::None).expect("the task exists");
        world.pass(300);
        world.set_machine(&node, Machine::Up);
        world.settle();
        assert!(!world.ring.seats.contains_key(&host), "{}", world.last_words());
        world.expect_ring(3);
    }
}

/// It was removed while its machine was down, so its own ledger knows nothing of it.
#[test]
fn a_member_that_is_wanted_again_after_its_removal_joins_as_a_new_one() {
    let (mut world, node) = to_be_removed(1);
    let host = host_of(&world, LAST);
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    comes_back(&mut world, &node);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert!(!world.ring.seats.contains_key(&host), "{}", world.last_words());
    world.expect_ring(3);
}

/// A server waits for ever for one that does not tell it that it has streamed.
#[test]
fn a_removal_that_does_not_end_is_reported_and_ends_with_its_server() {
    let (mut world, _) = to_be_removed(1);
    world.ring.removals.time = SignedDuration::from_hours(1000);
    world.until(|w| w.ring.removals.are_under_way());
    let begun = world.now();
    while world.now() < begun + SignedDuration::from_hours(5) {
        world.pass(3600);
    }
    let said = world.condition("Degraded");
    assert!(!said.contains("NoProgress"), "{said}");
    while world.now() < begun + SignedDuration::from_hours(7) {
        world.pass(3600);
    }
    let said = world.condition("Degraded");
    assert!(
        said.starts_with("True NoProgress: the removal of member demo-dc1-a-1"),
        "{said} {}",
        world.last_words()
    );
    // What the message says.
    world.ring.removals.time = SignedDuration::from_secs(90);
    for helper in HELPERS {
        world.delete(palladion_cassandra::resources::POD, helper);
    }
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    world.expect_ring(2);
    assert!(!world.condition("Degraded").contains("NoProgress"));
}

/// Its time counts from when it was recorded first, whoever was asked since, and
/// whether or not the cluster still knows whose turn it is.
#[test]
fn a_removal_that_is_taken_up_again_and_again_is_reported_as_well() {
    let (mut world, _) = to_be_removed(1);
    world.ring.removals.time = SignedDuration::from_hours(1000);
    world.until(|w| w.ring.removals.are_under_way());
    let begun = world.now();
    for hours in [2, 4, 7] {
        agents_restart(&mut world);
        while world.now() < begun + SignedDuration::from_hours(hours) {
            world.pass(3600);
        }
    }
    let is_reported = |world: &World| world.condition("Degraded").contains("NoProgress");
    assert!(is_reported(&world), "{}", world.last_words());
    world.erase_status();
    world.pass(60);
    assert!(is_reported(&world), "{}", world.last_words());
}

/// The server that removes is restarted, and another member loses its disk: that
/// one cannot be replaced while the ring sees a member leaving, and what only
/// these two have would be lost if the removal went on by itself.
#[test]
fn a_removal_that_was_cut_off_waits_for_a_person_where_another_disk_is_lost() {
    let mut world = World::new();
    world.ring.copies = 3;
    let mut world = spread_with(world, 3, 2);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.ring.removals.time = SignedDuration::from_secs(90);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    let node = world.node_of("demo-dc1-a-2");
    world.lose_node(&node);
    world.until(|w| w.ring.removals.are_under_way());
    for helper in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0", "demo-dc1-b-1"] {
        world.delete(palladion_cassandra::resources::POD, helper);
    }
    world.wipe_volume("demo-dc1-b-1");
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeLost: member demo-dc1-b-1 has lost"), "{said}");
    assert!(said.contains(". Also: Node n5"), "{said}");
    world.writes.clear();
    world.pass(600);
    // A question to three members, at most twice a minute.
    assert!(world.writes.len() <= 10 * 2 * 8, "{} {}", world.writes.len(), world.last_words());
    assert!(!was_removed(&world), "{}", world.last_words());
    // What the message says.
    let kind = palladion_cassandra::resources::MEMBER;
    world.label(kind, "demo-dc1-b-1", palladion_api::labels::REPLACE);
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    world.expect_ring(4);
}

/// A server looks once whether the ring changes: what is streamed to it while it cleans up, it
/// may drop.
#[test]
fn nobody_is_removed_while_another_member_cleans_up() {
    let mut world = spread(3, 1);
    assert_eq!(world.write_at(40, Level::All, ""), 40, "{}", world.last_words());
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    let pending = json!([{ "kind": "Cleanup", "reason": "a join" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    for helper in HELPERS {
        world.store.merge(&member_key(helper), &spec, Subresource::None).expect("it exists");
    }
    world.ring.hanging.extend(HELPERS.map(str::to_string));
    let begun = world.ring.begun.len();
    world.until(|w| w.ring.begun.len() > begun);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let node = world.node_of("demo-dc1-a-2");
    world.lose_node(&node);
    world.pass(600);
    assert!(!was_removed(&world), "{}", world.last_words());
    let waits = world.waits();
    assert!(waits.contains("cleanup"), "{waits}");
    world.ring.hanging.clear();
    world.settle();
    assert!(was_removed(&world), "{}", world.last_words());
    world.expect_ring(3);
}
