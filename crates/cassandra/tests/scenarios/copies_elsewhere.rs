//! Copies of keyspaces in another datacenter of the ring: they survive whatever changes here, the
//! system keyspaces get some for members that are new there, and tasks set those of clients.

use crate::every::killed_at_every_write;
use crate::holes::wrote;
use crate::maintenance::member_key;
use crate::nodes::spread;
use crate::sim::World;
use crate::sim::far::{HERE, SYSTEM, THERE};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::tasks::{ask, status};
use palladion_api::member::Liveness;
use palladion_api::reasons::Reason;
use palladion_api::task::{CassandraTaskStatus, MemberTaskState, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

/// A ring of so many members here, which has keyspaces.
pub fn ring(a: i32, b: i32) -> World {
    let mut world = World::new();
    for keyspace in SYSTEM {
        world.ring.alter(keyspace, HERE, 1);
    }
    world.ring.alter("shop", HERE, 2);
    let mut world = world.with(&a_cluster(&[("a", a), ("b", b)]));
    world.settle();
    world
}

/// Two members of another datacenter have joined it.
fn joined_elsewhere(world: &mut World) {
    world.elsewhere("far-1", THERE, "10.9.0.1");
    world.elsewhere("far-2", THERE, "10.9.0.2");
}

fn copies(world: &World, datacenter: &str) -> Vec<u32> {
    SYSTEM.iter().map(|keyspace| world.ring.copies_in(keyspace, datacenter)).collect()
}

pub fn change(keyspaces: &[&str], datacenter: &str, factor: u32) -> Value {
    json!({ "cluster": "demo", "replication": {
        "keyspaces": keyspaces, "datacenter": datacenter, "factor": factor,
    }})
}

fn message(world: &World, name: &str) -> String {
    let status: CassandraTaskStatus = status(world, name);
    status.conditions.first().map(|c| c.message.clone()).unwrap_or_default()
}

#[test]
fn users_can_log_in_where_members_have_joined_elsewhere_and_nobody_is_dropped_by_a_change_here() {
    let mut world = ring(1, 1);
    assert_eq!((copies(&world, HERE), copies(&world, THERE)), (vec![2; 3], vec![0; 3]));
    joined_elsewhere(&mut world);
    let before = world.writes.len();
    world.settle();
    assert_eq!(copies(&world, THERE), [2; 3], "{}", world.last_words());
    let writes = &world.writes[before..];
    let repairs = writes.iter().any(|w| w.contains("start the repair"));
    assert!(!repairs, "its own operator rebuilds it: {writes:?}");
    // From two to three, and back; the other one has more copies by its own operator.
    for keyspace in SYSTEM {
        world.ring.alter(keyspace, THERE, 3);
    }
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert_eq!((copies(&world, HERE), copies(&world, THERE)), (vec![3; 3], vec![3; 3]));
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert_eq!((copies(&world, HERE), copies(&world, THERE)), (vec![2; 3], vec![3; 3]));
}

#[test]
fn a_crash_at_any_write_of_that_ends_alike() {
    let mut world = ring(1, 1);
    joined_elsewhere(&mut world);
    let end = killed_at_every_write("copies elsewhere", world, 1);
    assert_eq!(copies(&end, THERE), [2; 3], "{}", end.last_words());
}

/// Who retires a datacenter by hand drops it from one after the other. What names it is new only
/// where none of the three does.
#[test]
fn what_a_person_takes_from_a_datacenter_is_not_given_back() {
    let mut world = ring(1, 1);
    joined_elsewhere(&mut world);
    world.settle();
    for keyspace in ["system_distributed", "system_traces"] {
        world.ring.alter(keyspace, THERE, 0);
    }
    world.settle();
    assert_eq!(copies(&world, THERE), [2, 0, 0], "{}", world.last_words());
    let nobody = "nobody can log in in datacenter dc2";
    assert!(!world.waits().contains(nobody), "{}", world.waits());
    world.ring.alter("system_traces", THERE, 2);
    world.ring.alter("system_auth", THERE, 0);
    world.settle();
    assert_eq!(copies(&world, THERE), [0, 0, 2], "{}", world.last_words());
    assert!(world.waits().contains(nobody), "{}", world.waits());
}

/// Its members left one after the other, or were removed. A server refuses to drop it before.
#[test]
fn a_datacenter_without_members_is_dropped_from_the_system_keyspaces() {
    let mut world = ring(1, 1);
    joined_elsewhere(&mut world);
    world.settle();
    assert_eq!(copies(&world, THERE), [2; 3], "{}", world.last_words());
    let before = world.writes.len();
    world.settle();
    assert_eq!(world.writes.len(), before, "at rest: {:?}", &world.writes[before..]);
    world.leaves_elsewhere("far-1");
    world.settle();
    assert_eq!(copies(&world, THERE), [2; 3], "one is left: {}", world.last_words());
    world.there("far-2", "is down", |m| m.liveness = Liveness::Down);
    world.settle();
    assert_eq!(copies(&world, THERE), [2; 3], "who is down is somebody: {}", world.last_words());
    world.leaves_elsewhere("far-2");
    let end = killed_at_every_write("a datacenter without members", world, 1);
    assert_eq!((copies(&end, HERE), copies(&end, THERE)), (vec![2; 3], vec![0; 3]));
}

/// They report as done what they do not do.
#[test]
fn an_agent_that_would_keep_a_datacenter_without_members_is_not_asked() {
    let mut world = ring(1, 1);
    joined_elsewhere(&mut world);
    world.settle();
    world.set_protocol(14);
    world.leaves_elsewhere("far-1");
    world.leaves_elsewhere("far-2");
    world.settle();
    assert_eq!(copies(&world, THERE), [2; 3], "{}", world.last_words());
    assert!(world.waits().contains("cannot drop datacenter dc2"), "{}", world.waits());
    world.set_protocol(palladion_api::member::PROTOCOL);
    world.settle();
    assert_eq!(copies(&world, THERE), [0; 3], "{}", world.last_words());
}

/// Somebody takes the copies away while members count them: that ends, and keeps the own system
/// keyspaces waiting no longer.
#[test]
fn copies_that_are_gone_again_hold_up_nothing() {
    for gone in [&SYSTEM[..], &SYSTEM[1..]] {
        let mut world = ring(1, 1);
        joined_elsewhere(&mut world);
        world.until(|w| copies(w, THERE) == [2; 3]);
        for keyspace in gone {
            world.ring.alter(keyspace, THERE, 0);
        }
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        world.settle();
        assert_eq!(copies(&world, HERE), [3; 3], "{}", world.last_words());
        let is_all = gone.len() == SYSTEM.len();
        let there = if is_all { vec![2; 3] } else { vec![2, 0, 0] };
        assert_eq!(copies(&world, THERE), there, "{}", world.last_words());
    }
}

/// An agent of before would write its own datacenter alone.
#[test]
fn an_agent_that_would_drop_the_other_datacenter_is_not_asked() {
    let mut world = ring(1, 1);
    world.ring.far.drops_others = true;
    world.set_protocol(12);
    joined_elsewhere(&mut world);
    for keyspace in SYSTEM {
        world.ring.alter(keyspace, THERE, 2);
    }
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["network"] = json!({ "clusterIPsAreRouted": true });
    cluster["spec"]["ring"] = json!({ "lock": "None" });
    cluster["spec"]["externalSeeds"] = json!([{ "name": "far", "addresses": ["10.9.0.1"] }]);
    world.apply(&cluster);
    world.pass(600);
    assert_eq!(copies(&world, THERE), [2; 3], "{}", world.last_words());
}

#[test]
fn a_task_gives_keyspaces_copies_elsewhere_and_here_which_are_repaired() {
    let mut world = ring(2, 1);
    joined_elsewhere(&mut world);
    world.settle();
    world.writes.clear();
    ask(&mut world, "there", &change(&["shop"], THERE, 2));
    world.settle();
    assert_eq!(
        status(&world, "there").phase,
        Some(TaskPhase::Done),
        "{}",
        message(&world, "there")
    );
    assert_eq!(status(&world, "there").members.len(), 1, "one member writes for the ring");
    assert_eq!((world.ring.copies_in("shop", HERE), world.ring.copies_in("shop", THERE)), (2, 2));
    assert!(!wrote(&world, "start the pending repair"), "those elsewhere rebuild");
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.settle();
    assert_eq!(status(&world, "here").phase, Some(TaskPhase::Done), "{}", message(&world, "here"));
    assert_eq!((world.ring.copies_in("shop", HERE), world.ring.copies_in("shop", THERE)), (3, 2));
    let repairs = world.writes.iter().filter(|w| w.contains("start the pending repair on")).count();
    assert_eq!(repairs, 3, "each member that may hold more: {}", world.last_words());
}

/// Of all members that may hold more copies of something by now, by how many writes.
pub fn repairs(world: &World) -> usize {
    world.writes.iter().filter(|w| w.contains("start the pending repair on")).count()
}

/// Its statement cannot be taken back, and nobody else would say that copies lack rows.
#[test]
fn copies_of_a_task_that_is_deleted_at_work_are_repaired() {
    let mut world = ring(2, 1);
    world.writes.clear();
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.until(|w| !w.ring.units.is_empty());
    world.delete(kinds::TASK, "here");
    world.settle();
    assert_eq!(world.ring.copies_in("shop", HERE), 3, "{}", world.last_words());
    assert_eq!(repairs(&world), 3, "{}", world.last_words());
}

/// The next try waits for the member, and what the last one has come to stands nowhere else.
#[test]
fn copies_of_a_task_that_is_deleted_between_two_tries_are_repaired() {
    let mut world = ring(2, 1);
    world.writes.clear();
    world.ring.hanging.insert("demo-dc1-a-0".into());
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.until(|w| !w.ring.calls.is_empty());
    world.kill_server("demo-dc1-a-0");
    let is_interrupted = |w: &World| {
        status(w, "here").members.iter().any(|m| m.state == MemberTaskState::Interrupted)
    };
    world.until(is_interrupted);
    world.delete(kinds::TASK, "here");
    world.ring.hanging.clear();
    world.settle();
    assert_eq!(repairs(&world), 3, "{}", world.last_words());
}

/// Another task comes between two tries, and takes the place of what the last one has come to.
#[test]
fn copies_of_a_task_that_another_one_passes_between_two_tries_are_repaired() {
    const WRITER: &str = "demo-dc1-a-0";
    let mut world = ring(2, 1);
    world.writes.clear();
    world.ring.hanging.insert(WRITER.into());
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.until(|w| !w.ring.calls.is_empty());
    world.set_machine("n2", Machine::Down);
    world.pass(180);
    world.kill_server(WRITER);
    let is_interrupted = |w: &World| {
        status(w, "here").members.iter().any(|m| m.state == MemberTaskState::Interrupted)
    };
    world.until(is_interrupted);
    world.ring.hanging.clear();
    world.pass(900);
    ask(&mut world, "flush", &json!({ "cluster": "demo", "flush": {}, "members": [WRITER] }));
    world.pass(900);
    assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.waits());
    world.delete(kinds::TASK, "here");
    world.set_machine("n2", Machine::Up);
    world.settle();
    assert_eq!(repairs(&world), 3, "{}", world.last_words());
}

