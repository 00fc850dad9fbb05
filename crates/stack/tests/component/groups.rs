//! Node agents: a gate for each node, one agent on a node, profiles that are
//! merged, and changes that reach nodes one after another or by a signal.

use crate::world::{NAMESPACE, World, with};
use jiff::SignedDuration;
use palladion_api::Reason;
use palladion_plan::{ObjectKey, Subresource};
use palladion_stack::GroupMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

const GROUP: &str = "kernel";

pub fn a_group() -> Value {
    json!({
        "agent": "vrouter",
        "nodeSelector": { "mode": "kernel" },
        "configuration": { "vRouterGateway": "10.0.0.1", "profiles": ["base"] },
        "template": { "spec": { "containers": [{ "name": "agent", "image": "good:1" }] } },
        "dependsOn": [{ "kind": "CassandraCluster", "name": "ring" }],
        "config": { "files": [{ "name": "conf", "template":
            "gateway {{ gateway }} vfs {{ profile.sriovConfiguration.numberOfVfs }} ring {{ dependencies.ring.addresses | join(',') }}\n" }] },
    })
}

pub fn signalled(spec: Value) -> Value {
    with(spec, "/reload", json!({ "policy": "Signal", "process": "agent", "container": "agent" }))
}

fn put(world: &mut World<GroupMind>, resource: palladion_plan::Resource, object: Value) {
    let namespace = match resource == kinds::NODE {
        true => "",
        false => object["metadata"]["namespace"].as_str().unwrap_or(NAMESPACE),
    };
    let name = object["metadata"]["name"].as_str().unwrap().to_string();
    let key = ObjectKey::new(resource, namespace, &name);
    match world.store.get(&key) {
        None => world.store.create(&key, &object).unwrap(),
        Some(_) => world.store.merge(&key, &object, Subresource::None).unwrap(),
    };
    world.settle();
}

pub fn node(world: &mut World<GroupMind>, name: &str, mode: &str) {
    put(world, kinds::NODE, json!({ "metadata": { "name": name, "labels": { "mode": mode } } }));
}

pub fn profile(world: &mut World<GroupMind>, name: &str, spec: Value) {
    let metadata = json!({ "name": name, "namespace": NAMESPACE });
    put(world, kinds::PROFILE, json!({ "metadata": metadata, "spec": spec }));
}

pub fn vfs(number: i32) -> Value {
    json!({ "sriovConfiguration": { "numberOfVfs": number } })
}

/// Two nodes of the group and one of none; nothing that it depends on.
pub fn begun(spec: Value) -> World<GroupMind> {
    let mut world = World::of(ObjectKey::new(kinds::GROUP, NAMESPACE, GROUP), spec);
    profile(&mut world, "base", vfs(7));
    for (name, mode) in [("n1", "kernel"), ("n2", "kernel"), ("n3", "dpdk")] {
        node(&mut world, name, mode);
    }
    world
}

pub fn settled(spec: Value) -> World<GroupMind> {
    let mut world = begun(spec);
    world.ring(3, 3);
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.kubelet.starts.len(), 2);
    world.fewest_ready = usize::MAX;
    world
}

#[test]
fn agents_start_on_the_nodes_of_their_group_when_their_ring_is_there() {
    let mut world = begun(a_group());
    world.pass(20);
    assert!(world.kubelet.starts.is_empty());
    assert!(world.shows(Reason::WaitingForDependency));
    assert_eq!(world.status()["gates"], json!({ "closed": 2, "open": 0, "passed": 0 }));
    world.ring(3, 3);
    world.pass(5);
    assert_eq!(world.status()["pods"], "2/2", "{}", world.status());
    let text = "gateway 10.0.0.1 vfs 7 ring 10.96.1.0,10.96.1.1,10.96.1.2\n";
    assert_eq!(world.texts(), [("kernel.conf".to_string(), text.to_string())].into());
    assert_eq!(world.status()["service"]["active"], true);
    assert!(world.status()["service"].get("nodes").is_none(), "counts alone");
}

