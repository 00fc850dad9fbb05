//! What is not carried out: said with the field, the cause and the next step, and
//! cured by correcting the manifest alone. What runs goes on running.

use crate::world::{NAMESPACE, World, a_spec, recreated, with};
use palladion_api::Reason;
use palladion_plan::sim::Feed;
use palladion_plan::{Mind, ObjectKey};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

const FILE: &str = "/config/files/0/template";

fn refused_and_cured(wrong: Value, reason: Reason, words: &str) {
    let mut world = World::settled(a_spec());
    let (uids, texts) = (world.uids(), world.texts());
    world.set_spec(wrong);
    world.pass(60);
    assert_eq!(world.says("Accepted"), format!("False {reason}"));
    let message = world.condition("Accepted")["message"].clone();
    assert!(message.as_str().unwrap().contains(words), "{message}");
    assert_eq!((world.uids(), world.texts()), (uids.clone(), texts), "what runs has what it had");
    world.set_spec(a_spec());
    world.pass(10);
    assert_eq!(world.says("Accepted"), "True Valid");
    assert_eq!(world.uids(), uids);
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_template_that_fails_is_refused_with_file_and_line() {
    let of = |template: &str| with(a_spec(), FILE, json!(template));
    let unknown = of("one\n{{ dependencies.rnig.addresses }}\n");
    refused_and_cured(unknown, Reason::TemplateInvalid, "file conf fails in line 2");
    refused_and_cured(of("{% if %}"), Reason::TemplateInvalid, "file conf fails in line 1");
    let endless =
        of("{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}");
    refused_and_cured(endless, Reason::TemplateInvalid, "does not end");
}

#[test]
fn labels_of_the_operator_are_refused() {
    let labels = json!({ "labels": { "status": "ready" } });
    let wrong = with(a_spec(), "/template/metadata", labels);
    refused_and_cured(wrong, Reason::InvalidSpec, "label `status`");
}

#[test]
fn a_template_that_fails_for_what_a_dependency_says_keeps_the_pods_as_they_are() {
    let mut world = World::settled(a_spec());
    let (uids, texts) = (world.uids(), world.texts());
    let template = json!("{{ dependencies.ring.attributes.datacenters }}\n");
    world.set_spec(with(a_spec(), FILE, template));
    world.pass(30);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::TemplateInvalid));
    it_starts_as_before(&mut world);
    assert_eq!((world.uids(), world.texts()), (uids, texts));
}

const IMAGE: &str = "/template/spec/containers/0/image";
/// A template that passes its trial, and fails for what its dependency really says.
pub const UNMADE: &str = "{{ dependencies.ring.attributes.datacenters }}\n";

fn nobody_gets_the_new_template(spec: Value) {
    let mut world = World::settled(spec.clone());
    let uids = world.uids();
    world.set_spec(with(with(spec.clone(), IMAGE, json!("good:2")), FILE, json!(UNMADE)));
    world.pass(120);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::TemplateInvalid));
    assert_eq!(world.uids(), uids, "nobody asked for the new image with the old text");
    assert_eq!(world.fewest_ready, 2);
    assert!(world.says("Progressing").starts_with("True"), "{}", world.status());
    assert!(world.condition("Progressing")["message"].to_string().contains("can be made"));
    it_starts_as_before(&mut world);
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:1");
    world.set_spec(with(spec, IMAGE, json!("good:2")));
    world.pass(120);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:2");
}

#[test]
fn a_new_template_waits_for_texts_that_cannot_be_made() {
    nobody_gets_the_new_template(a_spec());
}

#[test]
fn nobody_is_recreated_for_texts_that_cannot_be_made() {
    let spec = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    nobody_gets_the_new_template(with(spec, "/config/key", json!("PodIP")));
}

/// It passes its trial, and fails for the second pod alone.
const UNMADE_FOR_ONE: &str =
    "x{% if self.ordinal == 1 %}{{ dependencies.ring.attributes.datacenters }}{% endif %}\n";

