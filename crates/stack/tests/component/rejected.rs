//! What the API server does not take, or what waits to be written: pods and agents keep what
//! they run with, and start again with it, whatever else the newest spec says.

use crate::groups::{self, a_group};
use crate::refused::{UNMADE, it_starts_as_before, starts_again};
use crate::world::{World, a_spec, recreated, with};
use palladion_api::Reason;
use palladion_api::gate::hash_of_files;
use palladion_plan::{Mind, ObjectKey};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

const IMAGE: &str = "/template/spec/containers/0/image";
const FILE: &str = "/config/files/0/template";
/// The agent on the first node.
const AGENT: &str = "kernel-n1";

/// The API server takes no set with this image.
fn refuse_set<M: Mind + Clone + Default>(world: &mut World<M>) {
    world.refuse("no image good:3", |key, new| {
        [kinds::STATEFUL_SET, kinds::DAEMON_SET].contains(&key.resource)
            && new["spec"]["template"]["spec"]["containers"][0]["image"] == "good:3"
    });
}

fn third(spec: Value) -> Value {
    with(spec, IMAGE, json!("good:3"))
}

fn it_comes_to_rest(world: &mut World, spec: Value) {
    world.set_spec(spec);
    world.pass(120);
    assert!(world.is_at_rest(), "{}", world.status());
}

/// The set has a second template, and of its pods one the first.
fn half_rolled_out() -> World {
    let mut world = World::settled(a_spec());
    world.kubelet.sick.insert("web-1".into());
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(30);
    world
}

#[test]
fn a_pod_of_the_template_before_the_last_starts_again_while_the_next_is_rejected() {
    let mut world = half_rolled_out();
    refuse_set(&mut world);
    world.set_spec(third(a_spec()));
    world.pass(10);
    it_starts_as_before(&mut world);
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:1");
    world.kubelet.sick.clear();
    it_comes_to_rest(&mut world, with(a_spec(), IMAGE, json!("good:2")));
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:2");
}

/// The set is written after the Services, and so not at all.
#[test]
fn a_pod_of_the_template_before_the_last_starts_again_while_a_service_is_rejected() {
    let mut world = half_rolled_out();
    world.refuse("the range of ports is full", |key, new| {
        key.resource == kinds::SERVICE && new["spec"]["ports"][0]["port"] == 8083
    });
    world.set_spec(with(third(a_spec()), "/network/ports/0/port", json!(8083)));
    world.pass(10);
    it_starts_as_before(&mut world);
    world.kubelet.sick.clear();
    it_comes_to_rest(&mut world, third(a_spec()));
}

/// All are recreated when the node of one is back, for which the set would have to be written.
#[test]
fn a_pod_starts_again_while_nobody_can_be_recreated() {
    let mut world = World::settled(recreated(a_spec()));
    world.move_to("web-1", "node-2");
    world.node("node-2", "Unknown");
    let second = with(recreated(a_spec()), IMAGE, json!("good:2"));
    world.set_spec(second.clone());
    world.pass(10);
    world.refuse("the range of ports is full", |key, new| {
        key.resource == kinds::SERVICE && new["spec"]["ports"][0]["port"] == 8083
    });
    world.set_spec(with(second.clone(), "/network/ports/0/port", json!(8083)));
    world.pass(10);
    it_starts_as_before(&mut world);
    world.node("node-2", "True");
    it_comes_to_rest(&mut world, second);
}

#[test]
fn pods_start_with_the_files_that_they_mount_while_a_set_without_them_is_rejected() {
    let mut world = World::settled(a_spec());
    refuse_set(&mut world);
    let mut without = third(a_spec());
    without.as_object_mut().unwrap().remove("config");
    world.set_spec(without);
    world.pass(10);
    it_starts_as_before(&mut world);
    it_comes_to_rest(&mut world, a_spec());
}

