//! Members that were away: what their agents know of it, which repairs follow,
//! and what waits for those.

use crate::every::a_ring;
use crate::holes::{three_copies, wrote};
use crate::maintenance::{
    AWAY, away_for, cut_off_while_clients_write, is_repaired_when_it_is_back, lose, member_key,
    repairs,
};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use jiff::SignedDuration;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::Subresource;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

/// What the member's agent says of absences that were not made up for.
fn missed(world: &World, member: &str) -> Value {
    world.store.get(&member_key(member)).unwrap()["status"]["volume"]["missed"].clone()
}

/// Eight days: less than tombstones are kept, twice as long is more.
const LONG: i64 = 8 * 24 * 3600;

#[test]
fn a_member_that_was_up_for_a_minute_between_two_absences_does_not_bring_deleted_rows_back() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    // Nobody keeps hints any more.
    world.pass(4 * 3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "{}", world.last_words());
    world.pass(LONG);
    // The repair of its first absence comes to nothing.
    world.ring.failing.insert(AWAY.into());
    world.set_machine("n3", Machine::Up);
    world.until(|w| w.normal() == 3);
    world.pass(30);
    world.set_machine("n3", Machine::Down);
    world.pass(LONG);
    world.set_machine("n3", Machine::Up);
    world.settle();
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
    // A person replaces it.
    world.give_up(AWAY);
    crate::terminated::terminate_now(&mut world, AWAY);
    world.label(kinds::MEMBER, AWAY, labels::REPLACE);
    world.settle();
    world.expect_ring(3);
    assert!(missed(&world, AWAY).is_null(), "its data is from the others");
}

/// All lose power at once, and one stays away. The two that are back delete rows, serve
/// for longer than tombstones are kept, and are down for hours.
fn one_stays_away_after_all_lost_power() -> World {
    let mut world = three_copies();
    ["n1", "n2", "n3"].iter().for_each(|node| world.set_machine(node, Machine::Down));
    world.pass(3600);
    ["n1", "n2"].iter().for_each(|node| world.set_machine(node, Machine::Up));
    world.until(|w| w.normal() == 2);
    assert_eq!(world.delete_rows(0..20_u32), 20, "{}", world.last_words());
    world.pass(11 * 24 * 3600);
    ["n1", "n2"].iter().for_each(|node| world.set_machine(node, Machine::Down));
    world.pass(4 * 3600);
    world
}

#[test]
fn who_was_away_for_longer_than_the_others_does_not_bring_deleted_rows_back() {
    let mut world = one_stays_away_after_all_lost_power();
    ["n1", "n2", "n3"].iter().for_each(|node| world.set_machine(node, Machine::Up));
    world.settle();
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
    assert_eq!(world.normal(), 2, "{}", world.last_words());
}

#[test]
fn who_was_away_only_briefly_starts_whoever_else_stays_away() {
    let mut world = one_stays_away_after_all_lost_power();
    ["n1", "n2"].iter().for_each(|node| world.set_machine(node, Machine::Up));
    world.pass(600);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
}

#[test]
fn a_repair_between_two_absences_makes_up_for_the_first() {
    let mut world = three_copies();
    for _ in 0..2 {
        world = away_for(world, LONG);
        assert_eq!(world.delete_rows(0..5_u32), 5, "{}", world.last_words());
        world.settle();
        assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
        assert!(missed(&world, AWAY).is_null(), "{}", missed(&world, AWAY));
    }
    world.expect_ring(3);
}

#[test]
fn a_member_whose_absence_nobody_watched_is_repaired() {
    let mut world = three_copies();
    world.api_goes_away();
    world.set_machine("n3", Machine::Down);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.until(|w| w.normal() == 3);
    world.api_returns();
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    assert!(missed(&world, AWAY).is_null(), "{}", missed(&world, AWAY));
    world.expect_ring(3);
}

