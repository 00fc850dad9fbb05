//! Rings that stand as a whole for longer than tombstones are kept: nobody has
//! deleted anything meanwhile, so nobody lacks anything, however often they stand. Hints of
//! the last seconds are lost, so that each member is repaired in its primary ranges.

use crate::holes::three_copies;
use crate::maintenance::{AWAY, TOO_LONG, is_allowed};
use crate::nodes::spread;
use crate::sim::World;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
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

/// Members with a pending repair of all their ranges.
fn lacking(world: &World) -> Vec<&str> {
    let lacks = |member: &&&str| {
        let spec = &world.store.get(&crate::maintenance::member_key(member)).unwrap()["spec"];
        let pending = spec["pendingMaintenance"].as_array();
        pending.is_some_and(|all| all.iter().any(|entry| entry["ranges"] == "All"))
    };
    ALL.iter().filter(lacks).copied().collect()
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
        assert!(lacking(&world).is_empty(), "{}", world.last_words());
    }
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
        assert!(lacking(&world).is_empty(), "{}", world.last_words());
    }
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
    world.until(|w| !lacking(w).is_empty());
    assert_eq!(lacking(&world), [AWAY], "{}", world.last_words());
    world.settle();
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    assert_eq!(all_begun(&world), 3, "the others only in their primary ranges");
    world.expect_ring(3);
}

/// The same, and what it has missed is known from its volume alone.
#[test]
fn who_starts_long_after_the_rest_while_nobody_watches_is_repaired() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.until(|w| is_allowed(w, AWAY));
    world.set_machine("n3", Machine::Down);
    world.until(|w| w.normal() == 2);
    world.api_goes_away();
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.api_returns();
    world.writes.clear();
    world.until(|w| !lacking(w).is_empty());
    assert_eq!(lacking(&world), [AWAY], "{}", world.last_words());
    world.settle();
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    assert_eq!(all_begun(&world), 3, "the others only in their primary ranges");
    world.expect_ring(3);
}

/// The same, and no operator runs until it is back: nothing but its own report says how late
/// it came.
#[test]
fn who_starts_long_after_the_rest_and_was_never_seen_down_is_repaired() {
    let mut world = three_copies();
    stood(&mut world, TOO_LONG);
    world.until(|w| ALL.iter().all(|member| is_allowed(w, member)) && w.runs(AWAY));
    world.set_machine("n3", Machine::Down);
    world.faults.plan(world.faults.writes(), Fault::Freeze);
    world.until(|w| w.faults.is_over());
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.until(|w| w.normal() == 3);
    world.pass(60);
    world.start_operator();
    world.wake_and_end_the_old_leader();
    world.until(|w| !lacking(w).is_empty());
    assert_eq!(lacking(&world), [AWAY], "{}", world.last_words());
    let noted = format!("record that member {AWAY} has been down");
    assert!(!world.story.iter().any(|line| line.contains(&noted)), "{}", world.last_words());
    world.settle();
    assert!(lacking(&world).is_empty(), "{}", world.last_words());
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
    assert_eq!(all_begun(&world), 3, "each in its primary ranges");
    world.expect_ring(3);
}

/// A ring that is stopped while a member is cut off from it, and stands for longer than
/// tombstones are kept. Its own agent saw no absence, since its server ran all the time.
fn stood_while_one_was_cut_off(change: fn(&mut World)) -> World {
    let mut world = three_copies();
    world.cut_off(AWAY);
    world.pass(5 * 3600);
    change(&mut world);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.reconnect();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    world
}