/// Its member was closed to clients before it began. It is not left with a statement that would be
/// made beside another task.
#[test]
fn a_part_that_no_server_can_begin_is_taken_away_and_given_again() {
    const WRITER: &str = "demo-dc1-a-0";
    let mut world = ring(2, 1);
    world.writes.clear();
    let mut here = change(&["shop"], HERE, 3);
    here["memberDeadlineSeconds"] = json!(7200);
    ask(&mut world, "here", &here);
    let part = |w: &World| {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, WRITER);
        w.store.get(&key).expect("the member should exist")["spec"]["job"].clone()
    };
    world.until(|w| part(w).is_object());
    world.ring.closed.insert(WRITER.into());
    world.kill_server(WRITER);
    world.pass(900);
    assert!(part(&world).is_null(), "{}", part(&world));
    assert_eq!(status(&world, "here").members[0].state, MemberTaskState::Interrupted);
    let writes = world.writes.len();
    world.pass(1800);
    assert_eq!(world.writes.len(), writes, "nothing changes: {}", world.last_words());
    world.ring.closed.clear();
    world.settle();
    assert_eq!(status(&world, "here").phase, Some(TaskPhase::Done), "{}", message(&world, "here"));
    assert_eq!(world.ring.copies_in("shop", HERE), 3);
    assert_eq!(repairs(&world), 3, "{}", world.last_words());
}

