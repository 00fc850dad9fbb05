//! Bugs that rings were lost or stuck by under other operators, one history
//! each, named after the report: `<project>_<number>_<what must not happen>`.

use crate::every::{a_ring, some};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::{World, world::Tick};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Feed;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

fn racks(a: i32, b: i32) -> Value {
    a_cluster(&[("a", a), ("b", b)])
}

/// The operator is away while this happens.
fn unobserved(world: &mut World, happens: impl FnOnce(&mut World)) {
    world.operators.clear();
    happens(world);
    world.start_operator();
    world.settle();
}

/// Uids by name.
fn uids(world: &World, resource: palladion_plan::Resource) -> Vec<(String, String)> {
    let objects = world.store.list(resource);
    objects.map(|(key, o)| (key.name.clone(), o["metadata"]["uid"].to_string())).collect()
}

fn spec_of(world: &World, resource: palladion_plan::Resource, name: &str) -> Value {
    let key = ObjectKey::new(resource, NAMESPACE, name);
    world.store.get(&key).map(|o| o["spec"].clone()).unwrap_or_default()
}

/// The same class: instaclustr/cassandra-operator#402, Orange-OpenSource/casskop#316,
/// rabbitmq/cluster-operator#648, pravega/zookeeper-operator#312.
#[test]
fn cass_operator_412_an_older_deletion_seen_again_takes_no_live_claim() {
    let mut wanted = racks(2, 1);
    wanted["spec"]["deletionPolicy"] = json!("Delete");
    let mut world = World::new().with(&wanted);
    world.settle();
    world.delete_cluster();
    // This leader never sees more than that the cluster is being deleted.
    world.until(|w| w.writes.iter().any(|w| w.contains("delete StatefulSet")));
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.start_operator();
    world.until(World::is_deleted);
    world.initializations_allowed = 2;
    world.apply(&wanted);
    world.until(|w| w.normal() == 3);
    let before = uids(&world, kinds::CLAIM);
    assert_eq!(before.len(), 3);
    world.operators[0].resync();
    world.pass(300);
    assert_eq!(uids(&world, kinds::CLAIM), before, "{}", world.last_words());
    assert_eq!(world.normal(), 3, "{}", world.last_words());
}

#[test]
fn instaclustr_398_a_pod_whose_end_nobody_saw_leaks_no_claim() {
    let mut world = a_ring(3, 1);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.full_members() == 3);
    unobserved(&mut world, |w| w.pass(300));
    world.expect_ring(3);
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    let left = world.names(kinds::CLAIM);
    assert!(left.is_empty(), "with the policy Delete stay {left:?}");
}

#[test]
fn instaclustr_400_the_highest_ordinal_leaves_not_the_last_of_a_list() {
    // As words, a-9 comes after a-10.
    let mut world = a_ring(11, 1);
    world.set_racks(&racks(10, 1));
    world.settle();
    world.expect_ring(11);
    let members = world.members();
    assert!(
        !members.contains(&"demo-dc1-a-10".into()) && members.contains(&"demo-dc1-a-9".into()),
        "{members:?}"
    );
}

#[test]
fn instaclustr_407_stale_pods_of_a_shrink_cost_no_claim_in_a_growth() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| !w.exists(kinds::POD, "demo-dc1-a-2"));
    world.settle();
    world.set_feed(kinds::POD, Feed::Stale);
    world.set_racks(&racks(3, 1));
    world.pass(120);
    world.set_feed(kinds::POD, Feed::Live);
    world.settle();
    world.expect_ring(4);
}

#[test]
fn instaclustr_410_three_two_three_while_one_has_left_ends_with_three() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.full_members() == 3);
    world.set_racks(&racks(3, 1));
    world.settle();
    world.expect_ring(4);
}

#[test]
fn casskop_321_a_stale_spec_neither_deletes_nor_makes_a_disruption_budget() {
    let mut world = a_ring(2, 1);
    let budgets = |w: &World| -> Vec<String> {
        let all = w.store.all();
        let budgets = all.filter(|(key, _)| key.resource.kind == "PodDisruptionBudget");
        budgets.map(|(_, b)| b["metadata"]["uid"].to_string()).collect()
    };
    let before = budgets(&world);
    assert_eq!(before.len(), 1);
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.set_racks(&racks(3, 1));
    world.pass(60);
    world.start_operator();
    world.set_feed(kinds::CLUSTER, Feed::Live);
    world.settle();
    world.operators.remove(0);
    world.settle();
    assert_eq!(budgets(&world), before);
    world.expect_ring(4);
}

