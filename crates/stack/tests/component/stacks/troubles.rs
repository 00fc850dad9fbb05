//! A service that serves and is not as the Stack has it, or not well.

use super::{a_stack, all_say, begun, put_conditions, says, service};
use crate::world::World;
use palladion_api::Reason;
use palladion_stack::StackMind;
use palladion_stack::resources as kinds;
use serde_json::json;

/// What a service that serves says of itself besides.
fn serves_and_says(world: &mut World<StackMind>, name: &str, type_: &str, status: &str) {
    let conditions = json!([
        { "type": "Available", "status": "True", "reason": "X", "message": "3 of 3" },
        { "type": "Progressing", "status": "False", "reason": "X", "message": "at rest" },
        { "type": type_, "status": status, "reason": "X", "message": "file conf, line 3: no end" },
    ]);
    put_conditions(world, kinds::COMPONENT, name, conditions);
}

#[test]
fn a_service_that_refuses_its_spec_is_shown_though_it_serves() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    serves_and_says(&mut world, "config", "Accepted", "False");
    let config = service(&world, "config");
    assert_eq!((&config["ready"], &config["reason"]), (&json!(false), &json!("ChildRefused")));
    let message = config["message"].as_str().unwrap();
    assert!(message.contains("Component config") && message.contains("line 3"), "{message}");
    assert_eq!(world.status()["ready"], "2/3");
    assert_eq!(world.says("Available"), format!("False {}", Reason::ServicesNotReady));
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ChildRefused));
    serves_and_says(&mut world, "config", "Accepted", "True");
    assert_eq!((world.says("Available"), world.says("Degraded")), all_is_well());
}

fn all_is_well() -> (String, String) {
    ("True UpToDate".into(), "False UpToDate".into())
}

#[test]
fn a_service_that_is_degraded_is_shown_though_it_serves() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    serves_and_says(&mut world, "kube", "Degraded", "True");
    let kube = service(&world, "kube");
    assert_eq!(kube["ready"], true, "it serves");
    assert_eq!(kube["reason"], Reason::ServiceDegraded.as_str());
    assert!(kube["message"].as_str().unwrap().contains("line 3"), "{kube}");
    assert_eq!(world.says("Available"), "True UpToDate");
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ServiceDegraded));
    serves_and_says(&mut world, "kube", "Degraded", "False");
    assert_eq!((world.says("Available"), world.says("Degraded")), all_is_well());
}

#[test]
fn a_service_that_has_not_read_its_newest_spec_is_not_done() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    assert_eq!(world.says("Progressing"), "False UpToDate");
    let mut spec = a_stack();
    spec["services"][2]["spec"]["replicas"] = json!(5);
    world.set_spec(spec);
    assert_eq!(service(&world, "kube")["ready"], true, "it serves");
    assert_eq!(service(&world, "kube")["reason"], Reason::CreatingObjects.as_str());
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::CreatingObjects));
    assert_eq!(world.says("Degraded"), "False UpToDate");
    says(&mut world, kinds::COMPONENT, "kube", "True");
    assert_eq!(world.says("Progressing"), "False UpToDate");
}

/// As one of a newer release may be.
#[test]
fn a_stack_whose_spec_cannot_be_read_says_that_it_knows_nothing_of_its_services() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    assert_eq!(world.says("Available"), "True UpToDate");
    let mut spec = a_stack();
    spec["services"][0]["kind"] = json!("KafkaCluster");
    world.set_spec(spec);
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::InvalidSpec));
    for condition in ["Available", "Degraded"] {
        assert_eq!(world.says(condition), format!("Unknown {}", Reason::FactUnknown));
    }
    assert_eq!(world.status()["ready"], json!(null));
    world.set_spec(a_stack());
    assert_eq!((world.says("Available"), world.says("Degraded")), all_is_well());
    assert_eq!(world.status()["ready"], "3/3");
}

/// It serves, and has these conditions of these reasons besides.
fn serves_with(world: &mut World<StackMind>, name: &str, others: &[(&str, &str)]) {
    let of = |(type_, status): (&str, &str)| json!({ "type": type_, "status": status, "reason": "X", "message": "one of three" });
    let mut all = vec![of(("Available", "True"))];
    all.extend(others.iter().copied().map(of));
    put_conditions(world, kinds::COMPONENT, name, json!(all));
}

#[test]
fn a_service_that_rolls_serves_and_is_not_done() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    serves_with(&mut world, "kube", &[("Progressing", "True")]);
    assert_eq!(service(&world, "kube")["ready"], true);
    assert_eq!(service(&world, "kube")["message"], "Component kube: one of three");
    assert_eq!(world.says("Available"), "True UpToDate");
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::RollingOut));
    assert_eq!(world.says("Degraded"), "False UpToDate");
    // What is wrong with it besides is no end of it.
    serves_with(&mut world, "kube", &[("Progressing", "True"), ("Degraded", "True")]);
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::ServiceDegraded));
    serves_with(&mut world, "kube", &[("Progressing", "False"), ("Degraded", "True")]);
    assert_eq!(world.says("Progressing"), "False UpToDate");
}

#[test]
fn a_service_that_is_paused_does_not_carry_out_what_the_stack_has() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    serves_with(&mut world, "config", &[("Progressing", "False"), ("Paused", "True")]);
    assert_eq!(service(&world, "config")["ready"], true, "it serves");
    assert_eq!(service(&world, "config")["reason"], Reason::Paused.as_str());
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::Paused));
    all_say(&mut world, "True");
    assert_eq!(world.says("Progressing"), "False UpToDate");
}

#[test]
fn every_service_that_is_refused_is_shown() {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    world.refuse("spec is wrong", |key, new| {
        key.resource != kinds::STACK && new["spec"]["wrong"] == true
    });
    let mut spec = a_stack();
    for at in 0..2 {
        spec["services"][at]["spec"]["wrong"] = json!(true);
    }
    let mut absent = spec["services"][1].clone();
    absent["name"] = json!("new");
    spec["services"].as_array_mut().unwrap().insert(0, absent);
    world.set_spec(spec);
    world.pass(60);
    for name in ["new", "zk", "config"] {
        let shown = service(&world, name);
        assert_eq!(shown["reason"], Reason::ChildRefused.as_str(), "{name}: {shown}");
        assert_eq!(shown["ready"], false, "{name} has not the spec of the Stack");
        assert!(shown["message"].as_str().unwrap().contains("spec is wrong"), "{shown}");
    }
    assert_eq!(service(&world, "kube")["ready"], true);
    world.set_spec(a_stack());
    world.pass(60);
    assert!(service(&world, "config").get("reason").is_none());
}
