//! Agents that cannot log in to their servers: what goes on, and what stops.

use crate::every::a_ring;
use crate::jobs::task;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Login;
use crate::tasks::{ask, status};
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn pod_uids(world: &World) -> BTreeMap<String, String> {
    let uid = |o: &Value| o["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), uid(pod))).collect()
}

/// A ring with `auth`, and no Secret for its agents: members of which pods are new.
fn asks_without_a_secret() -> (World, Vec<String>) {
    let mut world = a_ring(2, 1);
    let before = pod_uids(&world);
    world.ring.login = Login::MissingWhereAsked;
    world.patch_spec(&json!({ "auth": { "mode": "Password" } }));
    world.pass(900);
    let after = pod_uids(&world);
    let changed = before.iter().filter(|(name, uid)| after.get(*name) != Some(uid));
    let changed = changed.map(|(name, _)| name.clone()).collect();
    (world, changed)
}

#[test]
fn a_ring_that_asks_without_a_secret_restarts_its_first_member_only() {
    let (mut world, changed) = asks_without_a_secret();
    assert_eq!(changed.len(), 1, "{changed:?}\n{}", world.last_words());
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("the rollout stopped at member"), "{degraded}");
    // The Secret comes: as long as no role is known, nobody else restarts.
    let uids = pod_uids(&world);
    world.ring.login = Login::PendingWhereAsked;
    world.pass(300);
    assert_eq!(pod_uids(&world), uids, "{}", world.last_words());
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
    let renewed = pod_uids(&world).into_iter().filter(|(name, uid)| uids.get(name) != Some(uid));
    assert_eq!(renewed.count(), 2, "the others follow");
}

#[test]
fn that_anybody_gets_in_is_told_and_holds_up_no_rollout() {
    let mut world = a_ring(2, 1);
    world.ring.login = Login::DefaultUserOpen;
    world.pass(60);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True DefaultUserOpen"), "{told}");
    assert!(told.contains("demo-agents") && told.contains("demo-superuser"), "{told}");
    let before = pod_uids(&world);
    world.patch_spec(&json!({ "annotations": { "example.com/team": "data" } }));
    world.settle();
    let after = pod_uids(&world);
    assert!(before.iter().all(|(name, uid)| after[name] != *uid), "{}", world.last_words());
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_rollout_that_locked_its_first_member_is_taken_back() {
    let (mut world, changed) = asks_without_a_secret();
    assert_eq!(changed.len(), 1, "{changed:?}");
    world.patch_spec(&json!({ "auth": { "mode": "Off" } }));
    world.settle();
    world.expect_ring(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

/// It would let in the user that everybody knows. What a user can do is told.
#[test]
fn a_replacement_beside_a_member_that_stays_sealed_waits_for_its_secret() {
    let (mut world, changed) = asks_without_a_secret();
    let lost = ["demo-dc1-a-0", "demo-dc1-a-1"].into_iter().find(|m| *m != changed[0]).unwrap();
    world.delete(kinds::POD, lost);
    world.wipe_volume(lost);
    world.pass(1800);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("demo-agents"), "{degraded}");
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_leave_that_waits_for_a_password_holds_up_no_restart() {
    let mut world = a_ring(2, 1);
    world.ring.login = Login::Missing;
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.pass(300);
    assert_eq!(world.normal(), 3, "it waits\n{}", world.last_words());
    world.writes.clear();
    world.patch_spec(&json!({ "restartToken": "cure" }));
    world.pass(600);
    let restarts = world.story.iter().filter(|l| l.contains("stops its server: Restart")).count();
    assert_eq!(restarts, 3, "{}", world.last_words());
    let changes = world.writes.iter().filter(|w| w.contains("copies")).count();
    assert!(changes <= 1, "one change of the replication is wanted: {:?}", world.writes);
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(2);
}

/// A change of the replication that fails over and over stops no job each time.
#[test]
fn a_leave_that_waits_for_a_password_holds_up_no_task() {
    for (body, options, most) in [
        ("compact", json!({}), 4),
        ("repair", json!({}), 4),
        ("repair", json!({ "scope": "Due" }), 6),
    ] {
        let mut world = a_ring(2, 1);
        world.ring.login = Login::Missing;
        world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
        world.pass(120);
        ask(&mut world, "work", &task(body, &options));
        world.pass(900);
        let phase = status(&world, "work").phase;
        assert_eq!(phase, Some(TaskPhase::Done), "{body} {options}\n{}", world.last_words());
        let begun = world.ring.units.len();
        assert!(begun <= most, "{body} {options}: {begun} parts\n{}", world.last_words());
        // It is tried again all the same.
        world.ring.login = Login::Accepted;
        world.settle();
        world.expect_ring(2);
    }
}
