//! Agents of one version beside an operator of another: words of a member that
//! only the newer one knows. Nobody stops watching, nobody takes them for nothing,
//! and what is on record stays there.

use crate::every::a_ring;
use crate::jobs::task;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::Link;
use crate::tasks::ask;
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

fn member(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::MEMBER, NAMESPACE, name)
}

fn spec(world: &World, name: &str) -> Value {
    world.store.get(&member(name)).expect("the member should exist")["spec"].clone()
}

/// `Degraded` names the field.
fn expect_named(world: &World, field: &str) {
    let degraded = world.condition("Degraded");
    let named = degraded.contains("FactUnknown") && degraded.contains(field);
    assert!(named, "{degraded}\n{}", world.last_words());
}

#[test]
fn maintenance_that_only_a_newer_operator_knows_stays_on_record() {
    let mut world = a_ring(2, 1);
    let newer = json!({ "kind": "Scrub", "ranges": "Secondary", "reason": "a newer operator" });
    let patch = json!({ "spec": { "pendingMaintenance": [newer] } });
    world.store.merge(&member("demo-dc1-a-0"), &patch, Subresource::None).unwrap();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    assert_eq!(world.ring.full_members(), 4, "{}", world.last_words());
    let pending = &spec(&world, "demo-dc1-a-0")["pendingMaintenance"];
    assert_eq!(*pending, json!([newer]), "its own cleanup is done\n{}", world.last_words());
    expect_named(&world, "spec.pendingMaintenance.kind");
}

#[test]
fn an_operation_that_an_agent_does_not_know_is_refused_by_name() {
    let mut world = a_ring(2, 1);
    let patch = json!({ "spec": { "operation": { "id": "o-1", "kind": "Scrub" } } });
    world.store.merge(&member("demo-dc1-a-0"), &patch, Subresource::None).unwrap();
    world.settle();
    let answer = world.store.get(&member("demo-dc1-a-0")).unwrap()["status"]["operation"].clone();
    let message = answer["message"].as_str().unwrap_or_default();
    let refused = answer["state"] == "Failed" && message.contains("`Scrub`");
    assert!(refused, "{answer}\n{}", world.last_words());
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    // It hears what comes next.
    let patch = json!({ "spec": { "operation": null, "restartToken": "now" } });
    world.store.merge(&member("demo-dc1-a-0"), &patch, Subresource::None).unwrap();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_run_state_that_an_agent_does_not_know_stops_nothing() {
    let mut world = a_ring(2, 1);
    let patch = json!({ "spec": { "run": "Hibernated" } });
    world.store.merge(&member("demo-dc1-a-0"), &patch, Subresource::None).unwrap();
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    expect_named(&world, "spec.run");
}

/// It may be a repair: what the member lacks would be all that the new one streams.
#[test]
fn a_repair_that_only_a_newer_operator_knows_comes_before_a_replacement() {
    let mut world = a_ring(2, 1);
    let newer = json!({ "kind": "Repair", "ranges": "Secondary", "reason": "a newer operator" });
    let patch = json!({ "spec": { "pendingMaintenance": [newer] } });
    world.store.merge(&member("demo-dc1-a-0"), &patch, Subresource::None).unwrap();
    world.settle();
    crate::maintenance::lose(&mut world, "demo-dc1-a-1");
    world.pass(600);
    let degraded = world.condition("Degraded");
    let parts = ["demo-dc1-a-0", "demo-dc1-a-1", "pendingMaintenance"];
    assert!(parts.iter().all(|part| degraded.contains(part)), "{degraded}");
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    // The way out that it names.
    let nothing = json!({ "spec": { "pendingMaintenance": [] } });
    world.store.merge(&member("demo-dc1-a-0"), &nothing, Subresource::None).unwrap();
    world.settle();
    world.expect_ring(3);
}

/// The schema of a task has no word for what is not known: its status would be refused.
#[test]
fn the_status_of_a_task_repeats_no_word_of_an_agent_that_the_operator_does_not_know() {
    let first = "demo-dc1-a-0";
    let mut world = a_ring(2, 1);
    world.ring.hanging.insert(first.into());
    let mut work = task("compact", &json!({}));
    work["members"] = json!([first]);
    ask(&mut world, "work", &work);
    let job = |w: &World| w.store.get(&member(first)).map(|m| m["status"]["job"].clone());
    world.until(|w| job(w).is_some_and(|job| job["state"] == "Running"));
    world.agent_is_cut(first, Link::Cut);
    let report = |world: &mut World, state: &str| {
        let results = json!([{ "name": "shop", "state": "Halted", "seconds": 1 }]);
        let job = json!({ "state": state, "unit": "Pages", "done": 1, "results": results });
        let patch = json!({ "status": { "job": job } });
        world.store.merge(&member(first), &patch, Subresource::Status).unwrap();
        world.pass(30);
    };
    let told = |world: &World| {
        let key = ObjectKey::new(kinds::TASK, NAMESPACE, "work");
        world.store.get(&key).expect("the task should exist")["status"].to_string()
    };
    for state in ["Running", "Succeeded"] {
        report(&mut world, state);
        assert!(!told(&world).contains("Unknown"), "{state}: {}", told(&world));
        expect_named(&world, "status.job");
    }
}
