//! Repairs and cleanups that a ring needs: after which events, and what waits
//! for them.

use crate::every::a_ring;
use crate::holes::{three_copies, wrote};
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::{Force, Phase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

/// The member on machine n3.
const AWAY: &str = "demo-dc1-c-0";

/// A ring in which one member was away for so long and has just come back.
fn away_for(mut world: World, seconds: i64) -> World {
    world.set_machine("n3", Machine::Down);
    world.pass(seconds);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.writes.clear();
    world
}

fn lose(world: &mut World, member: &str) {
    world.delete(kinds::POD, member);
    world.wipe_volume(member);
}

/// How many repairs were started on a member.
fn repairs(world: &World, member: &str) -> usize {
    let words = format!("start the pending repair on member {member}");
    world.writes.iter().filter(|w| w.contains(&words)).count()
}

#[test]
fn an_outage_that_hints_cover_needs_no_repair() {
    let mut world = away_for(three_copies(), 2 * 3600);
    world.settle();
    assert!(!wrote(&world, "repair"), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_hint_window_of_the_configuration_counts() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "config": { "max_hint_window": "1h" } }));
    world.settle();
    let mut world = away_for(world, 2 * 3600);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn an_outage_is_remembered_by_the_next_leader() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(4 * 3600);
    world.operators.clear();
    world.start_operator();
    world.pass(60);
    world.set_machine("n3", Machine::Up);
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_that_was_cut_off_for_longer_than_hints_are_kept_is_repaired() {
    let mut world = three_copies();
    world.cut_off(AWAY);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20);
    world.reconnect();
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_that_lacks_data_is_repaired_before_a_lost_one_is_replaced() {
    let mut world = away_for(three_copies(), 5 * 3600);
    world.until(|w| wrote(w, &format!("record that member {AWAY} is back")));
    lose(&mut world, "demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
    assert_eq!(repairs(&world, "demo-dc1-a-0"), 1, "whoever replaces is repaired");
}

#[test]
fn a_repair_that_fails_holds_up_no_replacement() {
    let mut world = away_for(three_copies(), 5 * 3600);
    // What it lacks is not written again: the first try decides.
    world.ring.clients.told.clear();
    world.until(|w| wrote(w, &format!("record that member {AWAY} is back")));
    lose(&mut world, "demo-dc1-a-0");
    world.until(|w| repairs(w, AWAY) > 0);
    world.ring.failing.insert(AWAY.into());
    world.settle();
    world.expect_ring(3);
}

#[test]
fn whoever_replaces_a_lost_member_is_repaired() {
    let mut world = a_ring(2, 1);
    lose(&mut world, LAST);
    world.settle();
    assert_eq!(repairs(&world, LAST), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_cleanup_waits_while_a_member_leaves_by_hand() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    world.ring.hanging.insert("demo-dc1-a-0".into());
    world.nodetool_decommission("demo-dc1-a-0", Force::Yes);
    world.pass(300);
    assert!(wrote(&world, "record the pending maintenance"), "{}", world.last_words());
    assert!(!wrote(&world, "start the pending cleanup"), "{}", world.last_words());
}

#[test]
fn a_join_that_nobody_saw_end_is_followed_by_a_cleanup() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    world.api_goes_away();
    world.until(|w| w.normal() == 4);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.pass(60);
    world.api_returns();
    world.writes.clear();
    world.settle();
    assert!(wrote(&world, "start the pending cleanup"), "{}", world.last_words());
    world.expect_ring(4);
}

#[test]
fn a_ring_that_is_stopped_when_a_member_has_just_joined_is_cleaned_up_afterwards() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.normal() == 4);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    assert!(wrote(&world, "start the pending cleanup"), "{}", world.last_words());
    world.expect_ring(4);
}
