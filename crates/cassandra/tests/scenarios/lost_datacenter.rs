//! Another datacenter is lost: what goes on without it, and how it is removed.

use crate::every::killed_at_every_write;
use crate::holes::wrote;
use crate::jobs::abort;
use crate::maintenance::member_key;
use crate::sim::World;
use crate::sim::far::{HERE, SHOP, SYSTEM, THERE};
use crate::sim::manifests::a_cluster;
use crate::tasks::{ask, status};
use palladion_api::labels;
use palladion_api::member::Liveness;
use palladion_api::task::{CassandraTaskStatus, TaskPhase};
use palladion_plan::Subresource;
use serde_json::{Value, json};

/// A ring with two members elsewhere, and a keyspace that has copies in both.
pub fn ring() -> World {
    let mut world = World::new();
    for keyspace in SYSTEM {
        world.ring.alter(keyspace, HERE, 1);
    }
    world.ring.alter(SHOP, HERE, 2);
    let mut world = world.with(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    world.elsewhere("far-1", THERE, "10.9.0.1");
    world.elsewhere("far-2", THERE, "10.9.0.2");
    world.settle();
    world.ring.alter(SHOP, THERE, 2);
    world.settle();
    world
}

/// All of it is down.
pub fn is_lost(world: &mut World) {
    for host in ["far-1", "far-2"] {
        world.there(host, "is down", |m| m.liveness = Liveness::Down);
    }
    world.settle();
}

fn removal(name: &str, hosts: &[&str]) -> Value {
    json!({ "cluster": "demo", "removeDatacenter": { "name": name, "hostIDs": hosts } })
}

fn message(world: &World, name: &str) -> String {
    let status: CassandraTaskStatus = status(world, name);
    status.conditions.first().map(|c| c.message.clone()).unwrap_or_default()
}

#[test]
fn a_datacenter_that_is_lost_is_removed_and_dropped_from_the_system_keyspaces() {
    let mut world = ring();
    is_lost(&mut world);
    world.ring.alter(SHOP, THERE, 0);
    world.settle();
    ask(&mut world, "gone", &removal(THERE, &["far-1", "far-2"]));
    let end = killed_at_every_write("a lost datacenter", world, 2);
    assert_eq!(status(&end, "gone").phase, Some(TaskPhase::Done), "{}", message(&end, "gone"));
    assert_eq!(status(&end, "gone").members.len(), 1, "one member does it for the ring");
    assert!(end.ring.elsewhere.is_empty(), "{}", end.last_words());
    let copies = SYSTEM.map(|keyspace| end.ring.copies_in(keyspace, THERE));
    assert_eq!(copies, [0; 3], "{}", end.last_words());
    assert_eq!(end.normal(), 2);
}

#[test]
fn what_is_not_lost_or_not_named_or_has_copies_is_not_removed() {
    let mut world = ring();
    let ask_and_look = |world: &mut World, name: &str, task: Value, words: &str| {
        ask(world, name, &task);
        world.settle();
        assert_eq!(status(world, name).phase, Some(TaskPhase::Refused), "{name}");
        assert!(message(world, name).contains(words), "{name}: {}", message(world, name));
        assert_eq!(world.ring.elsewhere.len(), 2);
    };
    let both = ["far-1", "far-2"];
    ask_and_look(&mut world, "up", removal(THERE, &both), "are not all down");
    world.there("far-1", "is down", |m| m.liveness = Liveness::Down);
    world.settle();
    ask_and_look(&mut world, "one-up", removal(THERE, &both), "are not all down");
    is_lost(&mut world);
    ask_and_look(&mut world, "own", removal(HERE, &["x"]), "is the datacenter of this cluster");
    ask_and_look(&mut world, "no", removal("dc9", &both), "other datacenters: dc2");
    ask_and_look(&mut world, "one", removal(THERE, &["far-1"]), "must name exactly");
    let three = ["far-1", "far-2", "far-3"];
    ask_and_look(&mut world, "three", removal(THERE, &three), "must name exactly");
    ask_and_look(&mut world, "copies", removal(THERE, &both), "shop have copies in datacenter");
}

/// The word that lets members here go on without it holds for this absence, and for no change of shape.
#[test]
fn restarts_and_replacements_go_on_without_a_datacenter_that_a_user_names() {
    let mut world = ring();
    is_lost(&mut world);
    let condition = world.condition("AllRegionsNormal");
    let named = condition.split("without-datacenter=").nth(1).expect("the condition names it");
    let named = named.split('`').next().unwrap().to_string();
    assert!(named.starts_with("dc2@"), "{condition}");
    let before = world.writes.len();
    world.settle();
    assert_eq!(world.writes.len(), before, "at rest: {:?}", &world.writes[before..]);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    world.settle();
    let restarts = |w: &World| w.writes.iter().filter(|w| w.contains("replace the pod")).count();
    assert_eq!(restarts(&world), 0, "{}", world.last_words());
    world.annotate_cluster(labels::WITHOUT_DATACENTER, "dc2@other");
    world.settle();
    assert_eq!(restarts(&world), 0, "another absence: {}", world.last_words());
    world.annotate_cluster(labels::WITHOUT_DATACENTER, &named);
    world.settle();
    assert!(restarts(&world) >= 2, "{:?}\n{}", world.writes, world.last_words());
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert_eq!(world.normal(), 2, "nobody joins: {}", world.last_words());
    // It comes back, and goes again: that is another absence.
    world.there("far-1", "is up", |m| m.liveness = Liveness::Up);
    world.settle();
    is_lost(&mut world);
    let again = world.condition("AllRegionsNormal");
    assert!(again.contains("without-datacenter=dc2@") && !again.contains(&named), "{again}");
}

#[test]
fn a_crash_at_any_write_of_a_rollout_without_a_datacenter_ends_alike() {
    let mut world = ring();
    is_lost(&mut world);
    let condition = world.condition("AllRegionsNormal");
    let named = condition.split("without-datacenter=").nth(1).expect("the condition names it");
    let named = named.split('`').next().unwrap().to_string();
    world.annotate_cluster(labels::WITHOUT_DATACENTER, &named);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    let end = killed_at_every_write("a rollout without a datacenter", world, 4);
    assert_eq!(end.normal(), 2, "{}", end.last_words());
}

/// The first of them was removed before.
#[test]
fn a_datacenter_that_comes_back_while_it_is_removed_is_removed_no_further() {
    let mut world = ring();
    is_lost(&mut world);
    world.ring.alter(SHOP, THERE, 0);
    world.settle();
    ask(&mut world, "gone", &removal(THERE, &["far-1", "far-2"]));
    world.until(|w| wrote(w, "start the removal of a datacenter"));
    world.there("far-2", "is up", |m| m.liveness = Liveness::Up);
    world.settle();
    let phase = status(&world, "gone").phase;
    assert_ne!(phase, Some(TaskPhase::Done), "{}", message(&world, "gone"));
    assert!(world.ring.elsewhere.values().any(|m| m.liveness == Liveness::Up));
}

#[test]
fn a_removal_that_is_aborted_before_it_begins_removes_nobody() {
    let mut world = ring();
    is_lost(&mut world);
    world.ring.alter(SHOP, THERE, 0);
    world.settle();
    let mut task = removal(THERE, &["far-1", "far-2"]);
    task["abort"] = json!(true);
    ask(&mut world, "gone", &task);
    world.settle();
    assert_eq!(
        status(&world, "gone").phase,
        Some(TaskPhase::Aborted),
        "{}",
        message(&world, "gone")
    );
    assert_eq!(world.ring.elsewhere.len(), 2);
}

/// The job is nobody's while the turn waits for the member that removes: it stops before the next
/// host ID all the same.
#[test]
fn a_removal_that_a_turn_waits_for_is_aborted_before_its_next_host() {
    let mut world = ring();
    is_lost(&mut world);
    world.ring.alter(SHOP, THERE, 0);
    world.settle();
    world.ring.hanging.insert("demo-dc1-a-0".into());
    ask(&mut world, "gone", &removal(THERE, &["far-1", "far-2"]));
    world.until(|w| !w.ring.calls.is_empty());
    let stop = json!({ "spec": { "wanted": { "run": "Stopped", "when": "Now" } } });
    let other = member_key("demo-dc1-b-0");
    world.store.merge(&other, &stop, Subresource::None).expect("the member should exist");
    world.pass(60);
    assert!(world.status()["job"].is_null(), "it gives way: {}", world.last_words());
    let asked = |w: &World| {
        let member = w.store.get(&member_key("demo-dc1-a-0")).expect("the member should exist");
        member["spec"]["job"]["wanted"].clone()
    };
    assert_eq!(asked(&world), "Run", "it is waited for");
    abort(&mut world, "gone");
    world.pass(60);
    assert_eq!(asked(&world), "Stop", "{}", world.last_words());
}

/// A member that was just restarted may not know yet where those that are down are. The word of the
/// user still holds: nobody is back.
#[test]
fn who_does_not_know_where_members_are_ends_no_absence() {
    let mut world = ring();
    is_lost(&mut world);
    let nonce = world.status()["regionDown"]["nonce"].clone();
    assert!(nonce.is_string(), "{}", world.status());
    for host in ["far-1", "far-2"] {
        world.there(host, "is of no datacenter that anybody knows", |m| m.datacenter = None);
    }
    world.settle();
    assert_eq!(world.status()["regionDown"]["nonce"], nonce, "{}", world.last_words());
    for host in ["far-1", "far-2"] {
        world.there(host, "is of its datacenter", |m| m.datacenter = Some(THERE.into()));
    }
    world.settle();
    assert_eq!(world.status()["regionDown"]["nonce"], nonce, "{}", world.last_words());
    world.there("far-1", "is up", |m| m.liveness = Liveness::Up);
    world.settle();
    assert!(world.status()["regionDown"].is_null(), "{}", world.last_words());
}