#[test]
fn a_gate_waits_for_no_other_node_and_opens_once() {
    let mut world = settled(a_group());
    node(&mut world, "n4", "kernel");
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 3);
    world.ring(3, 1);
    world.restart_sandbox("kernel-n1");
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 3);
    world.ring(3, 3);
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 4);
}

#[test]
fn a_profile_that_changes_restarts_one_node_after_another() {
    let mut world = settled(signalled(a_group()));
    profile(&mut world, "base", vfs(8));
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 4);
    assert!(world.kubelet.signals.is_empty(), "a node is set up when its agent starts");
    assert_eq!(world.fewest_ready, 1);
    assert!(world.texts()["kernel.conf"].contains("vfs 8"));
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_ring_that_grows_signals_all_agents_and_restarts_none() {
    let mut world = settled(signalled(a_group()));
    let uids = world.uids();
    world.ring(4, 4);
    world.pass(10);
    assert_eq!((world.uids(), world.kubelet.starts.len()), (uids, 2));
    assert_eq!(world.kubelet.signals.len(), 2);
    let writes = world.writes();
    world.pass(600);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
}

#[test]
fn an_agent_that_starts_while_a_ring_grows_has_the_text_of_the_others() {
    let mut world = settled(a_group());
    let text = world.texts();
    world.ring_of(5, 4, 4);
    node(&mut world, "n4", "kernel");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
    assert_eq!(world.texts(), text, "there is one text for all");
    world.ring(5, 5);
    world.pass(40);
    assert_eq!(world.kubelet.starts.len(), 6, "then each is restarted once");
}

#[test]
fn files_that_come_late_hold_the_gates_of_nodes_too() {
    let mut world = begun(a_group());
    world.kubelet.map_delay = SignedDuration::from_secs(90);
    world.ring(3, 3);
    world.pass(80);
    assert!(world.kubelet.starts.is_empty());
    world.pass(20);
    assert_eq!(world.kubelet.starts.len(), 2);
}

#[test]
fn texts_by_node_are_of_the_nodes_that_there_are() {
    let spec = with(a_group(), "/config/key", json!("NodeName"));
    let template =
        json!("{{ self.node }} {{ self.ip }} {{ profile.sriovConfiguration.numberOfVfs }}");
    let mut world = settled(with(spec, "/config/files/0/template", template));
    assert_eq!(world.texts().keys().collect::<Vec<_>>(), ["n1.conf", "n2.conf"]);
    assert!(world.texts()["n2.conf"].starts_with("n2 10.1.0."));
    node(&mut world, "n2", "dpdk");
    world.pass(10);
    assert_eq!(world.texts().keys().collect::<Vec<_>>(), ["n1.conf"]);
    assert_eq!(world.status()["pods"], "1/1");
}

#[test]
fn profiles_that_contradict_each_other_are_refused_and_what_runs_goes_on() {
    let both = || with(a_group(), "/configuration/profiles", json!(["base", "more"]));
    let mut world = settled(a_group());
    let uids = world.uids();
    world.set_spec(both());
    world.pass(5);
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ProfileMissing));
    profile(&mut world, "more", vfs(9));
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ProfileConflict));
    let message = world.condition("Accepted")["message"].clone();
    assert!(message.as_str().unwrap().contains("`sriovConfiguration.numberOfVfs`"), "{message}");
    assert_eq!(world.uids(), uids);
    world.set_spec(with(both(), "/override", json!(true)));
    world.pass(30);
    assert_eq!(world.says("Accepted"), "True Valid");
    assert!(world.texts()["kernel.conf"].contains("vfs 9"));
    profile(&mut world, "more", json!({ "kernelModeConfiguration": {} }));
    profile(
        &mut world,
        "base",
        json!({ "sriovConfiguration": { "numberOfVfs": 7 }, "dpdkConfiguration": {} }),
    );
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ModesExclusive));
}

