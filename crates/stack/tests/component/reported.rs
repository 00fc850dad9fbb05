//! What a service says of itself while its spec is refused or it is being deleted: others
//! start and call by that, so that it is never what was so once.

use crate::groups::{a_group, node, profile, settled, vfs};
use crate::world::{NAMESPACE, World, a_spec, recreated, with};
use palladion_api::Reason;
use palladion_plan::{Mind, ObjectKey};
use palladion_stack::resources as kinds;
use serde_json::json;

const FILE: &str = "/config/files/0/template";

/// A Component whose spec is refused.
fn refused() -> World {
    let mut world = World::settled(a_spec());
    world.set_spec(with(a_spec(), FILE, json!("{% if %}")));
    world.pass(5);
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::TemplateInvalid));
    world
}

#[test]
fn pods_that_fail_under_a_refused_spec_are_not_said_to_be_ready() {
    let mut world = refused();
    assert_eq!(world.status()["service"]["ready"], 2);
    world.kubelet.sick.extend(["web-0", "web-1"].map(String::from));
    world.pass(30);
    let status = world.status();
    assert_eq!(
        (&status["service"]["ready"], &status["service"]["active"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(status["pods"], "0/2");
    assert_eq!(status["service"]["nodes"].as_array().unwrap().len(), 2, "they are on record");
    assert_eq!(world.says("Available"), format!("False {}", Reason::PodsNotReady));
    world.kubelet.sick.clear();
    world.pass(5);
    assert_eq!(world.says("Available"), "True UpToDate");
    let writes = world.writes();
    world.pass(60);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
}

#[test]
fn a_pod_that_starts_again_under_a_refused_spec_gets_what_it_had() {
    let mut world = refused();
    let texts = world.texts();
    world.restart_sandbox("web-0");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
    world.delete_pod("web-1");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 4, "{}", world.status());
    assert_eq!(world.texts(), texts);
    // Its dependency is as much needed as before.
    world.ring(3, 1);
    world.restart_sandbox("web-0");
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 4);
    assert_eq!(world.says("GatesPassed"), format!("False {}", Reason::WaitingForDependency));
    world.set_spec(a_spec());
    world.ring(3, 3);
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.kubelet.starts.len(), 5, "and nobody was restarted");
}

#[test]
fn nothing_is_done_under_a_pause_though_the_spec_is_refused() {
    let mut world = refused();
    world.set_spec(with(with(a_spec(), FILE, json!("{% if %}")), "/paused", json!(true)));
    world.restart_sandbox("web-0");
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 2);
    assert_eq!(world.status()["service"]["ready"], 1);
    assert_eq!(world.says("Paused"), "True Paused");
    assert_eq!(world.says("DependenciesReady"), "True UpToDate");
    world.ring(3, 1);
    world.pass(1);
    assert_eq!(world.says("DependenciesReady"), format!("False {}", Reason::WaitingForDependency));
}

/// `kubectl wait` compares the generation and the condition, at any moment.
fn is_never_said_too_early(field: &str, value: &str) {
    let mut world = World::settled(a_spec());
    let (before, mut uids) = (world.store.log().len(), world.uids());
    world.set_spec(with(a_spec(), field, json!(value)));
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_ne!(world.uids(), uids);
    let mut said = 0;
    for change in &world.store.log()[before..] {
        let Some(object) = &change.object else { continue };
        if change.key.resource == kinds::POD {
            let uid = object["metadata"]["uid"].as_str().unwrap();
            uids.insert(change.key.name.clone(), uid.to_string());
        }
        let status = &object["status"];
        let all = status["conditions"].as_array().into_iter().flatten();
        let mut progressing = all.filter(|c| c["type"] == "Progressing");
        let is_said = change.key.resource == kinds::COMPONENT
            && status["observedGeneration"] == object["metadata"]["generation"]
            && progressing.any(|c| c["status"] == "False");
        assert!(!is_said || uids == world.uids(), "at {}: {status}", change.version);
        said += usize::from(is_said);
    }
    assert!(said > 0);
}

#[test]
fn a_template_or_a_text_that_no_pod_has_yet_is_not_said_to_be_done() {
    is_never_said_too_early("/template/spec/containers/0/image", "good:2");
    is_never_said_too_early("/config/parameters/level", "debug");
}

const IMAGE: &str = "/template/spec/containers/0/image";

fn waits_for_the_ring<M: Mind + Clone + Default>(world: &World<M>) {
    let progressing = world.condition("Progressing");
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::WaitingForDependency));
    assert!(progressing["message"].to_string().contains("CassandraCluster ring"), "{progressing}");
}

