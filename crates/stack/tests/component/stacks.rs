//! Many services from one manifest, with one status.

mod deletion;
mod troubles;

use crate::world::{NAMESPACE, World};
use palladion_api::Reason;
use palladion_plan::{ObjectKey, Resource, Subresource};
use palladion_stack::StackMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

pub fn a_stack() -> Value {
    let on = |kind: &str, name: &str| json!({ "kind": kind, "name": name });
    let component = |name: &str, depends_on: Value| {
        json!({ "name": name, "kind": "Component", "activate": true, "create": true, "spec": {
            "template": { "spec": { "containers": [{ "name": "c", "image": "good:1" }] } },
            "network": { "ports": [{ "name": "http", "port": 80 }] },
            "dependsOn": depends_on,
        } })
    };
    json!({ "common": { "replicas": 3 }, "services": [
        { "name": "zk", "kind": "ZookeeperCluster", "activate": true, "create": true, "spec": { "version": "3.9.3" } },
        component("config", json!([on("ZookeeperCluster", "zk")])),
        component("kube", json!([on("Component", "config"), on("ZookeeperCluster", "zk")])),
    ] })
}

pub fn begun(spec: Value) -> World<StackMind> {
    let mut world = World::of(ObjectKey::new(kinds::STACK, NAMESPACE, "contrail"), spec);
    world.settle();
    world
}

/// A service says how it is.
fn says(world: &mut World<StackMind>, resource: Resource, name: &str, available: &str) {
    let conditions = json!([
        { "type": "Available", "status": available, "reason": "X", "message": "3 of 3" },
        { "type": "Progressing", "status": if available == "True" { "False" } else { "True" },
            "reason": "X", "message": "waiting for a pod" },
    ]);
    put_conditions(world, resource, name, conditions);
}

/// It says this of the spec that it has now.
fn put_conditions(world: &mut World<StackMind>, resource: Resource, name: &str, all: Value) {
    let key = ObjectKey::new(resource, NAMESPACE, name);
    let generation = world.get(resource, name).unwrap()["metadata"]["generation"].clone();
    let status = json!({ "observedGeneration": generation, "conditions": all });
    world.store.put_status(&key, status).unwrap();
    world.settle();
}

pub fn all_say(world: &mut World<StackMind>, available: &str) {
    says(world, kinds::ZOOKEEPER, "zk", available);
    for name in ["config", "kube"] {
        says(world, kinds::COMPONENT, name, available);
    }
}

fn service(world: &World<StackMind>, name: &str) -> Value {
    let status = world.status();
    let mut all = status["services"].as_array().into_iter().flatten();
    all.find(|s| s["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn all_services_are_created_at_once_and_shown_with_their_layers() {
    let mut world = begun(a_stack());
    assert_eq!(world.get(kinds::ZOOKEEPER, "zk").unwrap()["spec"]["servers"], 3);
    assert_eq!(world.get(kinds::COMPONENT, "kube").unwrap()["spec"]["replicas"], 3);
    assert_eq!(world.status()["ready"], "0/3");
    assert_eq!(world.says("Available"), format!("False {}", Reason::ServicesNotReady));
    let layers = ["zk", "config", "kube"].map(|name| service(&world, name)["layer"].clone());
    assert_eq!(layers, [json!(0), json!(1), json!(2)]);
    all_say(&mut world, "True");
    assert_eq!(world.status()["ready"], "3/3");
    assert_eq!(world.says("Available"), "True UpToDate");
    assert!(service(&world, "kube").get("message").is_none());
    says(&mut world, kinds::COMPONENT, "config", "False");
    assert_eq!(service(&world, "config")["message"], "Component config: waiting for a pod");
    let writes = world.writes();
    world.pass(60);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
}

#[test]
fn node_agents_have_their_place_above_what_they_depend_on() {
    let mut spec = a_stack();
    let on = json!([{ "kind": "Component", "name": "kube" }]);
    spec["services"].as_array_mut().unwrap().push(json!({
        "name": "agents", "kind": "NodeAgentGroup", "activate": true, "create": true,
        "spec": { "agent": "vrouter", "nodeSelector": { "a": "b" }, "dependsOn": on },
    }));
    let world = begun(spec);
    assert_eq!(service(&world, "agents")["layer"], 3);
}

#[test]
fn what_is_not_active_is_left_as_it_is() {
    let mut world = begun(a_stack());
    let mut spec = a_stack();
    spec["services"][1]["activate"] = json!(false);
    spec["services"][1]["create"] = json!(false);
    spec["services"][1]["spec"]["template"]["spec"]["containers"][0]["image"] = json!("good:2");
    world.set_spec(spec);
    let image = "/spec/template/spec/containers/0/image";
    let config = world.get(kinds::COMPONENT, "config").unwrap();
    assert_eq!(config.pointer(image), Some(&json!("good:1")));
    assert_eq!(service(&world, "config")["active"], false);
    assert_eq!(world.status()["ready"], "0/2");
}

#[test]
fn an_object_that_exists_is_left_as_it_is_until_it_is_given_to_the_stack() {
    let mut spec = a_stack();
    for at in 0..3 {
        spec["services"][at]["create"] = json!(false);
    }
    let mut world = begun(spec);
    assert!(world.get(kinds::COMPONENT, "config").is_none());
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ChildAbsent));
    assert_eq!(service(&world, "zk")["reason"], Reason::ChildAbsent.as_str());
    let own = json!({ "kind": "ZookeeperCluster", "metadata": { "name": "zk", "namespace": NAMESPACE },
        "spec": { "servers": 1, "heapSize": "1Gi" } });
    let key = ObjectKey::new(kinds::ZOOKEEPER, NAMESPACE, "zk");
    world.store.create(&key, &own).unwrap();
    world.settle();
    let zk = world.get(kinds::ZOOKEEPER, "zk").unwrap();
    assert_eq!(zk["spec"], json!({ "servers": 1, "heapSize": "1Gi" }));
    assert!(zk["metadata"]["labels"].get("palladion.dev/stack").is_none());
    assert_eq!(service(&world, "zk")["reason"], Reason::NotOfThisStack.as_str());
    let message = service(&world, "zk")["message"].to_string();
    assert!(message.contains("label it `palladion.dev/stack=contrail`"), "{message}");
    let given = json!({ "metadata": { "labels": { "palladion.dev/stack": "contrail" } } });
    world.store.merge(&key, &given, Subresource::None).unwrap();
    world.settle();
    let spec = world.get(kinds::ZOOKEEPER, "zk").unwrap()["spec"].clone();
    assert_eq!(spec, json!({ "servers": 3, "version": "3.9.3", "heapSize": "1Gi" }));
    assert_eq!(service(&world, "zk")["created"], false);
}