#[test]
fn a_node_of_two_groups_is_named_and_runs_one_agent() {
    let mut world = begun(a_group());
    // Somebody else's pod is there already.
    let other = json!({
        "metadata": { "name": "other-n1", "namespace": "elsewhere",
            "labels": { "palladion.dev/node-agent": "vrouter" } },
        "spec": { "nodeName": "n1" },
        "status": { "phase": "Running" },
    });
    world.store.create(&ObjectKey::new(kinds::POD, "elsewhere", "other-n1"), &other).unwrap();
    let group = json!({
        "metadata": { "name": "all", "namespace": "elsewhere" },
        "spec": { "agent": "vrouter", "nodeSelector": { "mode": "kernel" } },
    });
    world.delete_pod("kernel-n1");
    put(&mut world, kinds::GROUP, group);
    world.ring(3, 3);
    world.pass(10);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::GroupsOverlap));
    let overlap = |node: &str| json!({ "node": node, "groups": ["elsewhere/all"] });
    assert_eq!(world.status()["overlaps"], json!([overlap("n1"), overlap("n2")]));
    assert_eq!(world.kubelet.starts.len(), 1, "the other node's agent runs");
    // The one that waits for its node holds up no change of the other.
    let image = "/template/spec/containers/0/image";
    world.set_spec(with(a_group(), image, json!("good:2")));
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 2);
    let affinity = &world.pod("kernel-n2")["spec"]["affinity"]["podAntiAffinity"];
    let term = &affinity["requiredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(term["labelSelector"]["matchLabels"]["palladion.dev/node-agent"], "vrouter");
    assert_eq!(term["namespaceSelector"], json!({}), "in all namespaces");
}

#[test]
fn on_delete_leaves_it_to_somebody_else_to_restart() {
    let on_delete = with(a_group(), "/upgradeStrategy", json!("onDelete"));
    let mut world = settled(on_delete.clone());
    let image = "/template/spec/containers/0/image";
    world.set_spec(with(on_delete, image, json!("good:2")));
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 2);
    world.delete_pod("kernel-n1");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert_eq!(world.pod("kernel-n1")["spec"]["containers"][0]["image"], "good:2");
}

/// The newest template may mount texts where a pod has none, or none where it has some: its Node
/// starts again long before anybody deletes it.
#[test]
fn an_agent_that_nobody_deletes_starts_again_with_what_it_mounts() {
    let on_delete = with(a_group(), "/upgradeStrategy", json!("onDelete"));
    let mut without = on_delete.clone();
    without.as_object_mut().unwrap().remove("config");
    for (before, after) in [(&on_delete, &without), (&without, &on_delete)] {
        let mut world = settled(before.clone());
        world.set_spec(after.clone());
        world.pass(60);
        assert_eq!(world.kubelet.starts.len(), 2, "nobody restarts them");
        world.restart_sandbox("kernel-n1");
        world.pass(30);
        assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
        assert!(world.is_ready("kernel-n1"));
        // Also while a later spec is refused.
        let refused = with(after.clone(), "/configuration/profiles", json!(["absent"]));
        world.set_spec(refused);
        world.restart_sandbox("kernel-n1");
        world.pass(30);
        assert_eq!(world.kubelet.starts.len(), 4, "{}", world.status());
        world.set_spec(after.clone());
        world.delete_pod("kernel-n1");
        world.pass(30);
        assert_eq!(world.kubelet.starts.len(), 5, "{}", world.status());
        let mounts = world.pod("kernel-n1")["spec"]["initContainers"][0]["args"].to_string();
        assert_eq!(mounts.contains("--config"), after.get("config").is_some(), "{mounts}");
    }
}

/// What the ring has become cannot be told to an agent without the words that it is not to
/// have before somebody deletes its pod.
#[test]
fn on_delete_says_which_agents_keep_what_they_were_started_with() {
    let on_delete = with(signalled(a_group()), "/upgradeStrategy", json!("onDelete"));
    let mut world = settled(on_delete.clone());
    world.set_spec(with(on_delete, "/configuration/vRouterGateway", json!("10.0.0.9")));
    world.ring(4, 4);
    world.pass(60);
    assert!(world.kubelet.signals.is_empty());
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::WaitingForDeletion));
    let message = world.condition("Progressing")["message"].clone();
    let message = message.as_str().unwrap();
    assert!(message.contains("2 pods") && message.contains("kernel-n1"), "{message}");
    let writes = world.writes();
    world.pass(60);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
    for pod in ["kernel-n1", "kernel-n2"] {
        world.delete_pod(pod);
    }
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    world.ring(5, 5);
    world.pass(20);
    assert_eq!(world.kubelet.signals.len(), 2, "{}", world.status());
}

