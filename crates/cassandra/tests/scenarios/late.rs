//! Writes that were ready when their leader was frozen, and are sent when
//! somebody else has led for long and things are otherwise: they are refused.

use crate::addresses::member;
use crate::every::{a_ring, before_each_write, some};
use crate::holes::three_copies;
use crate::maintenance::{AWAY, TOO_LONG, allow};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use crate::sim::world::{Tick, cluster_key};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
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

/// The leader is frozen at the next write that does this, and another one leads.
fn frozen_at(world: &mut World, doing: &str, fault: Fault) {
    let mut ahead = world.clone();
    let write = loop {
        let (sent, told) = (ahead.faults.writes(), ahead.writes.len());
        let tick = ahead.tick().unwrap_or_else(|why| panic!("{why}\n{}", ahead.last_words()));
        if ahead.writes[told..].iter().any(|write| write.contains(doing)) {
            break sent;
        }
        assert_eq!(tick, Tick::GoesOn, "it is never written: {doing}\n{}", ahead.last_words());
    };
    world.faults.plan(write, fault);
    world.until(|w| w.faults.is_over());
    world.tell("the leader is frozen");
    world.start_operator();
}

/// It failed once, and was called again by the next leader.
#[test]
fn the_intent_of_a_leave_that_goes_on_is_not_withdrawn_by_a_former_leader() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.ring.failing.insert(NEW.into());
    frozen_at(&mut world, "withdraw the decommission intent", Fault::FreezeInFlight);
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    let intent = member(&world, NEW)["spec"]["intent"].clone();
    assert!(intent.is_object(), "{}", world.last_words());
    world.wake_and_end_the_old_leader();
    assert_eq!(member(&world, NEW)["spec"]["intent"], intent, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
}

/// Whoever begins it reads live whether somebody has the turn by then.
#[test]
fn pending_maintenance_is_not_begun_by_a_former_leader_beside_a_turn() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(3, 1));
    frozen_at(&mut world, "start the pending cleanup", Fault::Freeze);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let turn = |w: &World| w.store.get(&cluster_key()).map(|c| c["status"]["turn"]["step"].clone());
    world.until(|w| turn(w) == Some(json!("Restart")));
    world.wake_and_end_the_old_leader();
    let ordered = |w: &World| {
        let id = |(_, m): (_, &std::sync::Arc<Value>)| m["spec"]["operation"]["id"].to_string();
        w.store.list(kinds::MEMBER).map(id).find(|id| id.contains("pay-cleanup"))
    };
    assert_eq!(ordered(&world), None, "{}", world.last_words());
    world.settle();
    world.expect_ring(4);
}

/// The whole ring was down for longer than tombstones are kept, and the permission for it has
/// run out for a member that has not started since: its user has let it in by then.
#[test]
fn what_a_user_has_allowed_is_not_taken_for_what_a_former_leader_would_have_allowed() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    let doing = format!("allow member {AWAY} to start");
    frozen_at(&mut world, &doing, Fault::FreezeInFlight);
    world.set_machine("n3", Machine::Down);
    world.pass(TOO_LONG);
    world.set_machine("n3", Machine::Up);
    world.settle();
    assert_eq!(world.normal(), 2, "it waits for a user: {}", world.last_words());
    allow(&mut world, AWAY);
    world.wake_and_end_the_old_leader();
    world.settle();
    world.expect_ring(3);
}