#[test]
fn pods_without_files_start_again_while_a_set_with_them_is_rejected() {
    // A volume of that name is the user's own here.
    let own = json!([{ "name": "config", "emptyDir": {} }]);
    let mut without = with(a_spec(), "/template/spec/volumes", own);
    without.as_object_mut().unwrap().remove("config");
    let mut world = World::settled(without.clone());
    refuse_set(&mut world);
    world.set_spec(third(a_spec()));
    world.pass(10);
    it_starts_as_before(&mut world);
    it_comes_to_rest(&mut world, without);
}

#[test]
fn more_pods_that_the_api_server_rejects_keep_none_from_starting_as_before() {
    let mut world = World::settled(a_spec());
    world.refuse("there is room for two", |key, new| {
        key.resource == kinds::STATEFUL_SET && new["spec"]["replicas"] == 3
    });
    world.set_spec(with(a_spec(), "/replicas", json!(3)));
    world.pass(60);
    it_starts_as_before(&mut world);
    it_comes_to_rest(&mut world, a_spec());
}

/// Pods that find their files by their addresses.
fn by_address() -> Value {
    let moving = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    with(moving, "/config/key", json!("PodIP"))
}

/// Their addresses are others then, and nobody restarts them for that while the set is rejected.
#[test]
fn pods_that_come_back_while_a_set_is_rejected_start_with_the_addresses_that_they_have() {
    let moving = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    let mut world = World::settled(moving.clone());
    refuse_set(&mut world);
    world.set_spec(third(moving));
    world.pass(10);
    let before = world.kubelet.starts.len();
    for pod in ["web-0", "web-1"] {
        world.delete_pod(pod);
    }
    world.pass(120);
    let texts = world.texts();
    let mut starts = world.kubelet.starts[before..].to_vec();
    starts.sort();
    assert_eq!(starts.len(), 2, "each once: {starts:?}");
    for (pod, _, hash) in starts {
        let own = &texts[&format!("{pod}.conf")];
        assert_eq!(hash, hash_of_files([("conf", own.as_str())]), "{pod}: {own}");
        let address = world.pod(&pod)["status"]["podIP"].as_str().unwrap().to_string();
        assert!(own.contains(&address), "{pod} at {address}: {own}");
    }
}

#[test]
fn pods_keep_their_files_under_their_key_while_a_set_with_another_key_is_rejected() {
    let moving = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    let mut world = World::settled(moving.clone());
    let texts = world.texts();
    refuse_set(&mut world);
    world.set_spec(third(by_address()));
    world.pass(10);
    let is_kept = |world: &World| texts.iter().all(|(k, v)| world.texts().get(k) == Some(v));
    assert!(is_kept(&world), "{:?}", world.texts());
    it_starts_as_before(&mut world);
    world.set_spec(with(by_address(), FILE, json!(UNMADE)));
    world.pass(10);
    assert!(is_kept(&world), "{:?}", world.texts());
    it_starts_as_before(&mut world);
    it_comes_to_rest(&mut world, by_address());
    assert_eq!(world.texts().len(), 2, "{:?}", world.texts());
}

/// The user brings a ConfigMap in place of the files, which does not exist.
fn with_a_map_that_is_gone<M: Mind + Clone + Default>(world: &mut World<M>, mut spec: Value) {
    spec.as_object_mut().unwrap().remove("config");
    let volume = json!([{ "name": "own", "configMap": { "name": "gone" } }]);
    world.set_spec(with(spec, "/template/spec/volumes", volume));
    world.pass(10);
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ConfigMapMissing));
}

/// The key of their files is what they were started with, and not what the newest spec says.
#[test]
fn pods_find_their_files_while_a_spec_with_others_is_refused() {
    let mut world = World::settled(by_address());
    with_a_map_that_is_gone(&mut world, by_address());
    it_starts_as_before(&mut world);
    it_comes_to_rest(&mut world, by_address());
}

#[test]
fn agents_find_their_files_while_a_spec_with_others_is_refused() {
    for key in ["NodeName", "PodIP"] {
        let spec = with(a_group(), "/config/key", json!(key));
        let mut world = groups::settled(spec.clone());
        with_a_map_that_is_gone(&mut world, spec);
        starts_again(&mut world, AGENT);
    }
}

