//! The target as an object: one that was created again knows nobody. And what is kept of
//! its answers.

use super::{World, component, good, spec};
use palladion_api::Reason;
use palladion_plan::words::exchange::Failed;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

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

/// The target is being deleted; what holds it up is none of the operator's.
fn is_leaving(world: &mut World) {
    let now = world.now;
    let all = world.objects.get_mut(&kinds::COMPONENT).unwrap();
    let target = all.iter_mut().find(|c| c.meta.name == "config").unwrap();
    target.meta.deletion_timestamp = Some(now);
}

#[test]
fn a_target_that_is_being_deleted_or_gone_is_not_called_and_that_is_said() {
    let mut world = registered();
    is_leaving(&mut world);
    component(&mut world, "control", 2, true);
    let waits = |world: &mut World, words: &str| {
        assert_eq!(world.decide(), []);
        let (said, message) = world.says("Progressing");
        assert_eq!(said, format!("True {}", Reason::WaitingForTarget));
        assert!(message.contains(words), "{message}");
        assert_eq!(world.says("Available").0, format!("False {}", Reason::WaitingForTarget));
        assert_eq!(world.owner.body["status"]["entries"][0]["state"], "Registered");
    };
    waits(&mut world, "is being deleted");
    // Nothing is due, and it is not well all the same.
    component(&mut world, "control", 1, true);
    waits(&mut world, "is being deleted");
    world.objects.get_mut(&kinds::COMPONENT).unwrap().retain(|c| c.meta.name != "config");
    waits(&mut world, "does not exist");
    component(&mut world, "config", 2, true);
    assert_eq!(world.decide(), [], "it is the same one");
    assert_eq!(world.says("Available").0, "True UpToDate");
    let all = world.objects.get_mut(&kinds::COMPONENT).unwrap();
    all.iter_mut().find(|c| c.meta.name == "config").unwrap().meta.uid = "another".into();
    assert_eq!(world.decide().len(), 1, "it is asked");
}

/// Each call may capture as many values as its list has room for.
#[test]
fn a_status_holds_what_two_calls_capture() {
    let of = |call: &str| -> Value {
        let names = (0..8).map(|n| (format!("{call}{n}"), json!(format!("/{n}"))));
        names.collect::<serde_json::Map<String, Value>>().into()
    };
    let mut spec = spec();
    spec["register"]["capture"] = of("r");
    spec["lookup"]["capture"] = of("l");
    spec["deregister"]["path"] = json!("/nodes/{{ captured.l0 }}");
    let mut world = World::new(spec);
    let good = |call: &str| {
        let values = (0..8).map(|n| (format!("{call}{n}"), n.to_string())).collect();
        Ok(palladion_plan::Captured { code: 200, values })
    };
    let asked = world.decide();
    let told = world.answer(&asked[0], Err(Failed::Code { code: 404 }));
    let asked = world.answer(&told[0], good("r"));
    assert_eq!(world.answer(&asked[0], good("l")), []);
    let captured = &world.owner.body["status"]["entries"][0]["captured"];
    assert_eq!(captured.as_object().unwrap().len(), 16);
}

#[test]
fn a_registration_that_is_refused_says_what_is_so() {
    let mut world = registered();
    component(&mut world, "control", 3, true);
    world.owner.body["spec"]["paused"] = json!(true);
    world.owner.body["spec"]["register"]["body"] = json!("{% if %}");
    world.decide();
    assert_eq!(world.says("Accepted").0, format!("False {}", Reason::TemplateInvalid));
    assert_eq!(world.says("Paused").0, "True Paused");
    assert_eq!(world.owner.body["status"]["registered"], "1/3");
    assert_eq!(world.says("Available").0, format!("False {}", Reason::Registering));
    // One that is selected and does not exist is missing, however many others have.
    world.objects.get_mut(&kinds::COMPONENT).unwrap().retain(|c| c.meta.name != "control");
    world.decide();
    assert!(world.says("Available").0.starts_with("False"), "{}", world.says("Available").1);
}
