//! Claims that no member uses are named, with what to do about them.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, two_racks};
use crate::sim::world::cluster_key;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};

#[test]
fn claims_that_a_set_scaled_by_hand_leaves_behind_are_named() {
    let mut world = a_ring(2, 1);
    world.scale_set("demo-dc1-a", 4);
    world.settle();
    world.expect_ring(3);
    assert!(world.names(kinds::CLAIM).len() > 3, "{:?}", world.names(kinds::CLAIM));
    let status = |world: &World| world.store.get(&cluster_key()).unwrap()["status"].clone();
    let named = status(&world)["unusedClaims"].clone();
    let unused: Vec<String> = world
        .names(kinds::CLAIM)
        .into_iter()
        .filter(|name| !["a-0", "a-1", "b-0"].iter().any(|used| name.ends_with(used)))
        .collect();
    assert_eq!(named, json!(unused));
    let said = world.condition("Progressing");
    let command = format!("kubectl delete pvc -n {NAMESPACE} {}", unused[0]);
    assert!(said.starts_with("False UpToDate") && said.contains(&command), "{said}");
    assert!(world.condition("Degraded").starts_with("False"));
    for name in &unused {
        world.delete(kinds::CLAIM, name);
    }
    world.settle();
    assert_eq!(status(&world)["unusedClaims"], Value::Null);
    assert_eq!(world.condition("Progressing"), "False UpToDate: all members are ready");
    world.expect_rest();
}

#[test]
fn the_claim_of_a_member_that_has_left_is_named_until_the_member_is_wanted_again() {
    let mut world = a_ring(3, 1);
    world.set_racks(&two_racks());
    world.settle();
    let unused = |w: &World| w.store.get(&cluster_key()).unwrap()["status"]["unusedClaims"].clone();
    assert_eq!(unused(&world), json!(["data-demo-dc1-a-2"]));
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| unused(w) == Value::Null);
    world.settle();
    world.expect_ring(4);
    // A stopped ring uses its claims.
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    assert_eq!(unused(&world), Value::Null);
}
