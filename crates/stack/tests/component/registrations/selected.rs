//! Services whose pods are to be registered, and that do not exist.

use super::{World, component, good, object, spec};
use palladion_api::Reason;
use palladion_plan::words::exchange::Failed;
use palladion_plan::workload::pod;
use palladion_stack::resources as kinds;
use serde_json::json;

#[test]
fn a_selected_service_that_does_not_exist_is_named() {
    let mut spec = spec();
    spec["select"] = json!([
        { "kind": "Component", "name": "control" },
        { "kind": "Component", "name": "contrl" },
    ]);
    spec["lookup"]["capture"] = json!({});
    spec["deregister"]["path"] = json!("/nodes/{{ pod.name }}");
    let mut world = World::new(spec);
    let call = world.decide().remove(0);
    let call = world.answer(&call, Err(Failed::Code { code: 404 })).remove(0);
    world.answer(&call, good(201, None));
    for type_ in ["Available", "Progressing"] {
        let (said, message) = world.says(type_);
        assert!(said.ends_with(Reason::SelectedAbsent.as_str()), "{type_}: {said} {message}");
        assert!(message.contains("Component contrl, which `select` names"), "{message}");
    }
    world.owner.body["spec"]["select"] = json!([{ "kind": "Component", "name": "control" }]);
    world.decide();
    assert_eq!(world.says("Available").0, format!("True {}", Reason::UpToDate));
}

#[test]
fn a_name_that_two_services_have_for_different_pods_is_told() {
    let mut spec = spec();
    spec["select"] = json!([
        { "kind": "Component", "name": "control" },
        { "kind": "NodeAgentGroup", "name": "kernel" },
    ]);
    let mut world = World::new(spec);
    world.objects.insert(kinds::GROUP, vec![object("kernel", json!({}), json!({ "spec": {} }))]);
    let on = |world: &mut World, node: &str| {
        let pod = json!({ "spec": { "nodeName": node }, "status": { "podIP": "10.1.0.9" } });
        let labels = json!({ "palladion.dev/node-agent-group": "kernel" });
        let all = world.objects.get_mut(&kinds::POD).unwrap();
        all.retain(|pod| pod.meta.name != "kernel-x7z");
        all.push(object("kernel-x7z", labels, pod::project(&pod)));
    };
    on(&mut world, "control-0");
    world.decide();
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::RegistrationFailed));
    for word in ["Component control and NodeAgentGroup kernel", "control-0"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    on(&mut world, "worker-1");
    component(&mut world, "control", 1, true);
    world.decide();
    assert_eq!(world.says("Degraded").0, "False UpToDate");
}
