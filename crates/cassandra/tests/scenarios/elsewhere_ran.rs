//! While none of our members ran, those of other datacenters may have: what is true of a ring that
//! stood as a whole is not true of one datacenter of it. And a ring that begins here has nobody
//! elsewhere yet.

use crate::holes::three_copies;
use crate::maintenance::{AWAY, TOO_LONG, is_allowed, member_key};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_api::reasons::Reason;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const ALL: [&str; 3] = ["demo-dc1-a-0", "demo-dc1-b-0", AWAY];
const SPARE: [&str; 3] = ["n1", "n2", "n3"];

/// A ring of three copies here, which has a member elsewhere.
fn beside_another() -> World {
    let mut world = three_copies();
    world.elsewhere("west-0", "west", "10.97.0.1");
    world.settle();
    let normal = world.condition("AllRegionsNormal");
    assert!(normal.starts_with("True"), "{normal}");
    world
}

/// Members with a pending repair of all their ranges, or one that has begun.
fn repaired(world: &World) -> usize {
    let pending = |member: &&&str| {
        let spec = &world.store.get(&member_key(member)).unwrap()["spec"];
        let all = spec["pendingMaintenance"].as_array().cloned().unwrap_or_default();
        let begun = world.begun_by(member).iter().any(|id| id.starts_with("pay-repair"));
        begun || all.iter().any(|debt| debt["ranges"] == "All")
    };
    ALL.iter().filter(pending).count()
}

#[test]
fn a_datacenter_that_stood_for_longer_than_tombstones_are_kept_starts_by_a_persons_word_alone() {
    let mut world = beside_another();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.pass(1800);
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    for member in ALL {
        assert!(!is_allowed(&world, member), "{member}: {}", world.last_words());
    }
    let said = world.condition("Degraded");
    assert!(said.starts_with("True"), "{said}");
}

#[test]
fn a_datacenter_whose_machines_were_all_down_is_repaired_for_what_others_took_meanwhile() {
    let mut alone = three_copies();
    let mut world = beside_another();
    for world in [&mut alone, &mut world] {
        for machine in SPARE {
            world.set_machine(machine, Machine::Down);
        }
        world.pass(8 * 3600);
        for machine in SPARE {
            world.set_machine(machine, Machine::Up);
        }
        world.settle();
        world.expect_ring(3);
    }
    assert_eq!(repaired(&alone), 0, "the whole ring stood: {}", alone.last_words());
    assert_eq!(repaired(&world), 3, "{}", world.last_words());
}

#[test]
fn a_ring_that_lists_seeds_elsewhere_before_it_is_there_is_begun_by_a_persons_word_alone() {
    let mut cluster = a_cluster(&[("a", 1), ("b", 1)]);
    cluster["spec"]["network"] = json!({ "clusterIPsAreRouted": true });
    cluster["spec"]["ring"] = json!({ "lock": "None" });
    cluster["spec"]["externalSeeds"] = json!([{ "name": "west", "addresses": ["10.97.0.1"] }]);
    let mut world = World::new();
    world.initializations_allowed = 0;
    let mut world = world.with(&cluster);
    world.pass(600);
    let said = world.condition("Degraded");
    let reason = Reason::InitializationRefused.as_str();
    assert!(said.contains(reason) && said.contains("ring.origin: Existing"), "{said}");
    assert!(world.status()["initialization"].is_null());
    // The seeds were too early: without them the ring begins.
    world.initializations_allowed = 1;
    world.patch_spec(&json!({ "externalSeeds": null }));
    world.settle();
    world.expect_ring(2);
}