/// The same class: rabbitmq/cluster-operator#758, pravega/zookeeper-operator#453.
#[test]
fn casskop_342_steps_that_nobody_saw_are_all_taken() {
    let mut world = a_ring(3, 1);
    unobserved(&mut world, |w| {
        w.set_racks(&racks(2, 1));
        w.pass(30);
        w.set_racks(&racks(1, 1));
    });
    world.expect_ring(2);
    unobserved(&mut world, |w| {
        w.set_racks(&racks(4, 1));
        w.pass(30);
        w.set_racks(&racks(2, 1));
    });
    world.expect_ring(3);
}

/// The same class: rabbitmq/cluster-operator#782.
#[test]
fn casskop_370_a_crash_after_the_set_was_scaled_blocks_nothing_later() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| spec_of(w, kinds::STATEFUL_SET, "demo-dc1-a")["replicas"] == 2);
    unobserved(&mut world, |w| w.pass(200));
    world.expect_ring(3);
    world.set_racks(&racks(3, 1));
    world.settle();
    world.expect_ring(4);
}

#[test]
fn zookeeper_operator_314_a_stale_spec_shrinks_nothing() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.settle();
    // The watch stops at "two are wanted"; a new leader reads from the same past.
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.set_racks(&racks(3, 1));
    world.start_operator();
    world.pass(300);
    assert_eq!(world.normal(), 4, "{}", world.last_words());
    let before = world.destructive.len();
    world.operators[0].resync();
    world.pass(120);
    assert_eq!(world.destructive.len(), before, "{:?}", world.destructive);
    world.operators.remove(0);
    world.settle();
    world.expect_ring(4);
}

#[test]
fn zookeeper_operator_410_nothing_is_made_for_a_cluster_that_is_gone() {
    let mut world = a_ring(2, 1);
    world.delete_cluster();
    world.until(|w| w.names(kinds::STATEFUL_SET).is_empty());
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.pass(300);
    let from = world.story.len();
    world.operators[0].resync();
    world.pass(50);
    let made = world.story[from..].iter().any(|line| line.contains("create"));
    assert!(!made, "{}", world.last_words());
    world.set_feed(kinds::CLUSTER, Feed::Live);
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
}

#[test]
fn k8ssand_1023_a_crash_after_the_first_of_two_objects_skips_not_the_second() {
    let mut world = World::new().with(&racks(2, 1));
    world.until(|w| w.writes.iter().any(|w| w.contains("ServiceAccount")));
    unobserved(&mut world, |w| w.pass(5));
    world.expect_ring(3);
}

/// The same mechanism: k8ssandra/cass-operator#760, k8ssandra/k8ssandra#1218.
#[test]
fn k8ssand_1362_a_start_that_was_permitted_and_never_happened_is_permitted_again() {
    let mut world = World::new().with(&racks(2, 1));
    world.until(|w| w.writes.iter().any(|w| w.contains("a-0 to initialize the ring")));
    unobserved(&mut world, |w| w.delete(kinds::POD, "demo-dc1-a-0"));
    world.expect_ring(3);
    assert_eq!(world.ring.founders.len(), 1);
}

