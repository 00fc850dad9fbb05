//! The NetworkPolicy of a ring: there where it is asked for, put back, and gone where it is not.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, two_racks};
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAME: &str = "demo-dc1";

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::NETWORK_POLICY, NAMESPACE, name)
}

fn policy(world: &World) -> Option<Value> {
    world.store.get(&key(NAME)).map(|policy| policy["spec"].clone())
}

fn pods(world: &World) -> BTreeMap<String, String> {
    let uid = |o: &Value| o["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), uid(pod))).collect()
}

fn managed() -> World {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "network": { "policy": "Managed" } }));
    world.settle();
    world
}

#[test]
fn a_ring_has_a_policy_where_it_asks_for_one_and_restarts_nobody_for_it() {
    let mut world = a_ring(2, 1);
    assert_eq!(policy(&world), None, "nobody has asked for it");
    let before = pods(&world);
    world.patch_spec(&json!({ "network": { "policy": "Managed" } }));
    let mut end = killed_at_every_write("a ring gets a policy", world, 1);
    let spec = policy(&end).unwrap();
    assert_eq!(spec["ingress"][1], json!({ "ports": [{ "port": 9042, "protocol": "TCP" }] }));
    let orders = json!({ "podSelector": { "matchLabels": { "app": "orders" } } });
    end.patch_spec(&json!({ "network": { "policy": "Managed", "clientsFrom": [orders] } }));
    end.settle();
    assert_eq!(policy(&end).unwrap()["ingress"][1]["from"], json!([orders]));
    // Leaving it out is to ask for none.
    end.patch_spec(&json!({ "network": null }));
    let end = killed_at_every_write("a ring loses its policy", end, 1);
    assert_eq!(policy(&end), None, "{}", end.last_words());
    assert_eq!(pods(&end), before, "{}", end.last_words());
}

#[test]
fn the_first_pod_of_a_ring_comes_after_its_policy() {
    let mut cluster = two_racks();
    cluster["spec"]["network"] = json!({ "policy": "Managed" });
    let mut world = World::new().with(&cluster);
    world.until(|w| w.store.list(kinds::STATEFUL_SET).next().is_some());
    assert!(policy(&world).is_some(), "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
}

/// What is added to a rule, and takes nothing away, only the engine sees.
#[test]
fn what_somebody_changes_in_it_is_put_back() {
    type Change = fn(&mut Value);
    let changes: [Change; 4] = [
        |spec| spec["ingress"][0]["from"] = json!([{ "podSelector": {} }]),
        |spec| spec["ingress"][0]["ports"][0]["port"] = json!(7001),
        |spec| spec["policyTypes"] = json!(["Ingress", "Egress"]),
        |spec| spec["ingress"].as_array_mut().unwrap().push(json!({})),
    ];
    let mut world = managed();
    let right = policy(&world).unwrap();
    for (number, change) in changes.into_iter().enumerate() {
        let mut changed = right.clone();
        change(&mut changed);
        let patch = json!({ "spec": changed });
        world.store.merge(&key(NAME), &patch, Subresource::None).unwrap();
        assert_ne!(policy(&world).as_ref(), Some(&right), "change {number}");
        world.settle();
        assert_eq!(
            policy(&world).as_ref(),
            Some(&right),
            "change {number}: {}",
            world.last_words()
        );
    }
    world.delete(kinds::NETWORK_POLICY, NAME);
    world.settle();
    assert_eq!(policy(&world), Some(right), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_policy_of_a_user_stays_and_one_of_that_name_is_reported() {
    let mut world = a_ring(2, 1);
    let ours =
        json!({ "app.kubernetes.io/managed-by": "palladion", "palladion.dev/cluster": "demo" });
    let create = |world: &mut World, name: &str, labels: Value| {
        let meta = json!({ "name": name, "namespace": NAMESPACE, "labels": labels });
        let object = json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta,
            "spec": { "podSelector": {} },
        });
        world.store.create(&key(name), &object).unwrap();
    };
    // As somebody labels it who copies ours.
    create(&mut world, "of-a-user", ours);
    create(&mut world, NAME, json!({}));
    let theirs = policy(&world);
    world.settle();
    assert_eq!(policy(&world), theirs);
    world.patch_spec(&json!({ "network": { "policy": "Managed" } }));
    world.pass(120);
    assert_eq!(policy(&world), theirs);
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True ForeignObject") && degraded.contains(NAME), "{degraded}");
    world.delete(kinds::NETWORK_POLICY, NAME);
    world.settle();
    world.expect_ring(3);
    assert_ne!(policy(&world), theirs);
    assert!(world.store.get(&key("of-a-user")).is_some());
}