/// The others start, and `Degraded` names the one that a person decides about.
fn expect_all_but_one(world: &World) {
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(!is_allowed(world, AWAY), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
}

#[test]
fn who_was_cut_off_before_the_ring_was_stopped_waits_for_a_person_and_is_repaired() {
    let mut world = stood_while_one_was_cut_off(|w| {
        assert_eq!(w.write(20), 20, "two of three take writes at QUORUM");
    });
    expect_all_but_one(&world);
    crate::maintenance::allow(&mut world, AWAY);
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(begun(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn who_was_cut_off_before_the_ring_was_stopped_does_not_bring_deleted_rows_back() {
    let world = stood_while_one_was_cut_off(|w| {
        assert_eq!(w.delete_rows(0..20_u32), 20, "two of three take deletions at QUORUM");
    });
    expect_all_but_one(&world);
}

/// It is back and would be repaired, had the ring not been stopped before.
#[test]
fn whose_repair_is_pending_when_the_ring_is_stopped_does_not_bring_deleted_rows_back() {
    let mut world = three_copies();
    world.ring.hanging.insert(AWAY.into());
    world.cut_off(AWAY);
    world.pass(5 * 3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "two of three take deletions at QUORUM");
    world.reconnect();
    world.until(|w| begun(w, AWAY) == 1);
    stood(&mut world, TOO_LONG);
    world.settle();
    expect_all_but_one(&world);
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
    assert_eq!(begun(&world, AWAY), 2, "{}", world.last_words());
    world.expect_ring(3);
}

/// Stopped, and to be started with another configuration, which one member proves.
fn started_with_another_configuration(lose: fn(&mut World, &str)) -> World {
    let mut world = spread(2, 1);
    let node = world.node_of(FIRST);
    world.patch_spec(&json!({ "run": "Stopped", "nodeGoneGraceSeconds": 60 }));
    world.settle();
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    lose(&mut world, &node);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 }, "run": "Running" }));
    world.settle();
    world
}

/// The first member by name: it would prove the new revision for all.
const FIRST: &str = "demo-dc1-a-0";

#[test]
fn a_ring_starts_in_another_revision_although_its_first_member_has_lost_its_volume() {
    let mut world = started_with_another_configuration(|w, _| w.wipe_volume(FIRST));
    world.expect_ring(3);
}

#[test]
fn a_ring_starts_in_another_revision_although_the_node_of_its_first_member_is_gone() {
    let mut world = started_with_another_configuration(|w, node| w.lose_node(node));
    world.expect_ring(3);
}

/// What is left of its data starts nobody: a person replaces it, when the others are up.
#[test]
fn a_ring_starts_in_another_revision_although_the_volume_of_its_first_member_is_damaged() {
    let world = started_with_another_configuration(|w, _| w.empty_partly(FIRST));
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("VolumeDamaged") && degraded.contains(FIRST), "{degraded}");
}

/// Others are let in that have missed nothing.
#[test]
fn a_ring_that_stood_for_long_starts_in_another_revision_although_its_first_member_lacks_data() {
    let mut world = three_copies();
    world.cut_off(FIRST);
    world.pass(5 * 3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "two of three take deletions at QUORUM");
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.reconnect();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 }, "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(FIRST), "{degraded}");
}

/// Nobody could replace a member while none is up: the one that is not there is named, and
/// what people can do.
#[test]
fn who_keeps_a_ring_that_stood_for_long_from_being_let_in_is_named() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.wipe_volume(FIRST);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 0, "it may have run: {}", world.last_words());
    let degraded = world.condition("Degraded");
    let told = degraded.contains(&format!("which {FIRST} did not"));
    assert!(told && degraded.contains("allowStaleStart"), "{degraded}");
    // Its data is gone: nothing comes back with the others.
    for member in ["demo-dc1-b-0", AWAY] {
        crate::maintenance::allow(&mut world, member);
    }
    world.settle();
    world.expect_ring(3);
}

/// No server starts on its data any more, so that nothing comes back with it.
#[test]
fn a_ring_that_stood_for_long_starts_without_a_member_that_a_user_has_terminated() {
    let mut world = three_copies();
    crate::terminated::terminate_now(&mut world, FIRST);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.give_up(FIRST);
    world.label(kinds::MEMBER, FIRST, labels::REPLACE);
    world.settle();
    world.expect_ring(3);
}
