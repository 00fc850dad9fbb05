//! Upgrades of Palladion itself: a ring that runs is not restarted, and takes
//! the newest agent when its pods are replaced for another reason.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use palladion_cassandra::CassandraMind;
use palladion_cassandra::generations::{FIRST, Generation, Generations, SECOND};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Precondition, Propagation};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const OLD: &str = "palladion.dev/agent:0.1.0";
const NEW: &str = "palladion.dev/agent:0.2.0";

/// Uid and agent's image of every pod.
fn pods(world: &World) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let of = |pod: &Value| {
        let image = &pod["spec"]["initContainers"][0]["image"];
        (text(&pod["metadata"]["uid"]), text(image))
    };
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), of(pod))).collect()
}

fn images(world: &World) -> Vec<String> {
    pods(world).into_values().map(|(_, image)| image).collect()
}

#[test]
fn an_upgrade_of_palladion_restarts_nobody() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    world.writes.clear();
    world.upgrade_palladion(NEW);
    world.settle();
    let of_any_new_leader = ["record the new leader epoch", "report the status"];
    let others = world.writes.iter().find(|w| !of_any_new_leader.contains(&w.as_str()));
    assert_eq!(others, None, "{:?}", world.writes);
    assert_eq!(pods(&world), before);
    world.expect_ring(3);
    // A pod that is lost comes back as it was.
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.settle();
    world.expect_ring(3);
    assert_eq!(images(&world), [OLD; 3]);
    // So does a set that somebody deletes.
    let set = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-a");
    let before = pods(&world);
    world
        .store
        .delete(&set, &Precondition::Absent, Propagation::Orphan)
        .expect("the set should be there");
    world.settle();
    world.expect_ring(3);
    assert!(world.store.get(&set).is_some(), "{}", world.last_words());
    assert_eq!(pods(&world), before);
}

#[test]
fn members_that_join_after_an_upgrade_of_palladion_have_the_agent_of_their_rack() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    world.upgrade_palladion(NEW);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1), ("c", 1)]));
    world.settle();
    world.expect_ring(5);
    let mut after = pods(&world);
    assert_eq!(after.remove("demo-dc1-a-2").unwrap().1, OLD);
    assert_eq!(after.remove("demo-dc1-c-0").unwrap().1, NEW, "a new rack");
    assert_eq!(after, before);
}

#[test]
fn a_rollout_after_an_upgrade_of_palladion_takes_the_newest_agent() {
    let mut world = a_ring(2, 1);
    world.upgrade_palladion(NEW);
    world.settle();
    world.patch_spec(&json!({ "annotations": { "example.com/rolled": "1" } }));
    let mut end = killed_at_every_write("a rollout after an upgrade of Palladion", world, 6);
    end.expect_ring(3);
    assert_eq!(images(&end), [NEW; 3]);
}

#[test]
fn an_image_that_the_spec_names_is_rolled_out() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({
        "sidecarImage": { "repository": "palladion.dev/agent", "version": "0.2.0" },
    }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(images(&world), [NEW; 3]);
    let before = pods(&world);
    world.patch_spec(&json!({ "sidecarImage": null }));
    world.settle();
    assert_eq!(pods(&world), before, "no image is asked for");
}

/// The pods that have not been replaced are the old ones still, and stay.
#[test]
fn a_change_that_is_taken_back_after_an_upgrade_of_palladion_restarts_only_who_was_replaced() {
    let mut world = a_ring(2, 1);
    world.upgrade_palladion(NEW);
    world.settle();
    let before = pods(&world);
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(200);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
    let same = pods(&world).into_iter().filter(|(name, pod)| before.get(name) == Some(pod));
    assert_eq!(same.count(), 2, "{}", world.last_words());
}

#[test]
fn a_machine_that_is_lost_during_an_upgrade_of_palladion_changes_nothing_for_the_others() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    world.set_machine("n3", Machine::Down);
    world.pass(60);
    world.upgrade_palladion(NEW);
    world.pass(600);
    world.set_machine("n3", Machine::Up);
    world.settle();
    world.expect_ring(3);
    assert_eq!(images(&world), [OLD; 3]);
    assert_eq!(pods(&world).len(), before.len());
}

const MISSING: &str = "palladion.dev/agent:missing";

fn names_an_image(version: Option<&str>) -> Value {
    let image = version.map(|v| json!({ "repository": "palladion.dev/agent", "version": v }));
    json!({ "sidecarImage": image })
}

#[test]
fn an_image_of_the_agent_that_is_missing_can_be_taken_out_again() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    world.patch_spec(&names_an_image(Some("missing")));
    world.pass(120);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&names_an_image(None));
    world.settle();
    world.expect_ring(3);
    let same = pods(&world).into_iter().filter(|(name, pod)| before.get(name) == Some(pod));
    assert_eq!(same.count(), 2, "{}", world.last_words());
}

