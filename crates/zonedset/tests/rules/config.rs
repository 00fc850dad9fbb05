//! Restarts on changes of configuration.

use crate::world::{World, a_spec, with};
use palladion_zonedset::resources::{CONFIG_MAP, SECRET};
use serde_json::{Value, json};

fn watching(env_from: Value) -> Value {
    let spec = with(a_spec(), "/template/spec/template/spec/containers/0/envFrom", env_from);
    with(spec, "/updateOnConfigChange", json!(true))
}

fn map_ref() -> Value {
    json!([{ "configMapRef": { "name": "settings" } }])
}

fn world_with_map(spec: Value) -> World {
    let mut world = World::new(spec);
    world.put(CONFIG_MAP, "settings", json!({ "data": { "a": "1" } }));
    world.settle();
    assert_eq!(world.status()["ready"], true);
    world
}

#[test]
fn a_change_of_data_rolls_the_pods_once_after_a_short_gathering() {
    let mut world = world_with_map(watching(map_ref()));
    let before = world.uids();
    for value in ["2", "3", "4"] {
        world.put(CONFIG_MAP, "settings", json!({ "data": { "a": value } }));
        world.pass(1);
    }
    assert_eq!(world.uids(), before, "changes are gathered first");
    assert_eq!(world.condition("Progressing")["reason"], "GatheringConfig");
    world.pass(5);
    let after = world.uids();
    assert!(before.iter().all(|(name, uid)| after.get(name) != Some(uid)));
    assert_eq!(world.status()["version"], 2, "three changes are one rollout");
    assert!(world.status()["pendingConfig"].is_null());
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn a_change_of_metadata_alone_rolls_nothing() {
    let mut world = world_with_map(watching(map_ref()));
    let before = world.uids();
    world.put(CONFIG_MAP, "settings", json!({ "metadata": { "labels": { "x": "y" } } }));
    world.pass(30);
    assert_eq!(world.uids(), before);
    assert_eq!(world.status()["version"], 1);
}

#[test]
fn without_the_flag_nothing_is_watched_and_nothing_rolls() {
    let mut world =
        world_with_map(with(watching(map_ref()), "/updateOnConfigChange", json!(false)));
    let before = world.uids();
    world.put(CONFIG_MAP, "settings", json!({ "data": { "a": "2" } }));
    world.pass(30);
    assert_eq!(world.uids(), before);
}

#[test]
fn turning_the_flag_off_rolls_nothing() {
    let mut world = world_with_map(watching(map_ref()));
    let before = world.uids();
    world.set_spec(with(watching(map_ref()), "/updateOnConfigChange", json!(false)));
    world.pass(30);
    assert_eq!(world.uids(), before);
}

#[test]
fn sets_are_made_when_their_configuration_is_there() {
    let mut world = World::settled(watching(map_ref()));
    assert!(world.sets().is_empty());
    let degraded = world.condition("Degraded");
    assert_eq!(degraded["reason"], "ConfigMissing");
    assert!(degraded["message"].as_str().unwrap().contains("ConfigMap settings"));
    world.put(CONFIG_MAP, "settings", json!({ "data": {} }));
    world.settle();
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn configuration_that_is_deleted_rolls_nothing() {
    let mut world = world_with_map(watching(map_ref()));
    let before = world.uids();
    world.store.remove(&palladion_plan::ObjectKey::new(CONFIG_MAP, "shop", "settings"));
    world.pass(30);
    assert_eq!(world.uids(), before);
    assert_eq!(world.condition("Degraded")["reason"], "ConfigMissing");
}

#[test]
fn a_versioned_secret_is_followed_to_its_newest_number() {
    let secret = |v: &str| json!({ "metadata": { "labels": { "palladion.dev/secret-kind": "versionedSecret" } }, "data": { "k": v } });
    let mut world = World::new(watching(json!([{ "secretRef": { "name": "tls-v1" } }])));
    world.put(SECRET, "tls-v1", secret("1"));
    world.settle();
    let name = |w: &World| {
        w.set("web-z0")["spec"]["template"]["spec"]["containers"][0]["envFrom"][0]["secretRef"]["name"].clone()
    };
    assert_eq!(name(&world), "tls-v1");
    world.put(SECRET, "tls-v2", secret("2"));
    world.settle();
    world.pass(6);
    assert_eq!(name(&world), "tls-v2");
    assert_eq!(world.status()["secretVersions"]["tls"], 2);
    world.put(SECRET, "tls-v3", secret("3"));
    world.settle();
    world.pass(6);
    assert_eq!(name(&world), "tls-v3");
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["version"], 3);
}

#[test]
fn a_secret_that_is_not_of_the_series_is_not_followed() {
    let mut world = World::new(watching(json!([{ "secretRef": { "name": "tls-v1" } }])));
    world.put(SECRET, "tls-v1", json!({ "data": { "k": "1" } }));
    world.put(SECRET, "tls-v2", json!({ "data": { "k": "other" } }));
    world.settle();
    world.pass(30);
    assert_eq!(world.status()["version"], 1);
}
