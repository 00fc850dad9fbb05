//! Writes that were ready when their leader was frozen, and are sent when
//! somebody else has led for long and things are otherwise: they are refused.

use crate::every::{a_ring, before_each_write, some};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use serde_json::{Value, json};

const NEW: &str = "demo-dc1-a-2";

fn racks(a: i32, b: i32) -> Value {
    a_cluster(&[("a", a), ("b", b)])
}

/// The leader is frozen with its next write in its hands, and another one leads
/// when `meanwhile` happens.
fn sent_late(world: &mut World, meanwhile: impl Fn(&mut World)) {
    world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
    world.until(|w| w.faults.is_over());
    world.tell("the leader is frozen with a write in its hands");
    world.start_operator();
    meanwhile(world);
    world.destructive.clear();
    world.wake_and_end_the_old_leader();
    world.settle();
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
}

#[test]
fn a_number_of_replicas_that_comes_late_ends_no_member() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 2, 0) {
        sent_late(&mut world, |world| {
            world.settle();
            world.set_racks(&racks(4, 1));
            world.settle();
        });
        world.expect_ring(5);
    }
}

#[test]
fn the_end_of_a_member_that_never_joined_comes_late_when_it_has_joined() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(3, 1));
    world.until(|w| w.exists(kinds::MEMBER, NEW));
    world.set_racks(&racks(2, 1));
    let (worlds, _) = before_each_write(world);
    for mut world in worlds {
        sent_late(&mut world, |world| {
            world.set_racks(&racks(3, 1));
            world.settle();
        });
        world.expect_ring(4);
    }
}

#[test]
fn the_deletion_of_a_claim_comes_late_when_it_is_to_be_kept() {
    let mut world = a_ring(3, 1);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    world.set_racks(&racks(2, 1));
    let (worlds, _) = before_each_write(world);
    for mut world in worlds.into_iter().rev().take(12) {
        let claim = format!("data-{NEW}");
        sent_late(&mut world, |world| {
            world.patch_spec(&json!({ "deletionPolicy": "Retain" }));
            world.settle();
            world.set_racks(&racks(3, 1));
            world.settle();
        });
        world.expect_ring(4);
        assert!(world.exists(kinds::CLAIM, &claim), "{}", world.last_words());
    }
}

#[test]
fn an_identity_that_is_recorded_late_is_not_that_of_the_replaced() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(3, 1));
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 3, 1) {
        sent_late(&mut world, |world| {
            world.settle();
            world.delete(kinds::POD, NEW);
            world.wipe_volume(NEW);
            world.settle();
        });
        world.expect_ring(4);
    }
}
