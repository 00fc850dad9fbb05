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