#[test]
fn a_service_that_is_taken_out_stays_and_is_named() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    let mut spec = a_stack();
    spec["services"].as_array_mut().unwrap().remove(2);
    world.set_spec(spec);
    assert!(world.get(kinds::COMPONENT, "kube").is_some());
    assert_eq!(world.status()["leftBehind"], json!([{ "kind": "Component", "name": "kube" }]));
    assert_eq!(world.status()["ready"], "2/2");
    world.set_spec(a_stack());
    assert!(world.status().get("leftBehind").is_none());
}

#[test]
fn only_what_it_has_created_goes_with_it_and_only_if_it_may() {
    let owned = |world: &World<StackMind>, name: &str| {
        world.get(kinds::COMPONENT, name).unwrap()["metadata"]["ownerReferences"].is_array()
    };
    let mut world = begun(a_stack());
    assert!(!owned(&world, "config"), "by default all stays");
    let mut spec = a_stack();
    spec["deletionPolicy"] = json!("Delete");
    world.set_spec(spec);
    assert!(owned(&world, "config"));
    world.set_spec(a_stack());
    assert!(!owned(&world, "config"));
    assert_eq!(service(&world, "config")["created"], true);
}

#[test]
fn what_one_service_is_refused_holds_up_no_other() {
    let mut world = begun(a_stack());
    world.refuse("spec.servers: must be odd", |key, new| {
        key.resource == kinds::ZOOKEEPER && new["spec"]["servers"] == 4
    });
    let mut spec = a_stack();
    spec["services"][0]["spec"]["servers"] = json!(4);
    spec["services"][2]["spec"]["replicas"] = json!(5);
    world.set_spec(spec);
    world.pass(60);
    assert_eq!(world.get(kinds::COMPONENT, "kube").unwrap()["spec"]["replicas"], 5);
    assert_eq!(service(&world, "zk")["reason"], Reason::ChildRefused.as_str());
    let message = service(&world, "zk")["message"].clone();
    assert!(message.as_str().unwrap().contains("must be odd"), "{message}");
    world.set_spec(a_stack());
    world.pass(60);
    assert_ne!(service(&world, "zk")["reason"], Reason::ChildRefused.as_str());
}

#[test]
fn a_service_of_another_stack_is_not_touched() {
    let mut world = begun(a_stack());
    let key = ObjectKey::new(kinds::COMPONENT, NAMESPACE, "config");
    let taken = json!({ "metadata": { "labels": { "palladion.dev/stack": "other" } } });
    world.store.merge(&key, &taken, Subresource::None).unwrap();
    let mut spec = a_stack();
    spec["services"][1]["spec"]["replicas"] = json!(7);
    world.set_spec(spec);
    assert_eq!(world.get(kinds::COMPONENT, "config").unwrap()["spec"]["replicas"], 3);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ForeignObject));
}
