//! Records that the version before wrote under names of its own: they are read
//! as if they had today's, and moved by the first leader of this version.

use crate::every::a_ring;
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::cluster_key;
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

fn member(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::MEMBER, NAMESPACE, name)
}

/// A ring as the version before left it: initialized, with a cleanup pending.
fn a_ring_of_the_version_before() -> World {
    let mut world = a_ring(2, 1);
    let status = world.store.get(&cluster_key()).unwrap()["status"].clone();
    assert!(status["initialization"]["hostID"].is_string(), "{status}");
    let former = json!({ "status": {
        "founding": status["initialization"], "initialization": null,
        "newestLine": "5.0", "highestReleaseLine": null,
    }});
    world.store.merge(&cluster_key(), &former, Subresource::Status).unwrap();
    let entry = json!([{ "kind": "Cleanup", "reason": "member x joined" }]);
    let former = json!({ "spec": { "owes": entry } });
    world.store.merge(&member("demo-dc1-a-0"), &former, Subresource::None).unwrap();
    world
}

#[test]
fn records_under_former_names_are_moved_and_what_they_ask_for_is_done() {
    let mut world = a_ring_of_the_version_before();
    let before = world.store.get(&cluster_key()).unwrap()["status"]["founding"].clone();
    world.writes.clear();
    world.operators.clear();
    world.start_operator();
    world.settle();
    let status = &world.store.get(&cluster_key()).unwrap()["status"];
    assert_eq!(status["initialization"], before);
    assert_eq!(status["founding"], Value::Null);
    assert_eq!(status["highestReleaseLine"], "5.0");
    assert_eq!(status["newestLine"], Value::Null);
    let spec = &world.store.get(&member("demo-dc1-a-0")).unwrap()["spec"];
    assert_eq!(spec["owes"], Value::Null);
    assert!(spec["pendingMaintenance"].as_array().is_none_or(Vec::is_empty), "{spec}");
    let status = &world.store.get(&member("demo-dc1-a-0")).unwrap()["status"];
    assert_eq!(status["operation"]["state"], "Succeeded", "{status}");
    world.expect_ring(3);
    world.expect_rest();
}

#[test]
fn a_ring_on_record_under_a_former_name_grows_and_is_not_initialized_again() {
    let mut world = a_ring_of_the_version_before();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
}

/// The repair of the system keyspaces stays in the spec when it is done, and the
/// version before did not say whom it is for.
#[test]
fn an_operation_of_the_version_before_does_not_run_on_another_volume() {
    let mut world = a_ring(2, 1);
    let unnamed = json!({ "spec": { "operation": { "hostID": null, "volumeID": null } } });
    world.store.merge(&member(LAST), &unnamed, Subresource::None).unwrap();
    world.pass(2);
    let before = world.begun_by(LAST);
    assert!(!before.is_empty(), "{}", world.last_words());
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    world.settle();
    world.expect_ring(3);
    let again = world.begun_by(LAST).split_off(before.len());
    assert!(!again.iter().any(|id| before.contains(id)), "{again:?}\n{}", world.last_words());
}
