//! A datacenter leaves its ring: no row that was written here at a `LOCAL_` level is lost, whatever
//! ends in between, and nobody leaves while a keyspace of clients names the datacenter.

use crate::added::{self, MEMBER, OTHER, open};
use crate::every::{before_each_write, in_flight, some};
use crate::lost_datacenter;
use crate::sim::World;
use crate::sim::far::{HERE, SHOP, SYSTEM, THERE};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Phase;
use crate::sim::rows::Level;
use crate::sim::world::Tick;
use jiff::SignedDuration;
use palladion_api::member::Liveness;
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Fault;
use serde_json::{Value, json};

/// A ring that was begun here, with two members elsewhere that have all keyspaces, and rows that were
/// written here alone.
fn ring() -> World {
    let mut world = lost_datacenter::ring();
    assert_eq!(world.write(20), 20);
    world.ring.rows_are_elsewhere_too();
    world.settle();
    assert_eq!(world.write_at(20, Level::One, MEMBER), 20);
    world
}

fn leave(world: &mut World) {
    world.patch_spec(&json!({ "datacenter": { "leave": true } }));
}

/// A person lowers the copies here, in the other datacenter.
fn lower(world: &mut World) {
    world.ring.alter(SHOP, HERE, 0);
}

/// How many members take clients.
fn lacks_elsewhere(world: &World) -> usize {
    let rows = world.ring.far.rows.as_ref().expect("clients' rows should be elsewhere too");
    let told = world.ring.clients.told.iter();
    told.filter(|(row, told)| rows.get(row).is_none_or(|known| *known < told.cell.version)).count()
}

fn has_left(world: &World) -> bool {
    let condition = world.condition("DatacenterLeft");
    world.normal() == 0 && condition.contains(&Reason::DatacenterLeft.to_string())
}

fn waits_for_a_person(world: &World) -> bool {
    let condition = world.condition("DatacenterLeft");
    let is_leaving = condition.contains(&Reason::DatacenterLeaving.to_string());
    is_leaving && condition.contains("leave when no keyspace of clients has copies there")
}

#[test]
fn a_datacenter_leaves_and_no_row_that_was_written_here_alone_is_lost() {
    let mut world = ring();
    assert!(lacks_elsewhere(&world) > 0);
    leave(&mut world);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert!(world.waits().contains(&Reason::LeaveRefused.to_string()), "{}", world.waits());
    assert!(world.waits().contains(SHOP), "{}", world.waits());
    assert_eq!((open(&world), world.normal()), (0, 2), "{}", world.last_words());
    assert_eq!(lacks_elsewhere(&world), 0, "{}", world.last_words());
    lower(&mut world);
    world.settle();
    assert!(has_left(&world), "{}\n{}", world.condition("DatacenterLeft"), world.last_words());
    let condition = world.condition("DatacenterLeft");
    assert!(condition.contains("Delete the CassandraCluster"), "{condition}");
    // Claims are kept, and nothing begins on them.
    assert_eq!(world.store.list(kinds::CLAIM).count(), 2);
    assert_eq!(world.store.list(kinds::POD).count(), 0, "{}", world.last_words());
    assert_eq!(world.ring.founders.len(), 1);
}

/// The one that was added before leaves again.
#[test]
fn a_datacenter_that_was_added_leaves_again_and_may_come_back() {
    let mut world = added::to_add();
    world.settle();
    for keyspace in SYSTEM.into_iter().chain([SHOP]) {
        world.ring.alter(keyspace, HERE, 2);
    }
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
    leave(&mut world);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    lower(&mut world);
    world.settle();
    assert!(has_left(&world), "{}\n{}", world.condition("DatacenterLeft"), world.last_words());
    // Those elsewhere drop it.
    for keyspace in SYSTEM {
        world.ring.alter(keyspace, HERE, 0);
    }
    world.patch_spec(&json!({ "datacenter": { "leave": null } }));
    world.settle();
    assert_eq!((world.normal(), open(&world)), (2, 0), "{}", world.last_words());
    for keyspace in SYSTEM.into_iter().chain([SHOP]) {
        world.ring.alter(keyspace, HERE, 2);
    }
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
}

