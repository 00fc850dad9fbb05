//! `datacenter.zones`: one rack for each zone.

use crate::every::killed_at_every_write;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn a_cluster_of_zones(zones: &[&str], members: i32) -> Value {
    let mut cluster = a_cluster(&[]);
    let template = json!({ "members": members });
    cluster["spec"]["datacenter"] =
        json!({ "name": "dc1", "zones": zones, "rackTemplate": template });
    cluster
}

/// A person changes what stands for the racks.
fn set(world: &mut World, cluster: &Value) {
    let wanted = &cluster["spec"]["datacenter"];
    let fields = ["racks", "zones", "rackTemplate"];
    let patch: Value = fields.iter().map(|f| (f.to_string(), wanted[*f].clone())).collect();
    world.patch_spec(&json!({ "datacenter": patch }));
}

/// The zone in which each member runs.
fn places(world: &World) -> BTreeMap<String, String> {
    let zone_of = |node: &str| {
        let key = ObjectKey::new(kinds::NODE, "", node);
        let node = world.store.get(&key).expect("the node should exist");
        let zone = &node["metadata"]["labels"]["topology.kubernetes.io/zone"];
        zone.as_str().unwrap_or_default().to_string()
    };
    world.members().into_iter().map(|m| (m.clone(), zone_of(&world.node_of(&m)))).collect()
}

fn expect_members(world: &mut World, members: &[(&str, &str)]) {
    world.expect_ring(members.len());
    let expected = members.iter().map(|(m, zone)| (m.to_string(), zone.to_string())).collect();
    assert_eq!(places(world), expected, "{}", world.last_words());
}

fn a_ring_of_zones(zones: &[&str], members: i32) -> World {
    let mut world = World::new().with(&a_cluster_of_zones(zones, members));
    world.settle();
    assert_eq!(world.write(20), 20);
    world.story.clear();
    world.destructive.clear();
    world
}

const OF_TWO_ZONES: [(&str, &str); 4] = [
    ("demo-dc1-z1-0", "z1"),
    ("demo-dc1-z1-1", "z1"),
    ("demo-dc1-z2-0", "z2"),
    ("demo-dc1-z2-1", "z2"),
];

#[test]
fn each_zone_has_a_rack_whose_members_run_in_it() {
    let mut world = a_ring_of_zones(&["z1", "z2"], 2);
    expect_members(&mut world, &OF_TWO_ZONES);
    let set = world.store.get(&ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-z2"));
    assert_eq!(set.unwrap()["metadata"]["labels"]["palladion.dev/rack"], "z2");
}

#[test]
fn a_zone_is_added_and_removed_member_by_member() {
    let mut world = a_ring_of_zones(&["z1", "z2"], 1);
    set(&mut world, &a_cluster_of_zones(&["z1", "z2", "z3"], 1));
    let mut grown = killed_at_every_write("a zone is added", world, 6);
    let three = [("demo-dc1-z1-0", "z1"), ("demo-dc1-z2-0", "z2"), ("demo-dc1-z3-0", "z3")];
    expect_members(&mut grown, &three);
    grown.story.clear();
    grown.destructive.clear();
    set(&mut grown, &a_cluster_of_zones(&["z2", "z3"], 1));
    let mut shrunk = killed_at_every_write("a zone is removed", grown, 6);
    expect_members(&mut shrunk, &three[1..]);
    assert!(!shrunk.exists(kinds::STATEFUL_SET, "demo-dc1-z1"), "{}", shrunk.last_words());
}

#[test]
fn racks_become_zones_and_zones_racks_and_nobody_is_restarted() {
    let mut world = a_ring_of_zones(&["z1", "z2"], 2);
    let uids = |world: &World| -> BTreeMap<String, Value> {
        let pods = world.store.list(kinds::POD);
        pods.map(|(key, pod)| (key.name.clone(), pod["metadata"]["uid"].clone())).collect()
    };
    let before = uids(&world);
    set(&mut world, &a_cluster(&[("z1", 2), ("z2", 2)]));
    world.settle();
    expect_members(&mut world, &OF_TWO_ZONES);
    assert_eq!(uids(&world), before);
    set(&mut world, &a_cluster_of_zones(&["z1", "z2"], 2));
    world.settle();
    expect_members(&mut world, &OF_TWO_ZONES);
    assert_eq!(uids(&world), before);
}