const KEYS: [&str; 3] = ["NodeName", "PodIP", "Group"];

/// The same group on other nodes.
fn elsewhere(spec: Value) -> Value {
    with(spec, "/nodeSelector", json!({ "mode": "dpdk" }))
}

#[test]
fn agents_keep_their_files_while_another_selector_is_rejected() {
    for key in KEYS {
        let spec = with(a_group(), "/config/key", json!(key));
        let mut world = groups::settled(spec.clone());
        let texts = world.texts();
        refuse_set(&mut world);
        world.set_spec(elsewhere(third(spec.clone())));
        world.pass(10);
        assert_eq!(world.texts(), texts, "{key}");
        starts_again(&mut world, AGENT);
        world.store.refuse_nothing();
        world.pass(60);
        assert!(world.is_at_rest(), "{}", world.status());
        assert_eq!(world.status()["pods"], "1/1");
        assert_eq!(world.texts().len(), 1, "those of nodes that are left go with their agents");
    }
}

#[test]
fn agents_keep_their_files_while_another_selector_waits_for_texts() {
    for key in KEYS {
        let spec = with(a_group(), "/config/key", json!(key));
        let mut world = groups::settled(spec.clone());
        let texts = world.texts();
        world.ring_of(0, 0, 0);
        world.set_spec(elsewhere(spec.clone()));
        world.pass(10);
        assert_eq!(world.texts(), texts, "{key}: what the ring will be is not known");
        world.ring(3, 3);
        world.pass(60);
        assert!(world.is_at_rest(), "{}", world.status());
        assert_eq!((world.status()["pods"].clone(), world.texts().len()), (json!("1/1"), 1));
    }
}

#[test]
fn agents_keep_their_files_under_their_key_while_a_set_with_another_key_is_rejected() {
    let mut world = groups::settled(with(a_group(), "/config/key", json!("NodeName")));
    let texts = world.texts();
    refuse_set(&mut world);
    world.set_spec(third(with(a_group(), "/config/key", json!("PodIP"))));
    world.pass(10);
    assert!(texts.iter().all(|(k, v)| world.texts().get(k) == Some(v)), "{:?}", world.texts());
    starts_again(&mut world, AGENT);
}

/// Files that are left count for nothing where there is no room for them: the group is narrowed
/// because its texts have become too many.
#[test]
fn files_of_agents_that_are_left_are_not_in_the_way_of_those_that_stay() {
    let files = |bytes: usize| -> Value {
        let long = json!("x".repeat(bytes) + "{{ self.node }}");
        (0..8).map(|n| json!({ "name": format!("f{n}"), "template": long })).collect()
    };
    let spec =
        |bytes| with(a_group(), "/config", json!({ "key": "NodeName", "files": files(bytes) }));
    // The files of a node whose name begins with that of another one are among the files of that.
    for other in ["n2", "n1.lab"] {
        let mut world = groups::settled(spec(5));
        groups::node(&mut world, "n2", "dpdk");
        groups::node(&mut world, other, "kernel");
        world.set_spec(spec(55_000));
        world.pass(60);
        assert_eq!(world.texts().len(), 16, "{other}");
        world.set_spec(spec(64_000));
        world.pass(10);
        assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigTooLarge), "{other}");
        let key = ObjectKey::new(kinds::NODE, "", "n1");
        let label = json!({ "metadata": { "labels": { "zone": "a" } } });
        world.store.merge(&key, &label, palladion_plan::Subresource::None).unwrap();
        world.set_spec(with(spec(64_000), "/nodeSelector", json!({ "zone": "a" })));
        world.pass(60);
        assert_eq!(world.says("Degraded"), "False UpToDate", "{other}");
        assert_eq!((world.status()["pods"].clone(), world.texts().len()), (json!("1/1"), 8));
    }
}