#[test]
fn a_default_image_of_the_agent_that_is_missing_is_corrected_in_a_rollout() {
    for racks in [(2, 1), (1, 1)] {
        let mut world = a_ring(racks.0, racks.1);
        let all = usize::try_from(racks.0 + racks.1).unwrap();
        world.upgrade_palladion(MISSING);
        world.settle();
        world.patch_spec(&json!({ "config": { "concurrent_reads": 24 } }));
        world.pass(120);
        assert_eq!(world.normal(), all - 1, "{}", world.last_words());
        world.upgrade_palladion(NEW);
        world.settle();
        world.expect_ring(all);
        assert_eq!(images(&world), vec![NEW; all]);
    }
}

#[test]
fn a_ring_that_is_made_with_a_missing_image_of_the_agent_is_made_with_the_next_one() {
    let mut world = World::new();
    world.upgrade_palladion(MISSING);
    let mut world = world.with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.pass(120);
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    world.upgrade_palladion(NEW);
    world.settle();
    world.expect_ring(3);
    assert_eq!(images(&world), [NEW; 3]);
}

#[test]
fn an_upgrade_of_palladion_while_all_machines_are_down_changes_no_agent() {
    let mut world = a_ring(2, 1);
    for node in ["n1", "n2", "n3"] {
        world.set_machine(node, Machine::Down);
    }
    world.pass(60);
    world.upgrade_palladion(NEW);
    world.pass(120);
    for node in ["n1", "n2", "n3"] {
        world.set_machine(node, Machine::Up);
    }
    world.settle();
    world.expect_ring(3);
    assert_eq!(images(&world), [OLD; 3]);
}

/// One write that fails is enough: the new configuration exists, and the set
/// does not name it yet.
#[test]
fn no_configuration_that_pods_mount_is_deleted_whatever_write_fails() {
    let mut world = a_ring(2, 1);
    let first = world.faults.writes();
    world.patch_spec(&json!({ "config": { "concurrent_reads": 24 } }));
    for write in first..first + 12 {
        let mut one = world.clone();
        one.faults.plan(write, Fault::Unavailable);
        one.settle();
        one.expect_ring(3);
    }
}

/// A release of Palladion whose configuration says more.
const NEXT: CassandraMind = CassandraMind {
    generations: Generations {
        first: FIRST,
        later: &[
            SECOND,
            Generation {
                server_json: |server| {
                    let mut all = json!(server);
                    all["config"]["concurrent_validations"] = json!(1);
                    all
                },
                ..SECOND
            },
        ],
    },
};

fn upgrade_to_next(world: &mut World) {
    world.mind = NEXT;
    world.upgrade_palladion(NEW);
}

/// The configurations, by name.
fn configurations(world: &World) -> BTreeMap<String, Value> {
    let maps = world.store.list(kinds::CONFIG_MAP);
    maps.map(|(key, map)| (key.name.clone(), map["data"].clone())).collect()
}

fn say_more(world: &World) -> usize {
    let all = configurations(world);
    all.values().filter(|data| data.to_string().contains("concurrent_validations")).count()
}

#[test]
fn a_release_that_renders_another_configuration_restarts_nobody() {
    let mut world = a_ring(2, 1);
    let before = (pods(&world), configurations(&world));
    world.writes.clear();
    upgrade_to_next(&mut world);
    world.settle();
    let of_any_new_leader = ["record the new leader epoch", "report the status"];
    let others = world.writes.iter().find(|w| !of_any_new_leader.contains(&w.as_str()));
    assert_eq!(others, None, "{:?}", world.writes);
    assert_eq!((pods(&world), configurations(&world)), before);
    // A pod that is lost comes back as it was, with what it mounted.
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.settle();
    world.expect_ring(3);
    assert_eq!(configurations(&world), before.1);
    // The next rollout brings it, and nothing of the former one is left.
    world.patch_spec(&json!({ "annotations": { "example.com/rolled": "1" } }));
    let mut end = killed_at_every_write("a rollout to another configuration", world, 6);
    end.expect_ring(3);
    assert_eq!(images(&end), [NEW; 3]);
    assert_eq!((configurations(&end).len(), say_more(&end)), (2, 2));
}

#[test]
fn a_change_that_is_taken_back_after_such_a_release_restores_the_configuration() {
    let mut world = a_ring(2, 1);
    let before = (pods(&world), configurations(&world));
    upgrade_to_next(&mut world);
    world.settle();
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(200);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
    let same = pods(&world).into_iter().filter(|(name, pod)| before.0.get(name) == Some(pod));
    assert_eq!(same.count(), 2, "{}", world.last_words());
    assert_eq!(configurations(&world), before.1);
}
