//! Limits of scaling, and scaling that restarts nobody.

use crate::world::{World, a_spec, with};
use serde_json::json;

#[test]
fn scaling_restarts_nobody_and_new_pods_know_the_new_number() {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    world.set_spec(with(a_spec(), "/template/spec/replicas", json!(4)));
    world.settle();
    let after = world.uids();
    assert_eq!(after.len(), 8);
    assert!(before.iter().all(|(name, uid)| after.get(name) == Some(uid)));
    let replicas = |pod: &str| {
        let env = world.pod(pod)["spec"]["containers"][0]["env"].clone();
        env.as_array().unwrap().iter().find(|v| v["name"] == "REPLICAS").unwrap()["value"].clone()
    };
    assert_eq!(replicas("web-z0-3"), "4");
    assert_eq!(replicas("web-z0-0"), "2");
    assert_eq!(world.status()["replicas"], 4);
    assert_eq!(world.status()["version"], 1);
    world.set_spec(with(a_spec(), "/template/spec/replicas", json!(1)));
    world.settle();
    assert_eq!(world.uids().get("web-z0-0"), before.get("web-z0-0"));
    assert_eq!(world.uids().len(), 2);
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn numbers_outside_the_limits_are_brought_inside_and_it_is_said() {
    let spec = with(a_spec(), "/scaling", json!({ "min": 3, "max": 5, "odd": true }));
    let mut world = World::settled(spec.clone());
    assert_eq!(world.set("web-z0")["spec"]["replicas"], 3);
    assert_eq!(world.condition("Degraded")["reason"], "ReplicasLimited");
    world.set_spec(with(spec.clone(), "/template/spec/replicas", json!(4)));
    world.settle();
    assert_eq!(world.set("web-z0")["spec"]["replicas"], 5);
    world.set_spec(with(spec, "/template/spec/replicas", json!(9)));
    world.settle();
    assert_eq!(world.set("web-z0")["spec"]["replicas"], 5);
    assert_eq!(world.status()["replicas"], 5);
}

#[test]
fn the_scale_subresource_sees_one_zone() {
    let world = World::settled(a_spec());
    assert_eq!(world.status()["replicas"], 2);
    assert_eq!(
        world.status()["selector"],
        "palladion.dev/zoned-stateful-set=web,palladion.dev/az-index=0"
    );
}
