//! Containers of a user beside the servers.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn with(image: &str) -> Value {
    json!({ "sidecars": [{ "name": "prober", "image": image }] })
}

/// Uids of the pods, and the names of their containers.
fn pods(world: &World) -> BTreeMap<String, (String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let of = |pod: &Value| {
        let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
        let names = containers.iter().map(|container| text(&container["name"])).collect();
        (text(&pod["metadata"]["uid"]), names)
    };
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), of(pod))).collect()
}

#[test]
fn a_sidecar_comes_by_a_rollout_and_goes_by_one() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&with("prober:1"));
    let mut end = killed_at_every_write("a ring gets a sidecar", world, 4);
    end.expect_ring(3);
    let has = |world: &World, wanted: &[&str]| pods(world).values().all(|(_, all)| all == wanted);
    assert!(has(&end, &["cassandra", "prober"]), "{:?}", pods(&end));
    end.destructive.clear();
    end.patch_spec(&json!({ "sidecars": null }));
    end.settle();
    end.expect_ring(3);
    assert!(has(&end, &["cassandra"]), "{:?}", pods(&end));
    assert!(end.unready_at_stop.is_empty(), "{:?}", end.unready_at_stop);
}

#[test]
fn a_sidecar_whose_image_cannot_be_pulled_stops_the_rollout_at_the_first_member() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    let changed = |world: &World| {
        let now = pods(world);
        before.iter().filter(|(name, pod)| now.get(*name).map(|p| &p.0) != Some(&pod.0)).count()
    };
    world.patch_spec(&with("missing:1"));
    world.pass(900);
    assert_eq!(changed(&world), 1, "{}", world.last_words());
    assert!(world.condition("Degraded").contains("prober"), "{}", world.condition("Degraded"));
    world.patch_spec(&json!({ "sidecars": null }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(changed(&world), 1, "nobody else was restarted: {}", world.last_words());
}