#[test]
fn nobody_is_changed_for_a_text_that_cannot_be_made_for_one() {
    let moving = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    for spec in [a_spec(), recreated(a_spec()), with(moving, "/config/key", json!("PodIP"))] {
        let mut world = World::settled(spec.clone());
        let (uids, texts) = (world.uids(), world.texts());
        world.set_spec(with(spec.clone(), FILE, json!(UNMADE_FOR_ONE)));
        world.pass(120);
        assert_eq!((world.uids(), world.texts()), (uids.clone(), texts.clone()));
        assert_eq!(world.fewest_ready, 2);
        // Nor does an older template start with a newer text.
        world.set_spec(with(with(spec, IMAGE, json!("good:2")), FILE, json!(UNMADE_FOR_ONE)));
        world.pass(120);
        it_starts_as_before(&mut world);
        assert_eq!((world.uids(), world.texts()), (uids, texts));
    }
}

#[test]
fn a_mistake_in_the_text_of_another_pod_is_refused() {
    let wrong = with(a_spec(), FILE, json!("{% if self.ordinal > 0 %}{{ nothing }}{% endif %}"));
    refused_and_cured(wrong, Reason::TemplateInvalid, "file conf fails in line 1");
}

/// Of a dependency that nobody can read it is not known what a text would be.
#[test]
fn a_template_waits_while_a_dependency_cannot_be_read() {
    let mut world = World::settled(a_spec());
    world.set_spec(with(with(a_spec(), IMAGE, json!("good:2")), FILE, json!(UNMADE)));
    world.pass(10);
    world.feed(kinds::CASSANDRA, Feed::Cut);
    world.pass(5);
    world.feed(kinds::CASSANDRA, Feed::Live);
    world.pass(5);
    let image = &world.set()["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(*image, "good:1");
    it_starts_as_before(&mut world);
}

/// What another leader has seen fail is not known to the next one.
#[test]
fn a_rollout_waits_for_a_map_that_is_rejected_whoever_leads() {
    let mut world = World::settled(a_spec());
    world.kubelet.sick.insert("web-1".into());
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(30);
    let uids = world.uids();
    world.refuse("it is immutable", |key, new| {
        key.resource == kinds::CONFIG_MAP && new["data"].to_string().contains("debug")
    });
    let debug = with(a_spec(), "/config/parameters/level", json!("debug"));
    world.set_spec(with(debug, IMAGE, json!("good:2")));
    world.kubelet.sick.clear();
    world.pass(10);
    for _ in 0..3 {
        world.succeed();
        world.settle();
        world.pass(60);
    }
    assert_eq!(world.uids()["web-0"], uids["web-0"]);
}

/// Nobody restarts it for its newer template.
#[test]
fn a_pod_of_an_older_template_starts_again_while_the_spec_is_refused() {
    let mut world = World::settled(a_spec());
    world.kubelet.sick.insert("web-1".into());
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(30);
    world.set_spec(with(with(a_spec(), IMAGE, json!("good:2")), FILE, json!("{% if %}")));
    world.kubelet.sick.clear();
    it_starts_as_before(&mut world);
}

#[test]
fn a_recreation_comes_to_its_end_while_the_spec_is_refused() {
    let mut world = World::settled(recreated(a_spec()));
    let next = with(recreated(a_spec()), IMAGE, json!("good:2"));
    world.set_spec(next.clone());
    while world.set()["spec"]["replicas"] != 0 {
        world.pass(1);
    }
    world.set_spec(with(next.clone(), FILE, json!("{% if %}")));
    world.pass(120);
    assert!(world.is_ready("web-0") && world.is_ready("web-1"), "{}", world.status());
    world.set_spec(next);
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.set()["spec"]["replicas"], 2);
}

/// The set has the new template already, and one pod is of it.
#[test]
fn a_rollout_stops_when_texts_cannot_be_made_any_more() {
    let mut world = World::settled(a_spec());
    world.kubelet.sick.insert("web-1".into());
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(30);
    let uids = world.uids();
    world.set_spec(with(with(a_spec(), IMAGE, json!("good:2")), FILE, json!(UNMADE)));
    world.kubelet.sick.clear();
    world.pass(120);
    it_starts_as_before(&mut world);
    assert_eq!(world.uids()["web-0"], uids["web-0"]);
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(120);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_ne!(world.uids()["web-0"], uids["web-0"]);
}

/// All have stopped for an image when a text and another image are asked for.
#[test]
fn a_recreation_comes_to_its_end_when_texts_cannot_be_made_any_more() {
    let mut world = World::settled(recreated(a_spec()));
    world.set_spec(with(recreated(a_spec()), IMAGE, json!("good:2")));
    while world.set()["spec"]["replicas"] != 0 {
        world.pass(1);
    }
    let next = with(recreated(a_spec()), IMAGE, json!("good:3"));
    world.set_spec(with(next.clone(), FILE, json!(UNMADE)));
    world.pass(120);
    assert!(world.is_ready("web-0") && world.is_ready("web-1"), "{}", world.status());
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:2");
    let writes = world.writes();
    world.pass(600);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
    world.set_spec(next);
    world.pass(120);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:3");
}