/// Whoever lowers the copies writes what members do not know before they count again.
#[test]
fn a_crash_at_any_write_loses_no_row_and_ends_alike() {
    let mut world = ring();
    leave(&mut world);
    let (mut worlds, mut closed) = before_each_write(world);
    assert!(waits_for_a_person(&closed), "{}", closed.last_words());
    let first = worlds.len();
    lower(&mut closed);
    let (more, end) = before_each_write(closed);
    worlds.extend(more);
    assert!(has_left(&end), "{}", end.last_words());
    for (number, before) in some(worlds.into_iter().enumerate().collect(), 1, 0) {
        for fault in [Some(Fault::DieBefore), Some(Fault::DieAfter), None] {
            let mut world = before.clone();
            match fault {
                Some(fault) => world.faults.plan(world.faults.writes(), fault),
                None => in_flight(&mut world),
            }
            world.settle();
            if number < first {
                lower(&mut world);
                world.settle();
            }
            assert!(has_left(&world), "write {number}, {fault:?}: {}", world.last_words());
            assert_eq!(lacks_elsewhere(&world), 0, "write {number}, {fault:?}");
        }
    }
}

/// Agent, server and pod of a member end in each part of it, the power too: no port opens again.
#[test]
fn whatever_ends_no_member_takes_clients_again() {
    for (what, end) in added::ENDS {
        let mut world = ring();
        leave(&mut world);
        world.until(|w| open(w) == 0);
        world.tell(&format!("{what} ends"));
        end(&mut world);
        world.pass(120);
        assert_eq!(open(&world), 0, "{what}: {}", world.last_words());
        world.settle();
        assert_eq!((open(&world), lacks_elsewhere(&world)), (0, 0), "{}", world.last_words());
        lower(&mut world);
        world.settle();
        assert!(has_left(&world), "{what}: {}", world.last_words());
    }
}

/// Clients write for as long as a port is open.
#[test]
fn what_is_written_until_the_last_port_closes_is_repaired_too() {
    let mut world = ring();
    leave(&mut world);
    while world.tick().unwrap() == Tick::GoesOn {
        for member in [MEMBER, OTHER] {
            world.write_at(1, Level::One, member);
        }
    }
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert_eq!((open(&world), lacks_elsewhere(&world)), (0, 0), "{}", world.last_words());
    lower(&mut world);
    world.settle();
    assert!(has_left(&world), "{}", world.last_words());
}

/// It waits where it is until that one is back.
#[test]
fn a_member_of_the_other_datacenter_that_is_down_holds_up_each_step() {
    let down = |w: &mut World| w.there("far-1", "is down", |m| m.liveness = Liveness::Down);
    let up = |w: &mut World| w.there("far-1", "is up", |m| m.liveness = Liveness::Up);
    let mut world = ring();
    down(&mut world);
    world.settle();
    leave(&mut world);
    world.settle();
    assert_eq!(open(&world), 2, "nobody is closed: {}", world.last_words());
    up(&mut world);
    world.until(|w| open(w) == 0);
    down(&mut world);
    world.settle();
    assert!(lacks_elsewhere(&world) > 0);
    up(&mut world);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    down(&mut world);
    world.pass(60);
    lower(&mut world);
    world.pass(1200);
    assert_eq!(world.normal(), 2, "nobody leaves: {}", world.last_words());
    // The first leave is under way, and ends; the next one waits.
    world.ring.hanging.insert(OTHER.into());
    up(&mut world);
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    down(&mut world);
    world.pass(120);
    world.ring.hanging.clear();
    world.pass(1200);
    assert_eq!(world.normal(), 1, "nobody leaves: {}", world.last_words());
    up(&mut world);
    world.settle();
    assert!(has_left(&world), "{}", world.last_words());
}

/// Right before each write from the first leave on: nobody leaves with its rows.
#[test]
fn a_keyspace_that_is_created_in_the_middle_stops_the_next_leave() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    lower(&mut world);
    let (worlds, end) = before_each_write(world);
    assert!(has_left(&end), "{}", end.last_words());
    for (number, mut world) in some(worlds, 1, 0).into_iter().enumerate() {
        let leaving = |w: &World| w.ring.in_phase(&Phase::Leaving).is_some();
        let before = (world.normal(), leaving(&world));
        if before.0 == 0 {
            continue;
        }
        world.ring.alter("new", HERE, 1);
        world.ring.alter("new", THERE, 1);
        world.settle();
        // One that was under way already goes on.
        assert!(before.0 - world.normal() <= 1, "write {number}: {}", world.last_words());
        if world.normal() > 0 {
            let condition = world.condition("DatacenterLeft");
            assert!(condition.contains("new"), "{number}: {condition}\n{}", world.last_words());
            world.ring.alter("new", HERE, 0);
            world.settle();
        }
        assert!(has_left(&world), "write {number}: {}", world.last_words());
    }
}

