//! Rings that were down as a whole for longer than tombstones are kept: who is let in without
//! a person, and what people are told where nobody knows who has everything.

use crate::holes::three_copies;
use crate::maintenance::{AWAY, TOO_LONG, allow, is_allowed, member_key};
use crate::sim::World;
use jiff::SignedDuration;
use palladion_plan::Subresource;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

const A: &str = "demo-dc1-a-0";
const B: &str = "demo-dc1-b-0";
/// The machines of all.
const MACHINES: [&str; 3] = ["n1", "n2", "n3"];

fn set(world: &mut World, machine: Machine, nodes: &[&str]) {
    nodes.iter().for_each(|node| world.set_machine(node, machine));
}

/// All machines are down for longer than tombstones are kept, and back.
fn all_stand(world: &mut World) {
    set(world, Machine::Down, &MACHINES);
    world.pass(TOO_LONG);
    set(world, Machine::Up, &MACHINES);
}

/// Pending repairs that a member has begun.
fn repairs(world: &World, member: &str) -> usize {
    world.begun_by(member).iter().filter(|id| id.starts_with("pay-repair")).count()
}

/// One member ends before the rest, which take deletions until they end, too.
fn one_ends_before_the_rest(pass: fn(&mut World)) -> World {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    pass(&mut world);
    assert_eq!(world.delete_rows(0..20_u32), 20, "two of three take deletions at QUORUM");
    all_stand(&mut world);
    world.writes.clear();
    world.settle();
    world
}

/// The hints of its last seconds are dropped, since they are as old as tombstones that are.
#[test]
fn who_ended_seconds_before_the_rest_of_a_ring_that_stood_for_long_is_repaired() {
    let mut world = one_ends_before_the_rest(|w| {
        let before = w.clock();
        w.until(|w| w.normal() == 2 || !w.runs(AWAY));
        assert!(w.clock() - before < 60, "it ended seconds before the rest");
    });
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    for member in [A, B, AWAY] {
        assert_eq!(repairs(&world, member), 1, "{member}: {}", world.last_words());
    }
    world.expect_ring(3);
}

#[test]
fn who_ended_minutes_before_the_rest_of_a_ring_that_stood_for_long_waits_for_a_person() {
    let mut world = one_ends_before_the_rest(|w| w.pass(240));
    assert_eq!(world.normal(), 2, "most of them ended together: {}", world.last_words());
    assert!(!is_allowed(&world, AWAY), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
    world.expect_rest();
}

/// Two of three serve and take deletions, and nobody hears of it: the operator sees only the
/// third, which is cut off from them, and notes that they are down.
fn most_were_noted_as_away() -> World {
    let mut world = three_copies();
    world.cut_off(AWAY);
    world.ring.silent.extend([A, B].map(String::from));
    world.pass(5 * 3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "two of three take deletions at QUORUM");
    for node in MACHINES {
        world.set_machine(node, Machine::Down);
    }
    world.ring.silent.clear();
    world.pass(TOO_LONG);
    world.reconnect();
    set(&mut world, Machine::Up, &MACHINES);
    world.settle();
    world
}

#[test]
fn who_was_cut_off_from_the_rest_is_not_let_in_as_the_one_with_everything() {
    let world = most_were_noted_as_away();
    assert!(!is_allowed(&world, AWAY), "it lacks deletions: {}", world.last_words());
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    for told in ["DataTooOld", A, B, AWAY, "allowStaleStart", "newest first"] {
        assert!(degraded.contains(told), "{told}: {degraded}");
    }
}

/// What the next start asks of a person, as it is told.
fn next_start(world: &World) -> String {
    let degraded = world.condition("Degraded");
    let told = degraded.split("`spec.allowStaleStart` of CassandraMember ").nth(1);
    told.unwrap_or_else(|| panic!("nobody is named: {degraded}")).chars().take(12).collect()
}

#[test]
fn people_let_members_in_one_after_the_other_and_are_told_whom_next() {
    let mut world = most_were_noted_as_away();
    world.ring.clients.told.clear();
    allow(&mut world, AWAY);
    world.until(|w| w.normal() == 1);
    world.pass(60);
    let next = next_start(&world);
    assert!([A, B].contains(&next.as_str()), "{next}");
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("do not terminate"), "{degraded}");
    allow(&mut world, &next);
    world.until(|w| w.normal() == 2);
    world.pass(60);
    assert!(!world.condition("Degraded").contains("do not terminate"));
    let last = if next == A { B } else { A };
    allow(&mut world, last);
    world.settle();
    world.expect_ring(3);
}

/// What it took may be on no other member.
#[test]
fn who_is_too_old_is_not_terminated_before_as_many_are_up_as_copies_are_kept() {
    let mut world = most_were_noted_as_away();
    world.ring.clients.told.clear();
    allow(&mut world, AWAY);
    world.until(|w| w.normal() == 1);
    crate::terminated::terminate(&mut world, A, "Now");
    world.pass(600);
    let spec = &world.store.get(&member_key(A)).unwrap()["spec"];
    assert!(spec["terminated"].is_null(), "{}", world.last_words());
    assert!(world.unmet().join("\n").contains("DataTooOld"), "{:?}", world.unmet());
    let waits = world.waits();
    assert!(waits.contains("cannot be terminated yet") && waits.contains(B), "{waits}");
    // The way out that it names.
    allow(&mut world, B);
    world.until(|w| !w.store.get(&member_key(A)).unwrap()["spec"]["terminated"].is_null());
    assert_eq!(world.normal(), 2, "{}", world.last_words());
}

