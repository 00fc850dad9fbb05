//! The target as an object: one that was created again knows nobody. And what is kept of
//! its answers.

use super::{World, component, good, spec};
use palladion_api::Reason;
use palladion_plan::words::exchange::Failed;
use palladion_stack::resources as kinds;
use serde_json::json;

/// One pod, which is registered.
fn registered() -> World {
    let mut world = World::new(spec());
    let asked = world.decide();
    assert_eq!(world.answer(&asked[0], good(200, Some("7"))), []);
    assert_eq!(world.says("Available").0, "True UpToDate");
    world.answers.clear();
    world
}

#[test]
fn a_target_that_was_created_again_knows_nobody() {
    let mut world = registered();
    assert_eq!(world.decide(), [], "the same target is not asked again");
    component(&mut world, "config", 2, true);
    let all = world.objects.get_mut(&kinds::COMPONENT).unwrap();
    let target = all.iter_mut().find(|c| c.meta.name == "config").unwrap();
    target.meta.uid = "another".into();
    let asked = world.decide();
    assert_eq!(world.says("Available").0, format!("False {}", Reason::Registering));
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].method, "GET");
    let told = world.answer(&asked[0], Err(Failed::Code { code: 404 }));
    assert_eq!(told[0].method, "POST");
    assert_eq!(world.answer(&told[0], good(201, None)).len(), 1, "it is looked up");
}

#[test]
fn a_registration_of_before_does_not_start_again() {
    let mut world = registered();
    world.owner.body["status"].as_object_mut().unwrap().remove("targetUID");
    assert_eq!(world.decide(), []);
    assert_eq!(world.says("Available").0, "True UpToDate");
    assert_eq!(world.owner.body["status"]["targetUID"], "uid-of-config");
}

#[test]
fn what_is_kept_of_answers_is_bounded_and_said() {
    let mut spec = spec();
    spec["lookup"]["capture"] = json!({ "id": "/id", "more": "/more" });
    let mut world = World::new(spec);
    let asked = world.decide();
    let mut answer = good(200, Some(&"x".repeat(200))).unwrap();
    answer.values.insert("more".into(), "y".repeat(51));
    assert_eq!(world.answer(&asked[0], Ok(answer.clone())), []);
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::RegistrationFailed));
    assert!(message.contains("257 bytes") && message.contains("256"), "{message}");
    assert!(world.owner.body["status"]["entries"][0].get("captured").is_none());
    world.now += jiff::SignedDuration::from_secs(61);
    let asked = world.decide();
    answer.values.insert("more".into(), "y".repeat(50));
    world.answer(&asked[0], Ok(answer));
    assert_eq!(world.says("Available").0, "True UpToDate");
}

/// As many entries as a status holds, each as long as answers and names may be: those of pods
/// and nodes are values of labels.
#[test]
fn the_longest_status_fits_into_an_object() {
    let mut world = World::new(spec());
    component(&mut world, "control", 1000, true);
    world.decide();
    let status = &mut world.owner.body["status"];
    let entry = json!({
        "name": "n".repeat(63), "address": "a".repeat(63), "state": "Deregistering",
        "call": { "kind": "Deregister", "nonce": "n".repeat(36), "epoch": 123_456_789 },
        "attempts": 2_147_483_647, "lastTry": world.now, "goneSince": world.now,
        "cause": "Unreachable", "message": "m".repeat(128), "ip": "i".repeat(45),
        "node": "n".repeat(63), "hash": "h".repeat(32),
        "captured": { "a": "v".repeat(palladion_api::registration::status::MOST_CAPTURED - 1) },
    });
    let entries = status["entries"].as_array_mut().unwrap();
    assert_eq!(entries.len(), palladion_api::registration::status::MOST_ENTRIES);
    entries.fill(entry);
    // An object may have 1.5 MiB; conditions, spec and managed fields have the rest.
    assert!(status.to_string().len() < 1_200_000, "{} bytes", status.to_string().len());
}