#[test]
fn the_number_of_pods_is_followed_while_a_newer_template_waits() {
    let mut world = World::settled(a_spec());
    let unmade = with(with(a_spec(), IMAGE, json!("good:2")), FILE, json!(UNMADE));
    world.set_spec(with(unmade.clone(), "/replicas", json!(1)));
    world.pass(60);
    assert_eq!(world.set()["spec"]["replicas"], 1);
    assert!(world.get(kinds::POD, "web-1").is_none());
    assert_eq!(world.pod("web-0")["spec"]["containers"][0]["image"], "good:1");
    world.set_spec(unmade);
    world.pass(60);
    assert_eq!(world.pod("web-1")["spec"]["containers"][0]["image"], "good:1");
}

#[test]
fn a_foreign_service_keeps_no_pod_from_starting_as_before() {
    let mut world = World::settled(a_spec());
    let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, "web-2");
    world.store.create(&key, &json!({ "metadata": { "name": "web-2" } })).unwrap();
    look_again(&mut world);
    world.set_spec(with(a_spec(), "/replicas", json!(3)));
    world.pass(10);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ForeignObject));
    it_starts_as_before(&mut world);
}

#[test]
fn more_objects_than_are_watched_for_one_template_are_refused() {
    let from = |n: usize| json!({ "configMapRef": { "name": format!("m{n}") } });
    let many: Vec<Value> = (0..65).map(from).collect();
    let wrong = with(a_spec(), "/template/spec/containers/0/envFrom", json!(many));
    refused_and_cured(wrong, Reason::InvalidSpec, "64");
}

/// What pods keep they start with again.
pub fn it_starts_as_before(world: &mut World) {
    starts_again(world, "web-0");
}

pub fn starts_again<M: Mind + Clone + Default>(world: &mut World<M>, pod: &str) {
    let starts = world.kubelet.starts.len();
    world.restart_sandbox(pod);
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), starts + 1, "{}", world.status());
    assert!(world.is_ready(pod));
}

#[test]
fn texts_that_do_not_fit_into_one_map_are_not_written() {
    let mut world = World::settled(a_spec());
    let texts = world.texts();
    let long = json!("x".repeat(60_000) + "{{ self.name }}");
    let files: Vec<Value> =
        (0..8).map(|n| json!({ "name": format!("f{n}"), "template": long })).collect();
    world.set_spec(with(a_spec(), "/config/files", json!(files)));
    world.pass(30);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigTooLarge));
    it_starts_as_before(&mut world);
    assert_eq!(world.texts(), texts);
    world.set_spec(a_spec());
    world.pass(10);
    assert!(world.is_at_rest(), "{}", world.status());
}

/// Each pod has a text of its own: a hundred of them would not fit into the memory.
#[test]
fn no_more_texts_are_made_than_fit_into_one_map() {
    let long = "x".repeat(60_000) + "{% if self.ordinal == 2 %}{{ nothing }}{% endif %}";
    let files: Vec<Value> =
        (0..8).map(|n| json!({ "name": format!("f{n}"), "template": long })).collect();
    let spec = with(a_spec(), "/config/files", json!(files));
    let mut world = World::new(with(spec, "/replicas", json!(4)));
    world.ring(3, 3);
    world.pass(10);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigTooLarge));
}

#[test]
fn a_service_that_the_api_server_rejects_keeps_no_pod_from_starting_as_before() {
    let mut world = World::settled(a_spec());
    world.refuse("the range of ports is full", |key, new| {
        key.resource == kinds::SERVICE && new["spec"]["ports"][0]["port"] == 8083
    });
    let debug = with(a_spec(), "/config/parameters/level", json!("debug"));
    world.set_spec(with(debug, "/network/ports/0/port", json!(8083)));
    world.pass(10);
    assert!(world.condition("Degraded")["message"].to_string().contains("is full"));
    it_starts_as_before(&mut world);
}

fn with_volume(volume: Value) -> Value {
    with(a_spec(), "/template/spec/volumes", json!([volume]))
}