/// An intent that nobody should have given does not make a member leave with rows.
#[test]
fn the_agent_looks_at_the_keyspaces_right_before_the_call() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    lower(&mut world);
    world.until(|w| w.writes.iter().any(|write| write.contains("decommission member")));
    world.ring.alter("new", HERE, 1);
    world.ring.alter("new", THERE, 1);
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(world.condition("DatacenterLeft").contains("new"), "{}", world.last_words());
}

#[test]
fn a_leave_that_is_taken_back_opens_the_datacenter_again() {
    for before in [0, 1, 2, 4, 8, 16, 64] {
        let mut world = ring();
        leave(&mut world);
        for _ in 0..before {
            world.tick().unwrap();
        }
        world.patch_spec(&json!({ "datacenter": { "leave": null } }));
        world.settle();
        assert_eq!((open(&world), world.normal()), (2, 2), "{before}: {}", world.last_words());
        assert!(!world.waits().contains("closed"), "{}", world.waits());
        for name in [MEMBER, OTHER] {
            let member = member(&world, name);
            assert_eq!(member["spec"]["closing"], Value::Null, "{member}");
            assert_eq!(member["status"]["rebuild"], Value::Null, "its note is cleared: {member}");
        }
    }
}

/// Whoever has left joins anew, and what names the datacenter again is rebuilt before it opens.
#[test]
fn a_leave_that_is_taken_back_halfway_brings_members_back_as_new_ones() {
    let mut world = added::to_add();
    world.settle();
    for keyspace in SYSTEM.into_iter().chain([SHOP]) {
        world.ring.alter(keyspace, HERE, 2);
    }
    world.settle();
    leave(&mut world);
    world.settle();
    lower(&mut world);
    world.until(|w| w.normal() == 1);
    world.patch_spec(&json!({ "datacenter": { "leave": null } }));
    world.settle();
    assert_eq!((world.normal(), open(&world)), (2, 0), "{}", world.last_words());
    world.ring.alter(SHOP, HERE, 2);
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
}

#[test]
fn a_datacenter_does_not_leave_where_nobody_else_would_have_its_data() {
    let mut alone = World::new().with(&a_cluster(&[("a", 1), ("b", 1)]));
    alone.settle();
    leave(&mut alone);
    alone.settle();
    assert_eq!((open(&alone), alone.normal()), (2, 2), "{}", alone.last_words());
    assert!(alone.waits().contains("see no member of another datacenter"), "{}", alone.waits());

    let mut world = ring();
    world.ring.alter("own", HERE, 2);
    world.settle();
    leave(&mut world);
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
    assert!(world.waits().contains("own have copies in no other datacenter"), "{}", world.waits());
    world.ring.alter("own", THERE, 2);
    world.ring.far.simple.insert("own".into());
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
    assert!(world.waits().contains("do not count copies by datacenter"), "{}", world.waits());
}

/// An agent of before would leave its server open, and leave whatever names the datacenter.
#[test]
fn an_agent_of_before_is_rolled_first() {
    let mut world = ring();
    world.set_protocol_of(OTHER, 14);
    world.pass(120);
    leave(&mut world);
    world.settle();
    assert_eq!(open(&world), 2, "{}", world.last_words());
    assert!(world.waits().contains("cannot close its server to clients"), "{}", world.waits());
}

/// How often the repair of a member was put on record.
fn repairs(world: &World) -> usize {
    let of = |write: &&String| write.contains("is repaired before its datacenter leaves");
    world.writes.iter().filter(of).count()
}

/// A call to close a port that is yet to open does nothing.
#[test]
fn a_port_that_opens_late_counts_as_open() {
    let mut world = ring();
    world.opens_late(MEMBER, SignedDuration::from_secs(45));
    leave(&mut world);
    while world.tick().unwrap() == Tick::GoesOn {
        world.write_at(1, Level::One, MEMBER);
    }
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert_eq!((open(&world), lacks_elsewhere(&world)), (0, 0), "{}", world.last_words());
}