/// Each lacks what it missed while it was cut off, but for one, as it seems.
#[test]
fn one_of_three_that_seems_to_lack_nothing_is_not_let_in_alone() {
    let mut world = three_copies();
    world.ring.hanging.extend([A, B, AWAY].map(String::from));
    for member in [A, B] {
        world.cut_off(member);
        world.pass(5 * 3600);
        world.reconnect();
        world.until(|w| w.normal() == 3 && pending(w, member));
    }
    all_stand(&mut world);
    world.settle();
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains("newest first"), "{degraded}");
}

fn pending(world: &World, member: &str) -> bool {
    !world.store.get(&member_key(member)).unwrap()["spec"]["pendingMaintenance"].is_null()
}

/// All were up and saw each other when the operator stopped them: no clock counts.
#[test]
fn a_ring_that_was_stopped_starts_again_although_the_clock_of_a_machine_is_ahead() {
    let mut world = three_copies();
    world.set_clock(AWAY, SignedDuration::from_mins(20));
    world.pass(120);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.expect_ring(3);
}

/// The same without a stop that is on record: nobody knows who has everything.
#[test]
fn a_clock_that_is_ahead_makes_nobody_the_one_with_everything() {
    let mut world = three_copies();
    world.set_clock(AWAY, SignedDuration::from_mins(20));
    world.pass(120);
    all_stand(&mut world);
    world.settle();
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
}

/// The first by name waits for a person, and cannot prove the new revision to the others.
#[test]
fn a_ring_starts_in_another_revision_although_its_first_member_waits_with_old_data() {
    let mut world = three_copies();
    world.set_machine("n1", Machine::Down);
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.set_machine("n1", Machine::Up);
    world.pass(3600);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 }, "run": "Running" }));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(A), "{degraded}");
}

/// The cluster object is deleted, its volumes are kept, and it is made anew.
fn made_anew(world: &mut World) {
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    let mut cluster = crate::sim::manifests::a_cluster(&[("a", 1), ("b", 1), ("c", 1)]);
    cluster["spec"]["run"] = json!("Running");
    world.apply(&cluster);
}

#[test]
fn that_a_member_was_down_is_known_to_a_ring_that_is_made_anew() {
    let mut world = three_copies();
    crate::maintenance::cut_off_while_clients_write(&mut world);
    made_anew(&mut world);
    world.reconnect();
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

/// A repair hangs, and a person takes it off the list: nothing was repaired by that.
fn owes_a_repair() -> World {
    let mut world = crate::maintenance::away_for(three_copies(), 5 * 3600);
    world.ring.clients.told.clear();
    world.ring.hanging.insert(AWAY.into());
    world.until(|w| repairs(w, AWAY) == 1);
    let nothing = json!({ "spec": { "pendingMaintenance": [] } });
    world.store.merge(&member_key(AWAY), &nothing, Subresource::None).unwrap();
    world.settle();
    world.ring.hanging.clear();
    world
}

/// Until when a repair is owed to the member; null where none is.
fn owed(world: &World) -> Value {
    world.store.get(&member_key(AWAY)).unwrap()["spec"]["repairOwedUntil"].clone()
}

#[test]
fn a_repair_that_is_owed_is_owed_in_a_ring_that_is_made_anew() {
    let mut world = owes_a_repair();
    let before = owed(&world);
    assert!(before.is_string(), "{}", world.last_words());
    made_anew(&mut world);
    world.until(|w| w.store.get(&member_key(AWAY)).is_some());
    assert_eq!(owed(&world), before, "{}", world.last_words());
}

/// A schedule covers the ring and has repaired all ranges since the absence.
#[test]
fn a_repair_that_is_owed_is_made_up_for_by_repairs_of_what_is_due() {
    let mut world = owes_a_repair();
    assert!(owed(&world).is_string(), "{}", world.last_words());
    world.pass(2 * 3600);
    crate::cover::cover(&mut world, "always", &json!({}));
    for _ in 0..6 * 24 {
        world.pass(3600);
    }
    assert!(owed(&world).is_null(), "{}\n{}", world.condition("Degraded"), world.last_words());
    world.settle();
    world.expect_ring(3);
}

/// Members elsewhere repair the ranges of which they have the first copy, and nobody here knows when.
#[test]
fn a_repair_that_is_owed_stays_owed_where_others_repair_ranges_of_the_ring() {
    let mut world = owes_a_repair();
    world.elsewhere("west-0", "west", "10.97.0.1");
    let before = owed(&world);
    world.pass(2 * 3600);
    crate::cover::cover(&mut world, "always", &json!({}));
    for _ in 0..6 * 24 {
        world.pass(3600);
    }
    assert!(before.is_string() && owed(&world) == before, "{}", world.last_words());
}

/// Its data is from the others.
#[test]
fn nothing_is_owed_to_a_member_that_starts_anew() {
    let mut world = owes_a_repair();
    crate::maintenance::lose(&mut world, AWAY);
    world.settle();
    world.expect_ring(3);
    assert!(owed(&world).is_null(), "{}", world.last_words());
}