/// What a text would be nobody knows before a member of the ring is on record again.
#[test]
fn what_waits_for_a_dependency_without_members_is_not_said_to_be_done() {
    for (field, value) in [(IMAGE, "good:2"), ("/config/parameters/level", "debug")] {
        for spec in [a_spec(), recreated(a_spec())] {
            let mut world = World::settled(spec.clone());
            world.ring_of(0, 0, 0);
            world.pass(60);
            assert_eq!(world.says("Progressing"), "False UpToDate", "there is nothing to do");
            world.set_spec(with(spec, field, json!(value)));
            world.pass(60);
            let set = world.set();
            assert_eq!(set["spec"]["template"]["spec"]["containers"][0]["image"], "good:1");
            waits_for_the_ring(&world);
            assert_eq!(
                world.status()["waits"].as_array().map(Vec::len),
                Some(1),
                "it is said once"
            );
            let writes = world.writes();
            world.pass(60);
            assert_eq!(world.writes(), writes, "at rest nothing is written");
            world.ring(3, 3);
            world.pass(60);
            assert!(world.is_at_rest(), "{}", world.status());
            assert_eq!(world.kubelet.starts.len(), 4);
        }
    }
}

#[test]
fn what_waits_for_a_dependency_that_is_being_deleted_is_not_said_to_be_done() {
    let mut world = World::settled(a_spec());
    let ring = ObjectKey::new(kinds::CASSANDRA, NAMESPACE, "ring");
    world.store.remove(&ring);
    world.set_spec(with(a_spec(), IMAGE, json!("good:2")));
    world.pass(60);
    waits_for_the_ring(&world);
}

#[test]
fn what_agents_wait_for_is_not_said_to_be_done() {
    for (field, value) in [(IMAGE, "good:2"), ("/configuration/vRouterGateway", "10.0.0.9")] {
        for strategy in ["rolling", "onDelete"] {
            let spec = with(a_group(), "/upgradeStrategy", json!(strategy));
            let mut world = settled(spec.clone());
            world.ring_of(0, 0, 0);
            world.pass(60);
            assert_eq!(world.says("Progressing"), "False UpToDate", "there is nothing to do");
            world.set_spec(with(spec, field, json!(value)));
            world.pass(60);
            waits_for_the_ring(&world);
            world.ring(3, 3);
            world.pass(60);
            assert_eq!(world.is_at_rest(), strategy == "rolling", "{}", world.status());
        }
    }
}

#[test]
fn a_group_that_is_refused_says_that_it_is_paused() {
    let mut world = settled(a_group());
    world.set_spec(with(a_group(), "/paused", json!(true)));
    world.store.remove(&ObjectKey::new(kinds::PROFILE, NAMESPACE, "base"));
    world.settle();
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ProfileMissing));
    assert_eq!(world.says("Paused"), "True Paused");
    world.ring(3, 1);
    assert_eq!(world.says("DependenciesReady"), format!("False {}", Reason::WaitingForDependency));
}

#[test]
fn a_template_that_the_api_server_rejects_keeps_no_pod_from_starting_as_before() {
    let mut world = World::settled(a_spec());
    world.refuse("unknown field \"imag\"", |key, new| {
        key.resource == kinds::STATEFUL_SET
            && new["spec"]["template"]["spec"]["containers"][0]["imag"].is_string()
    });
    world.set_spec(with(a_spec(), "/template/spec/containers/0/imag", json!("good:2")));
    world.pass(10);
    assert!(world.condition("Degraded")["message"].to_string().contains("unknown field"));
    assert!(world.says("Progressing").starts_with("True"), "{}", world.says("Progressing"));
    world.restart_sandbox("web-0");
    world.pass(90);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
    world.set_spec(a_spec());
    world.pass(90);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.kubelet.starts.len(), 3);
}

#[test]
fn a_dependency_that_is_being_deleted_opens_no_gate() {
    let mut world = World::settled(a_spec());
    let ring = ObjectKey::new(kinds::CASSANDRA, NAMESPACE, "ring");
    let held = json!({ "metadata": { "finalizers": ["palladion.dev/teardown"] } });
    world.store.merge(&ring, &held, palladion_plan::Subresource::None).unwrap();
    world.end(kinds::CASSANDRA, "ring");
    world.all_there = None;
    world.restart_sandbox("web-0");
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 2);
    let message = world.condition("DependenciesReady")["message"].to_string();
    assert!(message.contains("ring, which is being deleted"), "{message}");
    assert!(world.is_ready("web-1"), "what runs goes on running");
}

#[test]
fn agents_start_again_though_a_profile_of_their_group_is_missing() {
    let mut world = settled(a_group());
    world.store.remove(&ObjectKey::new(kinds::PROFILE, NAMESPACE, "base"));
    world.settle();
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::ProfileMissing));
    world.restart_sandbox("kernel-n1");
    world.kubelet.sick.insert("kernel-n2".into());
    world.pass(20);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
    assert_eq!(world.status()["pods"], "1/2");
    assert_eq!(world.status()["service"]["ready"], 1);
    // A node that comes gets what the others have.
    node(&mut world, "n4", "kernel");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 4, "{}", world.status());
    world.kubelet.sick.clear();
    profile(&mut world, "base", vfs(7));
    world.pass(30);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.kubelet.starts.len(), 4, "nobody was restarted");
}