/// What is written after a repair is on record is in a later one.
#[test]
fn a_port_that_is_opened_by_hand_is_closed_and_all_are_repaired_again() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    let before = repairs(&world);
    assert_eq!(before, 2, "{}", world.last_words());
    world.open_by_hand(MEMBER);
    assert_eq!(world.write_at(5, Level::One, MEMBER), 5);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert_eq!((open(&world), lacks_elsewhere(&world)), (0, 0), "{}", world.last_words());
    assert_eq!(repairs(&world), 4, "{}", world.last_words());
}

/// One repair is under way, and what is written behind it needs another one.
#[test]
fn a_repair_that_is_under_way_does_not_count_for_what_comes_later() {
    let mut world = ring();
    leave(&mut world);
    let is_repairing = |w: &World| {
        let operation = &member(w, MEMBER)["status"]["operation"];
        operation["state"] == "Running" && repairs(w) == 2
    };
    world.until(is_repairing);
    world.open_by_hand(OTHER);
    assert_eq!(world.write_at(5, Level::One, OTHER), 5);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert_eq!((open(&world), lacks_elsewhere(&world)), (0, 0), "{}", world.last_words());
    assert_eq!(repairs(&world), 4, "{}", world.last_words());
}

/// It has rows that are here alone, and is named only after another repair.
#[test]
fn a_keyspace_that_comes_after_the_repairs_is_repaired_before_it_is_named() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    assert_eq!(repairs(&world), 2);
    world.ring.alter("new", HERE, 2);
    world.settle();
    assert!(world.waits().contains("new have copies in no other"), "{}", world.waits());
    world.ring.alter("new", THERE, 2);
    world.settle();
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert_eq!(repairs(&world), 4, "{}", world.last_words());
    world.ring.alter(SHOP, THERE, 1);
    world.settle();
    assert_eq!(repairs(&world), 4, "fewer copies need none: {}", world.last_words());
}

/// In the middle of the departure a disk is lost: who takes the place is closed from its start on.
#[test]
fn who_takes_the_place_of_a_lost_member_is_closed_from_its_start_on() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    let before = repairs(&world);
    world.delete(kinds::POD, MEMBER);
    world.wipe_volume(MEMBER);
    while world.tick().unwrap() == Tick::GoesOn {
        assert_eq!(open(&world), 0, "{}", world.last_words());
    }
    assert!(waits_for_a_person(&world), "{}\n{}", world.waits(), world.last_words());
    assert_eq!(repairs(&world), before + 2, "{}", world.last_words());
}

/// It is called again, the last one too: nothing else can happen in the ring before.
#[test]
fn a_leave_that_failed_halfway_is_called_again() {
    for failing in [vec![OTHER], vec![MEMBER], vec![MEMBER, OTHER]] {
        let mut world = ring();
        leave(&mut world);
        world.settle();
        world.ring.failing.extend(failing.iter().map(|name| (*name).into()));
        lower(&mut world);
        world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
        world.settle();
        assert!(has_left(&world), "{failing:?}: {}\n{}", world.waits(), world.last_words());
    }
}

/// A smaller number in the spec is no leave of the datacenter, and holds up nothing.
#[test]
fn nobody_leaves_by_the_number_in_the_spec_while_the_datacenter_leaves() {
    let mut world = ring();
    leave(&mut world);
    world.settle();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 0)]));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(waits_for_a_person(&world), "{}", world.last_words());
    assert!(!world.writes.iter().any(|w| w.contains("decommission")), "{}", world.last_words());
    lower(&mut world);
    world.settle();
    assert!(has_left(&world), "{}", world.last_words());
}

/// Of a datacenter that was never there nobody has left.
#[test]
fn a_cluster_without_a_record_of_members_has_not_left() {
    let mut cluster = a_cluster(&[("a", 1), ("b", 1)]);
    cluster["spec"]["datacenter"]["leave"] = json!(true);
    let mut world = World::new().with(&cluster);
    world.settle();
    let condition = world.condition("DatacenterLeft");
    assert!(condition.contains("has no record of any member"), "{condition}");
    assert!(condition.starts_with("False"), "{condition}");
    assert_eq!(world.ring.founders.len(), 0);
    world.patch_spec(&json!({ "datacenter": { "leave": null } }));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).expect("the member should exist").as_ref().clone()
}