fn put_map(world: &mut World, name: &str) {
    let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, name);
    world.store.create(&key, &json!({ "metadata": { "name": name } })).unwrap();
    look_again(world);
}

/// What is watched by its name is no part of the simulator's routes.
fn look_again(world: &mut World) {
    world.operator.resync();
    world.settle();
}

#[test]
fn a_template_whose_config_map_is_missing_is_not_carried_out() {
    let wrong = with_volume(json!({ "name": "own", "configMap": { "name": "gone" } }));
    refused_and_cured(wrong.clone(), Reason::ConfigMapMissing, "ConfigMap gone");
    // What is missing may come, too.
    let mut world = World::settled(a_spec());
    world.set_spec(wrong);
    world.pass(5);
    put_map(&mut world, "gone");
    world.pass(60);
    assert_eq!(world.says("Accepted"), "True Valid");
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.pod("web-0")["spec"]["volumes"][0]["name"], "own");
}

#[test]
fn a_config_map_that_goes_under_running_pods_is_reported_and_gates_are_tended() {
    let spec = with_volume(json!({ "name": "own", "configMap": { "name": "map" } }));
    let mut world = World::new(spec);
    put_map(&mut world, "map");
    world.ring(3, 3);
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    world.store.remove(&ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, "map"));
    look_again(&mut world);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigMapMissing));
    assert_eq!(world.says("Accepted"), "True Valid");
    world.restart_sandbox("web-0");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 3, "its gate was opened again");
    put_map(&mut world, "map");
    assert_eq!(world.says("Degraded"), "False UpToDate");
}

#[test]
fn a_config_map_that_pods_can_do_without_is_not_waited_for() {
    let map = json!({ "name": "own", "configMap": { "name": "gone", "optional": true } });
    let mut world = World::settled(with_volume(map));
    world.pass(5);
    assert!(world.is_at_rest(), "{}", world.status());
}

fn with_class(class: &str) -> Value {
    let claim = json!({
        "accessModes": ["ReadWriteOnce"], "storageClassName": class,
        "resources": { "requests": { "storage": "1Gi" } },
    });
    let claims = json!([{ "metadata": { "name": "data" }, "spec": claim }]);
    with(a_spec(), "/volumeClaimTemplates", claims)
}

#[test]
fn a_storage_class_that_is_missing_is_named_before_anything_is_created() {
    let mut world = World::new(with_class("fast"));
    let key = ObjectKey::new(kinds::STORAGE_CLASS, "", "local");
    world.store.create(&key, &json!({ "metadata": { "name": "local" } })).unwrap();
    world.ring(3, 3);
    world.pass(30);
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::StorageClassMissing));
    let message = world.condition("Accepted")["message"].clone();
    assert!(message.as_str().unwrap().contains("storage class fast of claim data"), "{message}");
    assert!(world.get(kinds::STATEFUL_SET, "web").is_none());
    assert!(world.status()["service"].is_null(), "the claims may still be put right");
    world.set_spec(with_class("local"));
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    assert!(world.status()["service"].is_object());
}

#[test]
fn a_pod_whose_volumes_are_not_there_names_the_secrets_that_it_needs() {
    let secret = json!({ "name": "own", "secret": { "secretName": "keys" } });
    let mut world = World::new(with_volume(secret));
    world.kubelet.unmounted.insert("web-1".into());
    world.ring(3, 3);
    world.pass(10);
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::WaitingForVolumes));
    let message = world.condition("Progressing")["message"].clone();
    let message = message.as_str().unwrap();
    assert!(message.contains("web-1, which needs the Secrets keys"), "{message}");
    world.kubelet.unmounted.clear();
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_process_that_nobody_is_named_is_reported_before_the_first_change() {
    let reload = |process: &str| {
        let reload = json!({ "policy": "Signal", "process": process, "container": "api" });
        with(a_spec(), "/reload", reload)
    };
    let mut world = World::new(reload("apii"));
    world.kubelet.nameless.extend(["web-0".to_string(), "web-1".to_string()]);
    world.ring(3, 3);
    world.pass(5);
    assert!(!world.shows(Reason::ReloadUnconfirmed), "the process may be starting");
    world.pass(10);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ReloadUnconfirmed));
    let message = world.condition("Degraded")["message"].clone();
    assert!(message.as_str().unwrap().contains("correct `reload.process`"), "{message}");
    world.kubelet.nameless.clear();
    world.set_spec(reload("api"));
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.says("Degraded"), "False UpToDate");
}
