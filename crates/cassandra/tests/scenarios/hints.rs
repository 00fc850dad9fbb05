//! Hints that die with the member that keeps them: whom they were for lacks rows that
//! were acknowledged, and nobody may stream from it before it is repaired.

use crate::holes::three_copies;
use crate::maintenance::{AWAY, lose};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::rows::Level;
use crate::tasks::host_of;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

/// The member that coordinates, and has the hints, on machine n1.
const COORDINATOR: &str = "demo-dc1-a-0";
const HOUR: i64 = 3600;

/// Before a lost member is replaced, without it, and again with the member that has replaced it:
/// the lost one might have come back.
const WITHOUT_AND_WITH: usize = 2;

/// Repairs that were begun of all ranges of a member.
fn repairs(world: &World, member: &str) -> usize {
    world.begun_by(member).iter().filter(|id| id.starts_with("pay-repair")).count()
}

fn writes_through_the_coordinator(world: &mut World) {
    assert_eq!(world.write_at(20, Level::Quorum, COORDINATOR), 20, "{}", world.last_words());
}

/// A ring in which one member was away for an hour, and another one has hints for it.
fn away_for_an_hour() -> World {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(HOUR);
    writes_through_the_coordinator(&mut world);
    world
}

#[test]
fn who_was_away_is_repaired_before_a_coordinator_is_replaced_that_was_lost_meanwhile() {
    let mut world = away_for_an_hour();
    lose(&mut world, COORDINATOR);
    world.pass(60);
    world.set_machine("n3", Machine::Up);
    world.settle();
    assert_eq!(repairs(&world, AWAY), WITHOUT_AND_WITH, "{}", world.last_words());
    world.expect_ring(3);
}

/// Nobody knows at first that the disk is gone: the member is back, and counts as well.
#[test]
fn who_was_back_before_a_coordinator_was_given_up_is_repaired_before_that_is_replaced() {
    let mut world = away_for_an_hour();
    world.set_machine("n1", Machine::Down);
    world.pass(60);
    world.set_machine("n3", Machine::Up);
    world.pass(HOUR);
    world.wipe_volume(COORDINATOR);
    world.set_machine("n1", Machine::Up);
    world.settle();
    assert_eq!(repairs(&world, AWAY), WITHOUT_AND_WITH, "{}", world.last_words());
    world.expect_ring(3);
}

/// A restart is over before anybody notes it.
#[test]
fn who_was_restarted_is_repaired_before_a_coordinator_is_replaced_that_was_lost_meanwhile() {
    let mut world = three_copies();
    world.delete(kinds::POD, AWAY);
    world.until(|w| w.normal() == 2);
    writes_through_the_coordinator(&mut world);
    lose(&mut world, COORDINATOR);
    world.settle();
    assert_eq!(repairs(&world, AWAY), WITHOUT_AND_WITH, "{}", world.last_words());
    world.expect_ring(3);
}

/// It is not the one that had the hints which is replaced first, and by then nobody would wait
/// for hints any more that are lost.
#[test]
fn who_was_restarted_is_repaired_before_any_of_two_lost_members_is_replaced() {
    let mut world = World::new();
    world.ring.copies = 3;
    let mut world = world.with(&a_cluster(&[("a", 2), ("b", 1), ("c", 1)]));
    world.settle();
    world.delete(kinds::POD, AWAY);
    world.until(|w| w.normal() == 3);
    assert_eq!(world.write_at(40, Level::Quorum, "demo-dc1-a-1"), 40, "{}", world.last_words());
    world.until(|w| w.normal() == 4);
    // While one is down nobody is replaced.
    let node = world.node_of("demo-dc1-b-0");
    world.set_machine(&node, Machine::Down);
    for member in ["demo-dc1-a-1", COORDINATOR] {
        let host = host_of(&world, member);
        world.ring.called_lost.insert(host);
        lose(&mut world, member);
        // The others see it down by then.
        world.pass(120);
        world.label(kinds::MEMBER, member, labels::REPLACE);
        world.pass(20 * 60);
    }
    world.set_machine(&node, Machine::Up);
    world.settle();
    let first = |words: &str| world.writes.iter().position(|write| write.contains(words));
    let repaired = first(&format!("start the pending repair on member {AWAY}"));
    let replaced = first("begin the replacement of member");
    assert!(repaired.is_some() && repaired < replaced, "{}", world.last_words());
    world.expect_ring(4);
}

/// A removal streams, too.
#[test]
fn who_was_away_is_repaired_before_a_coordinator_is_removed_that_was_lost_meanwhile() {
    let mut world = three_copies();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1), ("c", 1)]));
    world.settle();
    world.set_machine("n3", Machine::Down);
    world.pass(HOUR);
    assert_eq!(world.write_at(40, Level::Quorum, "demo-dc1-a-1"), 40, "{}", world.last_words());
    lose(&mut world, "demo-dc1-a-1");
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1), ("c", 1)]));
    world.pass(60);
    world.set_machine("n3", Machine::Up);
    world.settle();
    world.expect_ring(3);
}

/// The hints have arrived long since, and a repair takes hours.
#[test]
fn who_was_away_a_day_ago_holds_up_no_replacement() {
    let mut world = away_for_an_hour();
    world.set_machine("n3", Machine::Up);
    world.settle();
    world.pass(24 * HOUR);
    lose(&mut world, COORDINATOR);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 0, "{}", world.last_words());
    world.expect_ring(3);
}

/// Nobody took writes while all were stopped: there are no hints.
#[test]
fn a_ring_that_was_stopped_for_an_hour_holds_up_no_replacement() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(HOUR);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    world.pass(HOUR);
    lose(&mut world, COORDINATOR);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 0, "{}", world.last_words());
    world.expect_ring(3);
}

/// Somebody puts a copy of the disk in its place that is two hours old: nobody has hints for
/// what it took since.
fn rolled_back(down: i64) -> World {
    let mut world = three_copies();
    world.pass(60);
    let copy = world.disk_of(AWAY).content.clone();
    world.pass(2 * HOUR);
    assert_eq!(world.write(20), 20, "{}", world.last_words());
    world.set_machine("n3", Machine::Down);
    world.pass(down);
    world.tell("the disk of c-0 is put back to what it was two hours ago");
    world.disk_of(AWAY).content = copy;
    world.set_machine("n3", Machine::Up);
    world
}

#[test]
fn a_volume_that_was_put_back_for_less_than_the_hint_window_is_repaired() {
    let mut world = rolled_back(20 * 60);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    lose(&mut world, COORDINATOR);
    world.settle();
    world.expect_ring(3);
}

/// Quickly, so that nobody has noted that it was down.
#[test]
fn a_volume_that_was_put_back_within_minutes_is_repaired() {
    let mut world = three_copies();
    world.pass(60);
    let copy = world.disk_of(AWAY).content.clone();
    world.pass(2 * HOUR);
    assert_eq!(world.write(20), 20, "{}", world.last_words());
    world.want(AWAY, &json!({ "run": "Stopped" }));
    world.settle();
    world.disk_of(AWAY).content = copy;
    world.delete(kinds::POD, AWAY);
    world.want(AWAY, &json!({ "run": "Running" }));
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    lose(&mut world, COORDINATOR);
    world.settle();
    world.expect_ring(3);
}
