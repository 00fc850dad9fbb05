//! Removals that need what the service calls a pod, and how that is found out late.

use super::{World, component, good, spec};
use jiff::SignedDuration;
use palladion_api::Reason;
use palladion_plan::Exchange;
use palladion_plan::words::exchange::Failed;
use serde_json::json;

/// Its registration brings what its removal needs, and it was there already.
fn without_its_name() -> World {
    let mut spec = spec();
    spec["lookup"]["capture"] = json!({});
    spec["register"]["capture"] = json!({ "id": "/id" });
    let mut world = World::new(spec);
    let call = world.decide().remove(0);
    assert_eq!(world.answer(&call, good(200, None)), []);
    world
}

/// One decision a while later, when whatever has failed may be tried again.
fn later(world: &mut World) -> Vec<Exchange> {
    world.now += SignedDuration::from_secs(61);
    world.decide()
}

fn calls(all: &[Exchange]) -> Vec<(&str, &str)> {
    all.iter().map(|call| (call.method, call.path.as_str())).collect()
}

#[test]
fn what_a_removal_lacks_is_asked_for_once_the_lookup_brings_it() {
    let mut world = without_its_name();
    component(&mut world, "control", 0, false);
    world.decide();
    assert_eq!(later(&mut world), []);
    world.decide();
    world.owner.body["spec"]["lookup"]["capture"] = json!({ "id": "/id" });
    let asked = later(&mut world);
    assert_eq!(calls(&asked), [("GET", "/nodes/control-0")]);
    let removed = world.answer(&asked[0], good(200, Some("7")));
    assert_eq!(calls(&removed), [("DELETE", "/nodes/7")]);
    assert_eq!(world.answer(&removed[0], good(204, None)), []);
    assert!(world.owner.body["status"]["entries"].is_null());
    assert_eq!(world.says("Degraded").0, "False UpToDate");
}

#[test]
fn what_a_removal_lacks_is_asked_for_of_a_pod_that_is_registered_otherwise() {
    let mut world = without_its_name();
    world.owner.body["spec"]["lookup"]["capture"] = json!({ "id": "/id" });
    world.owner.body["spec"]["register"]["path"] = json!("/nodes/all");
    assert_eq!(world.decide(), [], "what it is called there is not known");
    world.decide();
    let asked = later(&mut world);
    assert_eq!(calls(&asked), [("GET", "/nodes/control-0")]);
    let removed = world.answer(&asked[0], good(200, Some("7")));
    assert_eq!(calls(&removed), [("DELETE", "/nodes/7")]);
    let asked = world.answer(&removed[0], good(204, None));
    assert_eq!(calls(&asked), [("GET", "/nodes/control-0")]);
    let told = world.answer(&asked[0], Err(Failed::Code { code: 404 }));
    assert_eq!(calls(&told), [("POST", "/nodes/all")]);
    world.answer(&told[0], good(201, Some("8")));
    assert_eq!(world.says("Available").0, "True UpToDate");
    assert_eq!(world.says("Degraded").0, "False UpToDate");
}

/// A service that never says what it calls a pod is asked less and less.
#[test]
fn a_lookup_that_does_not_bring_it_takes_its_turns_with_the_removal() {
    let mut world = without_its_name();
    world.owner.body["spec"]["lookup"]["capture"] = json!({ "id": "/id" });
    component(&mut world, "control", 0, false);
    world.decide();
    let mut asked = 0;
    for _ in 0..1200 {
        world.now += SignedDuration::from_secs(1);
        for call in world.decide() {
            assert_eq!(call.method, "GET");
            asked += 1;
            world.answer(&call, good(200, None));
        }
    }
    assert!((8..20).contains(&asked), "{asked} calls in twenty minutes");
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::RegistrationFailed));
    assert!(message.contains("deregister.path"), "{message}");
    // Where it is taken out by its own name after all, no lookup is in the way.
    world.owner.body["spec"]["deregister"]["path"] = json!("/nodes/{{ pod.name }}");
    let mut calls = Vec::new();
    for _ in 0..3 {
        for call in later(&mut world) {
            calls.push(call.method);
            let code = if call.method == "DELETE" { Ok(204) } else { Err(500) };
            let end = code.map(|code| good(code, None).unwrap());
            world.answer(&call, end.map_err(|code| Failed::Code { code }));
        }
    }
    assert!(calls.contains(&"DELETE"), "{calls:?}");
    assert!(world.owner.body["status"]["entries"].is_null());
}

#[test]
fn one_that_comes_back_while_it_could_not_be_removed_has_no_trouble_left() {
    let mut world = without_its_name();
    world.owner.body["spec"]["lookup"]["capture"] = json!({ "id": "/id" });
    component(&mut world, "control", 0, false);
    world.decide();
    later(&mut world);
    world.decide();
    let asked = later(&mut world);
    assert_eq!(world.answer(&asked[0], good(200, None)), []);
    assert_eq!(world.says("Degraded").0, format!("True {}", Reason::RegistrationFailed));
    component(&mut world, "control", 1, true);
    world.decide();
    assert_eq!(world.says("Available").0, "True UpToDate");
    assert_eq!(world.says("Degraded").0, "False UpToDate");
}
