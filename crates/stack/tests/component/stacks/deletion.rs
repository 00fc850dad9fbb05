//! What goes with the Stack when it is deleted, and what no longer does.

use super::{a_stack, begun};
use crate::world::{NAMESPACE, World};
use palladion_plan::{ObjectKey, Resource, Subresource};
use palladion_stack::StackMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

/// Would Kubernetes delete it with the Stack?
fn goes_with_it(world: &World<StackMind>, resource: Resource, name: &str) -> bool {
    let object = world.get(resource, name).unwrap();
    let owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.iter().any(|owner| owner["uid"] == world.owner()["metadata"]["uid"])
}

/// A Stack whose services go with it.
fn that_takes_its_services_along() -> (World<StackMind>, Value) {
    let mut spec = a_stack();
    spec["deletionPolicy"] = json!("Delete");
    let world = begun(spec.clone());
    for (kind, name) in [(kinds::ZOOKEEPER, "zk"), (kinds::COMPONENT, "config")] {
        assert!(goes_with_it(&world, kind, name));
    }
    (world, spec)
}

#[test]
fn what_the_stack_no_longer_writes_no_longer_goes_with_it() {
    let (mut world, mut spec) = that_takes_its_services_along();
    // Another owner's reference is its own matter, with all its fields.
    let key = ObjectKey::new(kinds::COMPONENT, NAMESPACE, "kube");
    let other = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u-1",
        "controller": false, "blockOwnerDeletion": true });
    let mut owners =
        world.get(kinds::COMPONENT, "kube").unwrap()["metadata"]["ownerReferences"].clone();
    owners.as_array_mut().unwrap().push(other.clone());
    let both = json!({ "metadata": { "ownerReferences": owners } });
    world.store.merge(&key, &both, Subresource::None).unwrap();
    // One is not active, one has lost its label, one is left behind.
    spec["services"][0]["activate"] = json!(false);
    spec["services"][0]["create"] = json!(false);
    let off = json!({ "metadata": { "labels": { "palladion.dev/stack": null } } });
    let config = ObjectKey::new(kinds::COMPONENT, NAMESPACE, "config");
    world.store.merge(&config, &off, Subresource::None).unwrap();
    spec["services"].as_array_mut().unwrap().remove(2);
    world.set_spec(spec);
    assert!(!goes_with_it(&world, kinds::ZOOKEEPER, "zk"), "not active");
    assert!(!goes_with_it(&world, kinds::COMPONENT, "config"), "not given to the Stack any more");
    assert!(!goes_with_it(&world, kinds::COMPONENT, "kube"), "left behind");
    let kube = world.get(kinds::COMPONENT, "kube").unwrap();
    assert_eq!(kube["metadata"]["ownerReferences"], json!([other]));
    let writes = world.writes();
    world.pass(60);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
}

#[test]
fn the_policy_that_stands_is_kept_under_a_pause_too_and_though_specs_are_refused() {
    let (mut world, mut spec) = that_takes_its_services_along();
    world.refuse("spec.servers: must be odd", |key, new| {
        key.resource == kinds::ZOOKEEPER && new["spec"]["servers"] == 4
    });
    spec["services"][0]["spec"]["servers"] = json!(4);
    spec["deletionPolicy"] = json!("Orphan");
    world.set_spec(spec);
    assert!(!goes_with_it(&world, kinds::ZOOKEEPER, "zk"), "its spec is refused");

    let (mut world, mut spec) = that_takes_its_services_along();
    spec["deletionPolicy"] = json!("Orphan");
    spec["paused"] = json!(true);
    spec["services"][2]["spec"]["replicas"] = json!(5);
    world.set_spec(spec);
    assert!(!goes_with_it(&world, kinds::ZOOKEEPER, "zk"), "paused");
    let kube = world.get(kinds::COMPONENT, "kube").unwrap();
    assert_eq!(kube["spec"]["replicas"], 3, "nothing else is written");
}