/// Its volume goes with what it has noted.
#[test]
fn copies_are_repaired_where_the_member_that_set_them_was_lost() {
    let mut world = ring(2, 1);
    world.writes.clear();
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.until(|w| w.ring.copies_in("shop", HERE) == 3);
    let writer = status(&world, "here").members[0].name.to_string();
    world.break_volume(&writer);
    world.until(|w| status(w, "here").phase.is_some_and(TaskPhase::is_final));
    for name in world.names(kinds::MEMBER) {
        let member = world.store.get(&member_key(&name)).expect("the member should exist");
        let pending = member["spec"]["pendingMaintenance"].to_string();
        assert!(pending.contains("CassandraTask here"), "{name}: {pending}");
    }
}

/// Whoever raised them did not hear of it, and nobody has repaired anything.
#[test]
fn copies_that_a_task_finds_raised_already_are_repaired_too() {
    let mut world = ring(2, 1);
    joined_elsewhere(&mut world);
    world.settle();
    world.ring.alter("shop", HERE, 3);
    world.settle();
    world.writes.clear();
    ask(&mut world, "here", &change(&["shop"], HERE, 3));
    world.settle();
    assert_eq!(status(&world, "here").phase, Some(TaskPhase::Done), "{}", message(&world, "here"));
    let repairs = world.writes.iter().filter(|w| w.contains("start the pending repair on")).count();
    assert_eq!(repairs, 3, "{}", world.last_words());
}

