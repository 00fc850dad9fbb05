//! Services whose pods are to be registered, and that do not exist.

use super::{World, good, spec};
use palladion_api::Reason;
use palladion_plan::words::exchange::Failed;
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
