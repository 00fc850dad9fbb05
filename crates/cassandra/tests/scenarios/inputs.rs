//! Wrong input: said plainly, and cured by correcting the manifest alone.

use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, two_racks};
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

/// `Degraded` says so, and the edited spec cures it.
fn expect_cured(world: &mut World, said: &str, patch: &Value) {
    let degraded = world.condition("Degraded");
    assert!(degraded.contains(said), "{degraded}\n{}", world.last_words());
    world.patch_spec(patch);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_broken_configuration_is_reported_and_cured_by_editing_it() {
    let mut cluster = two_racks();
    cluster["spec"]["config"] = json!({ "broken_setting": 1 });
    let mut world = World::new().with(&cluster);
    world.pass(60);
    expect_cured(&mut world, "broken_setting", &json!({ "config": { "broken_setting": null } }));
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_broken_configuration_of_a_running_ring_stops_at_its_first_member() {
    let mut world = World::new().with(&two_racks());
    world.settle();
    assert_eq!(world.write(20), 20);
    world.story.clear();
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(300);
    assert_eq!(
        world.normal(),
        2,
        "one member is down, two are not touched\n{}",
        world.last_words()
    );
    expect_cured(&mut world, "broken_setting", &json!({ "config": { "broken_setting": null } }));
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_missing_image_is_reported_and_cured_by_editing_it() {
    let mut cluster = two_racks();
    cluster["spec"]["repository"] = json!("example.org/missing");
    let mut world = World::new().with(&cluster);
    world.settle();
    expect_cured(&mut world, "ImagePullFailed", &json!({ "repository": null }));
}

#[test]
fn a_placement_that_no_node_satisfies_is_reported_and_cured_by_editing_it() {
    let mut cluster = two_racks();
    let pointer = "/spec/datacenter/racks/1/placement/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values";
    *cluster.pointer_mut(pointer).unwrap() = json!(["nowhere"]);
    let mut world = World::new().with(&cluster);
    world.settle();
    let degraded = world.condition("Degraded");
    assert!(
        degraded.contains("Unschedulable") && degraded.contains("0/3 nodes"),
        "{degraded}\n{}",
        world.last_words()
    );
    world.set_racks(&two_racks());
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_foreign_service_is_not_touched_and_the_cluster_goes_on_when_it_is_gone() {
    let mut world = World::new();
    let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, "demo-dc1-a-0");
    let foreign = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": key.name, "namespace": NAMESPACE }, "spec": { "ports": [{ "port": 80 }] } });
    world.store.create(&key, &foreign).unwrap();
    let before = world.store.get(&key).cloned();
    world.apply(&two_racks());
    world.pass(120);
    let degraded = world.condition("Degraded");
    assert!(
        degraded.contains("ForeignObject") && degraded.contains("demo-dc1-a-0"),
        "{degraded}\n{}",
        world.last_words()
    );
    assert_eq!(world.store.get(&key).cloned(), before);
    world.delete(kinds::SERVICE, "demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_paused_cluster_is_not_written_to_but_for_its_status() {
    let mut cluster = two_racks();
    cluster["spec"]["paused"] = json!(true);
    let mut world = World::new().with(&cluster);
    world.settle();
    assert!(world.names(kinds::STATEFUL_SET).is_empty(), "{}", world.last_words());
    assert!(world.condition("Paused").starts_with("True Paused"), "{}", world.condition("Paused"));
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_ring_may_be_paused_in_the_middle_of_its_creation() {
    let mut world = World::new().with(&two_racks());
    world.pass(15);
    world.patch_spec(&json!({ "paused": true }));
    world.pass(1);
    let writes = world.writes.len();
    world.pass(100);
    let written: Vec<_> =
        world.writes[writes..].iter().filter(|w| *w != "report the status").collect();
    assert!(written.is_empty(), "{written:?}");
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_cluster_of_one_member_works() {
    let mut world = World::new().with(&a_cluster(&[("a", 1)]));
    world.settle();
    world.expect_ring(1);
}

/// It may be wrong, or an impostor: what one agent says of its server does not
/// stop all that keeps the ring well.
#[test]
fn a_release_line_that_one_agent_alone_reports_refuses_no_spec() {
    let mut world = crate::every::a_ring(2, 1);
    let member = ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-1");
    let status = json!({ "status": { "server": { "version": "9.9.9" } } });
    world.store.merge(&member, &status, Subresource::Status).expect("the member should exist");
    world.settle();
    let told = world.condition("Accepted");
    assert!(told.starts_with("True"), "{told}");
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.destructive.len(), 3, "{}", world.last_words());
}
