//! What people read: the cause before its consequence, and nobody who is no member.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{a_cluster, two_racks};
use crate::sim::world::{Tick, cluster_key};
use palladion_cassandra::resources as kinds;
use serde_json::json;

/// All that the conditions and waits say.
fn all_words(world: &World) -> String {
    let cluster = world.store.get(&cluster_key()).cloned().unwrap_or_default();
    format!("{} {}", cluster["status"]["conditions"], cluster["status"]["waits"])
}

#[test]
fn a_service_that_is_kept_for_its_address_is_never_shown_as_a_member() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.lose_node(&node);
    world.settle();
    world.expect_ring(3);
    let kept = |w: &World| w.names(kinds::SERVICE).iter().any(|name| name.contains("-was-"));
    assert!(kept(&world), "{:?}", world.names(kinds::SERVICE));
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    world.settle();
    world.delete(kinds::POD, "demo-dc1-b-1");
    for _ in 0..20_000 {
        let tick = world.tick().unwrap();
        let words = all_words(&world);
        assert!(!words.contains("-was-"), "{words}");
        if tick == Tick::Rest {
            break;
        }
    }
    assert!(kept(&world));
    world.expect_ring(4);
}

#[test]
fn a_member_that_has_left_is_not_shown_because_its_service_is_kept() {
    let mut world = a_ring(3, 1);
    world.set_racks(&two_racks());
    world.settle();
    world.expect_ring(3);
    world.delete(kinds::POD, "demo-dc1-b-0");
    for _ in 0..20_000 {
        let tick = world.tick().unwrap();
        let said = world.condition("Progressing");
        assert!(!said.contains("demo-dc1-a-2:"), "{said}");
        if tick == Tick::Rest {
            break;
        }
    }
}

#[test]
fn a_setting_that_a_server_refuses_is_the_reason_also_when_the_start_is_not_tried_again() {
    let mut cluster = two_racks();
    cluster["spec"]["config"] = json!({ "broken_setting": 1 });
    let mut world = World::new().with(&cluster);
    world.settle();
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True ConfigurationRefused"), "{degraded}");
    assert!(!degraded.contains("delete the pod"), "the spec is to be corrected: {degraded}");
    world.patch_spec(&json!({ "config": null }));
    world.settle();
    world.expect_ring(3);
    // The same of a member that joins a ring.
    let mut world = a_ring(2, 1);
    let mut racks = a_cluster(&[("a", 2), ("b", 1), ("c", 1)]);
    racks["spec"]["datacenter"]["racks"][2]["configMapName"] = json!("broken");
    world.config_map("broken", &json!({ "cassandra.yaml": "broken_setting: 1\n" }));
    world.set_racks(&racks);
    world.settle();
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True ConfigurationRefused"), "{degraded}");
}