#[test]
fn a_ring_that_was_stopped_for_days_needs_no_repair() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(2 * 24 * 3600);
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 0, "{}", world.last_words());
    assert!(missed(&world, AWAY).is_null(), "{}", missed(&world, AWAY));
    world.expect_ring(3);
}

#[test]
fn an_absence_counts_where_the_clock_of_the_kubelet_is_ahead() {
    let mut world = three_copies();
    world.kube.kubelets_ahead = SignedDuration::from_hours(6);
    world.delete(kinds::POD, AWAY);
    world.settle();
    cut_off_while_clients_write(&mut world);
    is_repaired_when_it_is_back(&mut world);
}

/// A join that takes hours holds up the stop, and clients write meanwhile.
#[test]
fn an_absence_counts_while_a_ring_that_should_stop_finishes_a_join() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    world.ring.hanging.insert("demo-dc1-b-1".into());
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.pass(60);
    world.cut_off("demo-dc1-a-1");
    world.pass(5 * 3600);
    assert!(world.normal() >= 3, "{}", world.last_words());
    world.reconnect();
    world.pass(60);
    world.ring.hanging.clear();
    world.settle();
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(repairs(&world, "demo-dc1-a-1"), 1, "{}", world.last_words());
}

/// A ring that lost a member while the one that lacks data is being repaired.
fn lost_beside_a_repair_that_hangs() -> World {
    let mut world = away_for(three_copies(), 5 * 3600);
    // What it lacks is not written again: a person decides.
    world.ring.clients.told.clear();
    world.ring.hanging.insert(AWAY.into());
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    lose(&mut world, "demo-dc1-a-0");
    world.pass(120);
    world
}

/// The way out that the message names is one.
fn the_entry_is_removed(mut world: World) {
    let degraded = world.condition("Degraded");
    for part in ["RepairOverdue", AWAY, "demo-dc1-a-0", "pendingMaintenance"] {
        assert!(degraded.contains(part), "{degraded}\n{}", world.last_words());
    }
    let nothing = json!({ "spec": { "pendingMaintenance": [] } });
    world.store.merge(&member_key(AWAY), &nothing, Subresource::None).unwrap();
    world.ring.hanging.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_repair_that_never_ends_and_holds_a_replacement_is_reported() {
    let mut world = lost_beside_a_repair_that_hangs();
    assert!(!world.condition("Degraded").contains("RepairOverdue"), "it has just begun");
    world.pass(2 * 3600);
    world.pass(60);
    the_entry_is_removed(world);
}

#[test]
fn a_repair_that_is_interrupted_each_time_and_holds_a_replacement_is_reported() {
    let mut world = lost_beside_a_repair_that_hangs();
    for _ in 0..70 {
        world.restart_agent(AWAY);
        world.pass(60);
    }
    the_entry_is_removed(world);
}

/// What a person takes off the list makes up for nothing: rows that were deleted would come
/// back with it after the next absence, as if it had never been back.
#[test]
fn a_repair_that_a_person_takes_back_makes_up_for_no_absence() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    // Nobody keeps hints any more.
    world.pass(4 * 3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "{}", world.last_words());
    world.pass(LONG);
    world.ring.hanging.insert(AWAY.into());
    world.set_machine("n3", Machine::Up);
    world.until(|w| repairs(w, AWAY) > 0);
    let nothing = json!({ "spec": { "pendingMaintenance": [] } });
    world.store.merge(&member_key(AWAY), &nothing, Subresource::None).unwrap();
    world.pass(300);
    world.ring.hanging.clear();
    assert!(!missed(&world, AWAY).is_null(), "{}", world.last_words());
    world.set_machine("n3", Machine::Down);
    world.pass(LONG);
    world.set_machine("n3", Machine::Up);
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld") && degraded.contains(AWAY), "{degraded}");
}

