//! What dependents read: members on record, and whether a majority is ready.

use crate::world::{World, a_spec, with};
use palladion_stack::resources::COMPONENT;
use serde_json::{Value, json};

fn names(world: &World) -> Vec<String> {
    let service = world.status()["service"].clone();
    let nodes = service["nodes"].as_array().cloned().unwrap_or_default();
    nodes.iter().map(|n| n["name"].as_str().unwrap().to_string()).collect()
}

fn number(world: &World, field: &str) -> Value {
    world.status()["service"][field].clone()
}

#[test]
fn pods_are_on_record_from_their_first_start_to_their_removal() {
    let mut world = World::new(a_spec());
    world.pass(5);
    assert!(names(&world).is_empty(), "none has started");
    world.ring(3, 3);
    world.pass(5);
    assert_eq!(names(&world), ["web-0", "web-1"]);
    assert_eq!(number(&world, "ports"), json!({ "http": 8082 }));
    let before = world.status()["service"]["nodes"].clone();
    world.ring(3, 1);
    world.restart_sandbox("web-0");
    world.pass(30);
    assert_eq!(world.status()["service"]["nodes"], before, "a restart rewrites no dependent");
    assert_eq!((number(&world, "ready"), number(&world, "active")), (json!(1), json!(false)));
    world.delete_pod("web-0");
    assert_eq!(world.status()["service"]["nodes"], before);
    world.set_spec(with(a_spec(), "/replicas", json!(1)));
    assert_eq!(names(&world), ["web-0"], "that one is no longer wanted");
}

#[test]
fn growth_closes_no_gate_and_too_few_at_first_do() {
    let three = || with(a_spec(), "/replicas", json!(3));
    let mut world = World::new(three());
    world.kubelet.sick.extend(["web-1".to_string(), "web-2".to_string()]);
    world.ring(3, 3);
    world.pass(10);
    assert_eq!(number(&world, "active"), json!(false), "one of three that are wanted");
    world.kubelet.sick.clear();
    world.pass(5);
    assert_eq!(number(&world, "active"), json!(true));
    world.kubelet.sick.extend(["web-3", "web-4", "web-5", "web-6"].map(str::to_string));
    world.set_spec(with(a_spec(), "/replicas", json!(7)));
    world.pass(10);
    assert_eq!(number(&world, "wanted"), json!(7));
    assert_eq!(names(&world).len(), 3);
    assert_eq!(number(&world, "active"), json!(true), "three of three on record");
}

#[test]
fn after_all_have_left_too_few_at_first_close_gates_again() {
    let of = |replicas: i32| with(a_spec(), "/replicas", json!(replicas));
    let mut world = World::settled(of(3));
    assert_eq!(number(&world, "active"), json!(true));
    world.set_spec(of(0));
    world.pass(20);
    assert!(names(&world).is_empty());
    world.kubelet.sick.extend(["web-1".to_string(), "web-2".to_string()]);
    world.set_spec(of(3));
    world.pass(10);
    assert_eq!(number(&world, "ready"), json!(1));
    assert_eq!(number(&world, "active"), json!(false), "one of three that are wanted");
    world.kubelet.sick.clear();
    world.pass(5);
    assert_eq!(number(&world, "active"), json!(true));
}

#[test]
fn one_component_waits_for_another() {
    let on = json!([{ "kind": "Component", "name": "base" }]);
    let spec = with(a_spec(), "/dependsOn", on);
    let template = json!("{{ dependencies.base.addresses | join(' ') }}");
    let mut world = World::new(with(spec, "/config/files/0/template", template));
    world.component("base", &[]);
    world.pass(5);
    assert!(world.kubelet.starts.is_empty());
    let nodes = json!([{ "name": "base-0", "address": "10.96.2.1" }]);
    let service = json!({ "active": true, "wanted": 1, "ready": 1, "nodes": nodes });
    world.dependency(COMPONENT, "base", service);
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 2, "{}", world.status());
    assert_eq!(world.texts()["web-0.conf"], "10.96.2.1");
    assert_eq!(world.status()["layer"], 1);
}
