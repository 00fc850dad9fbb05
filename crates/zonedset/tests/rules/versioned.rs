//! `rollout: Versioned`: a second set beside the first.

use crate::world::{World, a_spec, with, with_image};
use palladion_plan::Reason;
use serde_json::{Value, json};

fn versioned() -> Value {
    with(a_spec(), "/rollout", json!("Versioned"))
}

#[test]
fn the_new_version_comes_beside_the_old_one_which_goes_when_a_new_pod_is_ready() {
    let mut world = World::settled(versioned());
    assert_eq!(world.sets(), ["web-z0-v1", "web-z1-v1"]);
    world.set_spec(with_image(versioned(), "slow:2"));
    world.settle();
    assert_eq!(world.sets(), ["web-z0-v1", "web-z0-v2", "web-z1-v1", "web-z1-v2"]);
    assert_eq!(world.set("web-z0-v2")["metadata"]["annotations"]["palladion.dev/version"], "2");
    assert_eq!(world.status()["ready"], false);
    assert!(world.is_ready("web-z0-v1-0"));
    world.make_ready("web-z0-v2-1");
    assert_eq!(world.sets(), ["web-z0-v2", "web-z1-v1", "web-z1-v2"]);
    for pod in ["web-z0-v2-0", "web-z1-v2-0", "web-z1-v2-1"] {
        world.make_ready(pod);
    }
    assert_eq!(world.sets(), ["web-z0-v2", "web-z1-v2"]);
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["version"], 2);
}

#[test]
fn pods_that_are_not_ready_yet_are_counted() {
    let mut world = World::new(versioned());
    world.decide_once();
    assert!(world.shows(Reason::PodsNotReady), "{:?}", world.reasons());
    world.settle();
    assert!(!world.shows(Reason::PodsNotReady), "{:?}", world.reasons());
}

#[test]
fn it_works_when_the_old_pods_are_not_ready() {
    let mut world = World::settled(with_image(versioned(), "bad:1"));
    world.set_spec(with_image(versioned(), "good:2"));
    world.settle();
    assert_eq!(world.sets(), ["web-z0-v2", "web-z1-v2"]);
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn a_third_update_in_the_middle_drops_the_second_and_keeps_the_one_that_serves() {
    let mut world = World::settled(versioned());
    world.set_spec(with_image(versioned(), "bad:2"));
    world.settle();
    world.set_spec(with_image(versioned(), "slow:3"));
    world.settle();
    assert_eq!(world.sets(), ["web-z0-v1", "web-z0-v3", "web-z1-v1", "web-z1-v3"]);
    assert!(world.is_ready("web-z1-v1-0"));
    for pod in ["web-z0-v3-0", "web-z0-v3-1", "web-z1-v3-0", "web-z1-v3-1"] {
        world.make_ready(pod);
    }
    assert_eq!(world.sets(), ["web-z0-v3", "web-z1-v3"]);
}

#[test]
fn a_version_that_never_runs_leaves_the_old_one_serving_and_says_so() {
    let mut world = World::settled(versioned());
    let before = world.uids();
    world.set_spec(with_image(versioned(), "bad:2"));
    world.settle();
    assert!(world.shows(Reason::VersionNotRunning), "{:?}", world.reasons());
    world.pass(301);
    assert_eq!(world.status()["rollout"], "Failed");
    let after = world.uids();
    assert!(before.iter().all(|(name, uid)| after.get(name) == Some(uid)));
    let degraded = world.condition("Degraded");
    assert_eq!(degraded["reason"], "RolloutFailed");
    assert!(degraded["message"].as_str().unwrap().contains("ImagePullBackOff"), "{degraded}");
    assert_eq!(world.condition("Available")["status"], "True");
    // A version that comes to itself after all is taken.
    for pod in ["web-z0-v2-0", "web-z0-v2-1", "web-z1-v2-0", "web-z1-v2-1"] {
        world.make_ready(pod);
    }
    assert_eq!(world.sets(), ["web-z0-v2", "web-z1-v2"]);
    assert_eq!(world.status()["rollout"], "Done");
}

#[test]
fn going_back_to_an_older_template_is_a_version_of_its_own() {
    let mut world = World::settled(versioned());
    world.set_spec(with_image(versioned(), "good:2"));
    world.settle();
    world.set_spec(versioned());
    world.settle();
    assert_eq!(world.sets(), ["web-z0-v3", "web-z1-v3"]);
    assert_eq!(world.images()[0], "web-z0-v3-0=good:1");
}

#[test]
fn turning_to_partitioned_keeps_the_old_sets_until_the_new_ones_run() {
    let mut world = World::settled(versioned());
    world.set_spec(with_image(a_spec(), "slow:1"));
    world.settle();
    assert_eq!(world.sets(), ["web-z0", "web-z0-v1", "web-z1", "web-z1-v1"]);
    world.set_spec(a_spec());
    world.settle();
    assert_eq!(world.sets(), ["web-z0", "web-z1"]);
    assert_eq!(world.status()["ready"], true);
}