#[test]
fn a_task_that_would_lock_users_out_or_move_rows_is_refused() {
    let mut world = ring(2, 1);
    joined_elsewhere(&mut world);
    world.settle();
    let mut drop = change(&["system_traces", "shop"], THERE, 0);
    drop["replication"]["lowering"] = json!("Allow");
    let mut convert = change(&["shop"], HERE, 2);
    convert["replication"]["simpleStrategy"] = json!("Convert");
    let cases = [
        (
            "own",
            change(&["system_auth", "shop"], HERE, 3),
            "the operator itself keeps the copies of system_auth",
        ),
        (
            "drop",
            drop,
            "the ring has members in datacenter dc2, and without copies of system_traces",
        ),
        ("convert", convert, "would place the 2 copies of shop on other members"),
    ];
    for (name, task, words) in cases {
        ask(&mut world, name, &task);
        world.settle();
        assert_eq!(status(&world, name).phase, Some(TaskPhase::Refused), "{name}");
        assert!(message(&world, name).contains(words), "{}", message(&world, name));
    }
    assert_eq!(copies(&world, THERE), [2; 3]);
}

/// Copies are placed wherever a member is, also in a rack that is not wanted any more.
#[test]
fn a_conversion_counts_the_racks_that_members_are_about_to_leave() {
    let mut world = ring(2, 1);
    world.ring.hanging.insert("demo-dc1-b-0".into());
    world.set_racks(&a_cluster(&[("a", 2)]));
    world.pass(120);
    assert_eq!(world.ring.full_members(), 3, "it leaves: {}", world.last_words());
    let mut convert = change(&["shop"], HERE, 2);
    convert["replication"]["simpleStrategy"] = json!("Convert");
    ask(&mut world, "convert", &convert);
    world.pass(60);
    assert_eq!(status(&world, "convert").phase, Some(TaskPhase::Refused), "{}", world.waits());
    assert!(message(&world, "convert").contains("would place the 2 copies of shop"));
}

/// What counts no copies by datacenter is found before anything is written.
#[test]
fn a_keyspace_with_a_simple_strategy_is_in_the_way() {
    let mut world = ring(1, 1);
    joined_elsewhere(&mut world);
    world.settle();
    world.ring.far.simple.insert("stock".into());
    ask(&mut world, "both", &change(&["shop", "stock"], THERE, 2));
    world.settle();
    let both = status(&world, "both");
    assert_eq!(both.phase, Some(TaskPhase::Failed), "{}", message(&world, "both"));
    let reason = Reason::SimpleStrategyInTheWay.to_string();
    assert_eq!(both.members[0].reason.as_deref(), Some(reason.as_str()));
    assert_eq!(world.ring.copies_in("shop", THERE), 0, "nothing was written");
    world.writes.clear();
    ask(&mut world, "here", &change(&["shop", "stock"], HERE, 2));
    world.settle();
    assert_eq!(status(&world, "here").phase, Some(TaskPhase::Failed));
    assert_eq!(repairs(&world), 0, "nothing was written: {}", world.last_words());
}

/// The last try ends without an answer, and nobody knows whether it made the statement.
#[test]
fn copies_are_repaired_where_the_machine_of_their_writer_died_in_each_try() {
    const WRITER: &str = "demo-dc1-a-0";
    let mut world = spread(2, 1);
    world.ring.alter("shop", HERE, 2);
    world.ring.hanging.insert(WRITER.into());
    world.writes.clear();
    let mut here = change(&["shop"], HERE, 3);
    here["memberDeadlineSeconds"] = json!(7200);
    ask(&mut world, "here", &here);
    let node = world.node_of(WRITER);
    world.until(|w| !w.ring.calls.is_empty());
    world.set_machine(&node, Machine::Down);
    world.pass(1800);
    assert_eq!(
        status(&world, "here").members[0].state,
        MemberTaskState::Interrupted,
        "{}",
        world.last_words()
    );
    // What the first may have raised is repaired before the next.
    world.ring.hanging.clear();
    world.set_machine(&node, Machine::Up);
    world.until(|w| repairs(w) == 3);
    world.ring.hanging.insert(WRITER.into());
    world.until(|w| status(w, "here").members[0].tries == 2 && !w.ring.calls.is_empty());
    world.writes.clear();
    world.set_machine(&node, Machine::Down);
    world.pass(1800);
    assert_eq!(status(&world, "here").phase, Some(TaskPhase::Failed), "{}", world.last_words());
    world.ring.hanging.clear();
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert_eq!(repairs(&world), 3, "{}", world.last_words());
}