#[test]
fn a_paused_group_writes_only_its_status() {
    let mut world = begun(with(a_group(), "/paused", json!(true)));
    world.ring(3, 3);
    world.pass(20);
    assert!(world.get(kinds::DAEMON_SET, GROUP).is_none());
    assert_eq!(world.says("Paused"), "True Paused");
}

/// Whoever may create groups in one namespace must not keep those of another from being told.
#[test]
fn more_groups_on_a_node_than_a_status_holds_are_cut() {
    let mut world = settled(a_group());
    for n in 0..20 {
        let spec =
            json!({ "agent": "vrouter", "nodeSelector": { "mode": "kernel" }, "paused": true });
        let metadata = json!({ "name": format!("g{n}"), "namespace": "other" });
        put(&mut world, kinds::GROUP, json!({ "metadata": metadata, "spec": spec }));
    }
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::GroupsOverlap));
    let message = world.condition("Degraded")["message"].to_string();
    assert!(message.contains("12 more"), "{message}");
    let named = world.status()["overlaps"][0]["groups"].as_array().map(Vec::len);
    assert_eq!(named, Some(16));
}

/// That a person restarts them is the point: what they are of starts again until then.
#[test]
fn agents_that_are_replaced_on_deletion_start_again_while_a_profile_is_missing() {
    let on_delete = with(a_group(), "/upgradeStrategy", json!("onDelete"));
    let mut world = settled(on_delete.clone());
    let image = "/template/spec/containers/0/image";
    world.set_spec(with(on_delete, image, json!("good:2")));
    world.pass(60);
    world.store.remove(&ObjectKey::new(kinds::PROFILE, NAMESPACE, "base"));
    world.operator.resync();
    world.settle();
    assert!(world.shows(Reason::ProfileMissing), "{}", world.status());
    world.restart_sandbox("kernel-n1");
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
}

#[test]
fn no_agent_gets_a_new_template_while_its_text_cannot_be_made() {
    let mut world = settled(a_group());
    let uids = world.uids();
    let image = with(a_group(), "/template/spec/containers/0/image", json!("good:2"));
    let text = json!("{{ dependencies.ring.attributes.datacenters }}");
    world.set_spec(with(image.clone(), "/config/files/0/template", text));
    world.pass(60);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::TemplateInvalid));
    assert_eq!(world.uids(), uids);
    let starts = world.kubelet.starts.len();
    world.restart_sandbox("kernel-n1");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), starts + 1);
    world.set_spec(image);
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_ne!(world.uids(), uids);
}

/// What does not fit is cured by fewer nodes, and whom the group no longer has is not counted.
#[test]
fn a_group_whose_texts_do_not_fit_is_narrowed() {
    let long = "x".repeat(60_000) + "{{ self.node }}";
    let files: Vec<Value> =
        (0..8).map(|n| json!({ "name": format!("f{n}"), "template": long })).collect();
    let spec = with(a_group(), "/config", json!({ "key": "NodeName", "files": files }));
    let mut world = begun(spec.clone());
    world.ring(3, 3);
    world.pass(20);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigTooLarge));
    put(
        &mut world,
        kinds::NODE,
        json!({ "metadata": { "name": "n1", "labels": { "mode": "kernel", "zone": "a" } } }),
    );
    world.set_spec(with(spec, "/nodeSelector", json!({ "zone": "a" })));
    world.pass(60);
    assert_eq!(world.says("Degraded"), "False UpToDate");
    assert_eq!(world.status()["pods"], "1/1", "{}", world.status());
}
