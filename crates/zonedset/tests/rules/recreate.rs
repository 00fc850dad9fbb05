//! `rollout: Recreate`.

use crate::world::{World, a_spec, with, with_image};
use serde_json::json;

#[test]
fn no_new_pod_starts_before_the_last_old_one_has_ended() {
    let spec = with(a_spec(), "/rollout", json!("Recreate"));
    let mut world = World::settled(spec.clone());
    world.set_spec(with_image(spec, "good:2"));
    let mut mixed = false;
    for _ in 0..40 {
        world.decide_once();
        let images = world.images();
        mixed |=
            images.iter().any(|i| i.ends_with(":1")) && images.iter().any(|i| i.ends_with(":2"));
        world.run_controllers();
    }
    world.settle();
    assert!(!mixed);
    assert!(world.images().iter().all(|i| i.ends_with("good:2")));
    assert_eq!(world.images().len(), 4);
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn going_back_in_the_middle_starts_the_old_template_again() {
    let spec = with(a_spec(), "/rollout", json!("Recreate"));
    let mut world = World::settled(spec.clone());
    world.set_spec(with_image(spec.clone(), "good:2"));
    world.decide_once();
    world.set_spec(spec);
    world.settle();
    assert_eq!(world.images().len(), 4);
    assert!(world.images().iter().all(|i| i.ends_with("good:1")));
    assert_eq!(world.status()["ready"], true);
}