/// The same class: rabbitmq/cluster-operator#928 and #968, pravega/zookeeper-operator#454,
/// #474, #541: what is taken out of the spec again goes from the objects.
#[test]
fn cass_operator_330_what_is_taken_out_of_the_spec_is_gone_from_the_objects() {
    let mut world = a_ring(2, 1);
    let objects = |w: &World| {
        let set = spec_of(w, kinds::STATEFUL_SET, "demo-dc1-a");
        let service = spec_of(w, kinds::SERVICE, "demo-client");
        (set["template"].clone(), service)
    };
    let before = objects(&world);
    let added = json!({
        "annotations": { "example.org/team": "storage" },
        "config": { "concurrent_reads": 8 },
        "env": [{ "name": "LANG", "value": "C" }],
    });
    world.patch_spec(&added);
    world.settle();
    world.expect_ring(3);
    assert_ne!(objects(&world), before, "the change is seen");
    world.patch_spec(&json!({ "annotations": null, "config": null, "env": null }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(objects(&world), before);
}

/// The same class: k8ssandra/k8ssandra-operator#742, Orange-OpenSource/casskop#20, Orange-OpenSource/casskop#207,
/// pravega/zookeeper-operator#547.
#[test]
fn cass_operator_334_an_unsatisfiable_placement_of_a_running_ring_is_cured_by_the_spec() {
    let mut world = a_ring(2, 1);
    let mut nowhere = racks(2, 1);
    let values = "/spec/datacenter/racks/0/placement/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values";
    *nowhere.pointer_mut(values).unwrap() = json!(["nowhere"]);
    world.set_racks(&nowhere);
    world.pass(300);
    assert_eq!(world.normal(), 2, "one waits, two serve: {}", world.last_words());
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
    world.patch_spec(&json!({ "repository": "example.org/missing" }));
    world.pass(300);
    assert_eq!(world.normal(), 2, "one waits, two serve: {}", world.last_words());
    world.patch_spec(&json!({ "repository": null }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn cass_operator_471_tolerations_reach_the_pods() {
    let mut world = a_ring(2, 1);
    let mut tolerant = racks(2, 1);
    tolerant["spec"]["datacenter"]["racks"][0]["placement"]["tolerations"] =
        json!([{ "key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule" }]);
    world.set_racks(&tolerant);
    world.settle();
    world.expect_ring(3);
    let pod = spec_of(&world, kinds::POD, "demo-dc1-a-0");
    assert_eq!(pod["tolerations"][0]["key"], "dedicated", "{pod}");
}

/// The same class: pravega/zookeeper-operator#513.
#[test]
fn scylla_operator_3539_two_one_two_and_then_the_next_shrink_leaves_the_ring_too() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(1, 1));
    let mut worlds = Vec::new();
    let mut shrinks = world.clone();
    while shrinks.tick().unwrap() == Tick::GoesOn {
        worlds.push(shrinks.clone());
    }
    for mut world in some(worlds, 17, 3) {
        world.set_racks(&racks(2, 1));
        world.settle();
        world.expect_ring(3);
        world.set_racks(&racks(1, 1));
        world.settle();
        world.expect_ring(2);
    }
}

/// Of scylladb/scylla-operator#1348, #1293, #1240, #345: a second decommission of a
/// member of the same name, and a join after a replace and a decommission.
#[test]
fn scylla_operator_1348_a_name_that_was_replaced_and_left_joins_and_leaves_again() {
    let mut world = a_ring(3, 1);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.wipe_volume("demo-dc1-a-2");
    world.settle();
    world.expect_ring(4);
    for (members, all) in [(2, 3), (3, 4), (2, 3), (3, 4)] {
        world.set_racks(&racks(members, 1));
        world.settle();
        world.expect_ring(all);
    }
}

#[test]
fn cass_operator_744_a_set_scaled_by_hand_joins_no_phantom() {
    let mut world = a_ring(2, 1);
    world.scale_set("demo-dc1-a", 5);
    world.pass(2);
    unobserved(&mut world, |w| w.pass(60));
    world.expect_ring(3);
    assert_eq!(world.members().len(), 3);
}

#[test]
fn cass_operator_437_an_empty_rack_is_no_trouble() {
    let mut world = World::new().with(&racks(2, 0));
    world.settle();
    world.expect_ring(2);
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
}

/// Of k8ssandra/cass-operator#816 and #261: a cleaner of stuck pods takes a pod whose
/// address and server still hold ranges.
#[test]
fn cass_operator_261_a_leaver_whose_pod_vanishes_early_still_gives_its_ranges_away() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.writes.iter().any(|w| w.contains("decommission member demo-dc1-a-2")));
    world.pass(1);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn rabbitmq_operator_1610_growing_restarts_nobody() {
    let mut world = a_ring(2, 1);
    let before = uids(&world, kinds::POD);
    world.set_racks(&racks(3, 1));
    world.settle();
    world.expect_ring(4);
    let after = uids(&world, kinds::POD);
    assert!(before.iter().all(|pod| after.contains(pod)), "{before:?} {after:?}");
}

#[test]
fn rabbitmq_operator_709_an_api_server_that_was_away_restarts_nobody() {
    let mut world = a_ring(2, 1);
    let before = uids(&world, kinds::POD);
    world.api_goes_away();
    world.pass(400);
    world.api_returns();
    world.settle();
    world.expect_ring(3);
    assert_eq!(uids(&world, kinds::POD), before);
}

/// A Node that is only unreachable is no reason to replace anybody.
#[test]
fn scylla_operator_507_a_node_that_is_away_for_long_and_comes_back_costs_nothing() {
    let mut world = a_ring(2, 1);
    world.set_machine("n1", Machine::Down);
    world.pass(330);
    world.set_machine("n1", Machine::Up);
    world.settle();
    world.expect_ring(3);
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
}
