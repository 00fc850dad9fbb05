//! Who says that a member is dead: not one of two alone, not whoever answered an
//! earlier leader, and never against the word of the member itself.

use crate::every::before_each_write;
use crate::holes::wrote;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;

/// Its machine may have lost nothing but its network.
#[test]
fn a_machine_that_is_away_from_all_is_no_lost_volume_in_a_ring_of_two() {
    let mut world = spread(1, 1);
    let node = world.node_of("demo-dc1-a-0");
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    world.label(kinds::MEMBER, "demo-dc1-a-0", labels::REPLACE);
    world.settle();
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
    let told = world.condition("Degraded");
    assert!(told.starts_with("True") && told.contains("spec.replace.volumeID"), "{told}");
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(2);
}

/// It was down when it was labelled; now it serves, and nobody else hears of it.
#[test]
fn a_member_that_comes_back_cut_off_before_its_turn_is_not_replaced() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    world.label(kinds::MEMBER, LAST, labels::REPLACE);
    world.until(|w| wrote(w, "mark the volume"));
    world.faults.plan(world.faults.writes(), Fault::Freeze);
    world.until(|w| w.faults.is_over());
    world.cut_off(LAST);
    world.set_machine(&node, Machine::Up);
    world.pass(60);
    world.start_operator();
    world.pass(60);
    world.wake_and_end_the_old_leader();
    world.settle();
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
    world.reconnect();
    world.settle();
    world.expect_ring(3);
}

/// The others have said that it is down; then their leader dies.
#[test]
fn answers_to_an_earlier_leader_do_not_count() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    world.label(kinds::MEMBER, LAST, labels::REPLACE);
    let (worlds, _) = before_each_write(world);
    let deletes = |w: &World| {
        let mut next = w.clone();
        next.tick().expect("it should go on");
        next.writes[w.writes.len()..]
            .iter()
            .any(|write| write.contains("delete PersistentVolumeClaim"))
    };
    let mut world = worlds.into_iter().find(deletes).expect("its claim should be deleted");
    world.operators.clear();
    world.start_operator();
    world.writes.clear();
    world.until(|w| w.writes.iter().any(|write| write.contains("delete PersistentVolumeClaim")));
    let asked = world.writes.iter().filter(|w| w.contains("for its view of the ring")).count();
    assert_eq!(asked, 2, "{}", world.writes.join("\n"));
}

/// Nothing keeps it from bringing deleted rows back: its server runs all the time.
#[test]
fn who_is_cut_off_for_longer_than_tombstones_are_kept_is_told() {
    let mut world = crate::holes::three_copies();
    world.cut_off(crate::maintenance::AWAY);
    world.pass(9 * 24 * 3600);
    world.pass(60);
    assert!(!world.condition("Degraded").contains("ReturnsTooLate"), "{}", world.last_words());
    world.pass(2 * 24 * 3600);
    world.pass(60);
    let told = world.condition("Degraded");
    let is_told = told.contains("has been cut off from the ring since");
    assert!(is_told, "{told}\n{}", world.last_words());
    assert!(told.contains(crate::maintenance::AWAY), "{told}");
    world.reconnect();
    world.settle();
    world.expect_ring(3);
}