/// It is tried again once a minute, and the others have their turn meanwhile.
#[test]
fn maintenance_that_fails_for_ever_holds_up_no_other_member() {
    let mut world = a_ring(2, 1);
    let pending = json!([{ "kind": "Repair", "reason": "an outage" }]);
    for member in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        let spec = json!({ "spec": { "pendingMaintenance": pending } });
        world.store.merge(&member_key(member), &spec, Subresource::None).expect("it exists");
    }
    for _ in 0..400 {
        world.ring.failing.insert("demo-dc1-a-0".into());
        world.tick().expect("nothing breaks");
    }
    for other in ["demo-dc1-a-1", "demo-dc1-b-0"] {
        assert_eq!(repairs(&world, other), 1, "{}", world.last_words());
    }
    assert!(repairs(&world, "demo-dc1-a-0") > 2, "{}", world.last_words());
    world.ring.failing.clear();
    world.settle();
    world.expect_ring(3);
}

/// A member is cut off, and misses writes, while the operator does nothing for the ring.
fn cut_off_meanwhile(held: &Value, free: &Value) -> World {
    let mut world = three_copies();
    world.patch_spec(held);
    world.settle();
    cut_off_while_clients_write(&mut world);
    world.reconnect();
    world.pass(300);
    assert_eq!(repairs(&world, AWAY), 0, "nothing is done yet: {}", world.last_words());
    world.patch_spec(free);
    world
}

/// Its server ran all the time: no agent would report it afterwards.
#[test]
fn an_absence_counts_while_the_ring_is_paused() {
    let mut world = cut_off_meanwhile(&json!({ "paused": true }), &json!({ "paused": false }));
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn an_absence_counts_while_the_spec_is_refused() {
    let (refused, mended) = (json!({ "version": "4.1.9" }), json!({ "version": "5.0.5" }));
    let mut world = cut_off_meanwhile(&refused, &mended);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

/// What the running servers were given counts, not what a refused spec says.
#[test]
fn an_absence_that_hints_cover_needs_no_repair_while_the_spec_is_refused() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "version": "4.1.9", "config": { "max_hint_window": "1m" } }));
    world.settle();
    let mut world = away_for(world, 2 * 3600);
    world.settle();
    world.patch_spec(&json!({ "version": "5.0.5", "config": { "max_hint_window": null } }));
    world.settle();
    assert_eq!(repairs(&world, AWAY), 0, "{}", world.last_words());
    world.expect_ring(3);
}

/// Whoever streams from it would miss what it missed.
#[test]
fn who_was_cut_off_during_a_pause_is_repaired_before_a_lost_member_is_replaced() {
    let mut world = cut_off_meanwhile(&json!({ "paused": true }), &json!({ "paused": false }));
    lose(&mut world, "demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
}

/// Less than a day does not keep it from starting. What others have deleted meanwhile and
/// dropped is back with it, if there was any.
#[test]
fn whoever_was_away_for_longer_than_some_tables_keep_deletions_is_told_of_when_it_is_back() {
    for (hours, is_told) in [(3, false), (6, true)] {
        let mut world = with_short_tables();
        let node = world.node_of(LAST);
        world.set_machine(&node, Machine::Down);
        (0..hours).for_each(|_| world.pass(3600));
        world.set_machine(&node, Machine::Up);
        world.settle();
        assert_eq!(world.events.contains(&Reason::ReturnsTooLate), is_told, "{hours} hours");
        world.expect_ring(3);
    }
    // Nobody has deleted anything while all were down.
    let mut world = with_short_tables();
    world.patch_spec(&json!({ "run": "Stopped" }));
    (0..6).for_each(|_| world.pass(3600));
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert!(!world.events.contains(&Reason::ReturnsTooLate), "{}", world.last_words());
    world.expect_ring(3);
}

/// A ring with tables that keep deletions for four hours.
fn with_short_tables() -> World {
    let mut world = spread(2, 1);
    world.ring.learned_grace = Some(4 * 3600);
    world.pass(120);
    world.settle();
    world
}
