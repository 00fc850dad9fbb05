//! `updateStrategy.statefulSetReplace: Always`: a change recreates the sets
//! around their pods, which the rollout replaces one at a time, as ever.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Resource};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn uids(world: &World, resource: Resource) -> BTreeMap<String, String> {
    let uid = |o: &Value| o["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(resource).map(|(key, object)| (key.name.clone(), uid(object))).collect()
}

/// A ring at rest whose sets are recreated at every change.
fn an_orphaning_ring() -> World {
    let mut world = a_ring(2, 1);
    let before = uids(&world, kinds::STATEFUL_SET);
    world.patch_spec(&json!({ "updateStrategy": { "statefulSetReplace": "Always" } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(uids(&world, kinds::STATEFUL_SET), before, "to ask for it changes nothing");
    world
}

fn sets_are_new(world: &World, old: &BTreeMap<String, String>) -> bool {
    let new = uids(world, kinds::STATEFUL_SET);
    new.len() == old.len() && new.iter().all(|(name, uid)| old.get(name) != Some(uid))
}

#[test]
fn a_change_recreates_the_sets_and_their_pods_keep_their_uids_until_their_turn() {
    let mut world = an_orphaning_ring();
    let (sets, pods) = (uids(&world, kinds::STATEFUL_SET), uids(&world, kinds::POD));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 64 } }));
    let mut end = world.clone();
    end.until(|w| sets_are_new(w, &sets));
    assert_eq!(uids(&end, kinds::POD), pods, "no pod was touched by it");
    let adopted = |world: &World| {
        let sets = uids(world, kinds::STATEFUL_SET);
        let owner = |pod: &Value| pod["metadata"]["ownerReferences"][0]["uid"].clone();
        world.store.list(kinds::POD).all(|(_, pod)| sets.values().any(|uid| owner(pod) == **uid))
    };
    end.until(adopted);
    assert_eq!(uids(&end, kinds::POD), pods, "they belong to the new sets");
    let mut end = killed_at_every_write("sets are recreated by a change", world, 4);
    end.expect_ring(3);
    assert!(sets_are_new(&end, &sets));
    let after = uids(&end, kinds::POD);
    assert!(after.iter().all(|(name, uid)| pods[name] != *uid), "all were rolled: {after:?}");
}

#[test]
fn another_number_of_members_recreates_no_set() {
    let mut world = an_orphaning_ring();
    let sets = uids(&world, kinds::STATEFUL_SET);
    for members in [3, 2] {
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.settle();
        world.expect_ring(usize::try_from(members + 1).unwrap());
        assert_eq!(uids(&world, kinds::STATEFUL_SET), sets);
    }
    world.scale_set("demo-dc1-a", 4);
    world.settle();
    assert_eq!(uids(&world, kinds::STATEFUL_SET), sets, "what is edited is put back in place");
}

#[test]
fn a_bad_change_is_healed_by_the_next_spec_also_where_sets_are_recreated() {
    let mut world = an_orphaning_ring();
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.until(|w| w.condition("Degraded").contains("RolloutStuck"));
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(uids(&world, kinds::POD).len(), 3);
}

#[test]
fn a_claim_that_cannot_be_changed_recreates_no_set() {
    let mut world = an_orphaning_ring();
    let sets = uids(&world, kinds::STATEFUL_SET);
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    let spec = json!({ "resources": { "requests": { "storage": "5Gi" } } });
    racks["spec"]["datacenter"]["racks"][0]["storage"] =
        json!({ "volumeClaimTemplates": [{ "metadata": { "name": "data" }, "spec": spec }] });
    world.set_racks(&racks);
    world.settle();
    let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-a");
    let set = world.store.get(&key).unwrap();
    let claim = &set["spec"]["volumeClaimTemplates"][0]["spec"];
    assert_eq!(claim["resources"]["requests"]["storage"], "10Gi", "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("ClaimTemplateKept"), "{degraded}");
    assert_eq!(uids(&world, kinds::STATEFUL_SET), sets);
}
