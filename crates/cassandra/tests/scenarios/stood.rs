//! Rings that stand as a whole for longer than tombstones are kept: nobody has
//! deleted anything meanwhile, so nobody lacks anything, however often they stand.

use crate::holes::three_copies;
use crate::maintenance::{AWAY, TOO_LONG, is_allowed};
use crate::sim::World;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const ALL: [&str; 3] = ["demo-dc1-a-0", "demo-dc1-b-0", AWAY];

/// The ring is stopped for so long, and is to run again.
fn stood(world: &mut World, seconds: i64) {
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(seconds);
    world.patch_spec(&json!({ "run": "Running" }));
}

/// Pending repairs that a member has begun.
fn begun(world: &World, member: &str) -> usize {
    world.begun_by(member).iter().filter(|id| id.starts_with("pay-repair")).count()
}

/// Those of all members.
fn all_begun(world: &World) -> usize {
    ALL.iter().map(|member| begun(world, member)).sum()
}

/// No repair comes to an end: what one stop called for would still be pending at the next.
#[test]
fn a_ring_that_stands_several_times_without_a_repair_in_between_starts_again_each_time() {
    let mut world = three_copies();
    world.ring.hanging.extend(ALL.map(String::from));
    world.writes.clear();
    for time in 1..=3 {
        stood(&mut world, TOO_LONG);
        world.pass(1200);
        assert_eq!(world.normal(), 3, "time {time}: {}", world.last_words());
        assert!(!is_allowed(&world, AWAY), "it was used");
    }
    assert_eq!(all_begun(&world), 0, "{}", world.last_words());
    world.ring.hanging.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_ring_whose_machines_are_all_down_several_times_starts_again_each_time() {
    let mut world = three_copies();
    world.ring.hanging.extend(ALL.map(String::from));
    world.writes.clear();
    for time in 1..=2 {
        for machine in ["n1", "n2", "n3"] {
            world.set_machine(machine, Machine::Down);
        }
        world.pass(TOO_LONG);
        world.set_machine("n1", Machine::Up);
        world.set_machine("n2", Machine::Up);
        world.pass(1800);
        assert!(!is_allowed(&world, "demo-dc1-a-0"), "the third may have run");
        world.set_machine("n3", Machine::Up);
        world.pass(1200);
        assert_eq!(world.normal(), 3, "time {time}: {}", world.last_words());
    }
    assert_eq!(all_begun(&world), 0, "{}", world.last_words());
    world.ring.hanging.clear();
    world.settle();
    world.expect_ring(3);
}

/// What the others took while it did not start yet it lacks all the same.
#[test]
fn who_starts_long_after_the_rest_of_a_ring_that_stood_is_repaired() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.until(|w| is_allowed(w, AWAY));
    world.set_machine("n3", Machine::Down);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.writes.clear();
    world.settle();
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    assert_eq!(all_begun(&world), 1, "the others lack nothing");
    world.expect_ring(3);
}

/// The others have forgotten by then what was deleted while it did not start.
#[test]
fn who_does_not_start_for_as_long_as_tombstones_are_kept_waits_for_a_person() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.until(|w| is_allowed(w, AWAY));
    world.set_machine("n3", Machine::Down);
    world.pass(TOO_LONG);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.set_machine("n3", Machine::Up);
    world.settle();
    assert_eq!(world.normal(), 2, "deleted rows would come back: {}", world.last_words());
    assert!(!is_allowed(&world, AWAY), "that the ring was down allows nothing any more");
    crate::maintenance::allow(&mut world, AWAY);
    world.settle();
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

/// The first of the new revision proves it for the others, which say meanwhile how old they are.
#[test]
fn a_ring_that_is_started_in_another_revision_starts() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(all_begun(&world), 0, "nobody lacks anything");
    world.expect_ring(3);
}

/// Its own agent saw no absence, since its server ran all the time.
#[test]
fn who_was_cut_off_before_the_ring_was_stopped_is_repaired() {
    let mut world = three_copies();
    world.cut_off(AWAY);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.reconnect();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

/// Nobody has come up, so that nobody has deleted anything.
#[test]
fn a_ring_that_is_started_and_does_not_come_up_for_long_is_started_again() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.until(|w| ALL.iter().all(|member| is_allowed(w, member)));
    for machine in ["n1", "n2", "n3"] {
        world.set_machine(machine, Machine::Down);
    }
    world.pass(TOO_LONG);
    for machine in ["n1", "n2", "n3"] {
        world.set_machine(machine, Machine::Up);
    }
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.expect_ring(3);
}

/// A person answers for one member, not for the ring.
#[test]
fn whom_a_person_lets_start_is_repaired_also_where_the_ring_stood_before() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.settle();
    let mut world = crate::maintenance::away_for(world, TOO_LONG);
    world.settle();
    crate::maintenance::allow(&mut world, AWAY);
    world.settle();
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}
