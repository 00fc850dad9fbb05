//! Bugs that clusters were lost or stuck by under rabbitmq/cluster-operator, one history
//! each, named after the report: `rabbitmq_operator_<number>_<what must not happen>`.
//!
//! Others are named where an older story is theirs: #223 and #1610 (`changes`), #609 and
//! rabbitmq/rabbitmq-server#2414 (`losses`), #662 and #989 (`creation`). #884 is about TLS
//! and #928 about an override of the StatefulSet, which a `RabbitmqCluster` has not: here
//! they stand for their classes, a spec that contradicts itself, and what is taken out of a
//! part of the pod that is passed on. #968 is about annotations of a Service; those of a
//! `RabbitmqCluster` are its pods' and its set's.

mod storage;

use super::acts::pod;
use super::world::{NAMESPACE, World, cluster_key};
use palladion_plan::sim::Feed;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{Mind, ObjectKey};
use palladion_rabbitmq::{RabbitmqMind, resources as kinds};
use serde_json::{Value, json};

const SET: &str = "demo-rmq";

/// All machines are terminated and come back, those first whose nodes ran last.
#[test]
fn rabbitmq_operator_480_a_cluster_whose_machines_were_all_down_comes_back_in_any_order() {
    for order in [["n1", "n2", "n3"], ["n3", "n2", "n1"], ["n2", "n3", "n1"]] {
        let mut world = World::settled(3);
        for node in order {
            world.kube.set_machine(&mut world.store, node, Machine::Down);
            world.pass(3);
        }
        assert!(world.rabbit.running().is_empty(), "{}", world.last_words());
        for node in order {
            world.kube.set_machine(&mut world.store, node, Machine::Up);
            world.pass(60);
        }
        world.settle();
        world.expect(3);
        assert_eq!(world.rabbit.begun, 1);
    }
}

#[test]
fn rabbitmq_operator_648_an_older_deletion_seen_again_takes_no_live_set_and_no_claim() {
    let spec = json!({ "nodes": 3, "version": "3.10.8", "deletionPolicy": "Delete" });
    let mut world = World::new();
    world.create(&spec);
    world.settle();
    world.delete_cluster();
    // This leader never sees more than that the cluster is being deleted.
    world.until(|w| w.store.names(kinds::STATEFUL_SET).is_empty());
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.start_operator();
    world.until(World::is_deleted);
    world.let_go_of_the_data();
    world.create(&spec);
    world.until(|w| w.rabbit.running().len() == 3 && w.status()["turn"].is_null());
    let all = |w: &World| [kinds::STATEFUL_SET, kinds::CLAIM, kinds::POD].map(|k| w.store.uids(k));
    let before = all(&world);
    world.operators[0].resync();
    world.pass(300);
    assert_eq!(all(&world), before, "{}", world.last_words());
    world.operators.remove(0);
    world.settle();
    world.expect(3);
}

#[test]
fn rabbitmq_operator_709_an_api_server_that_was_away_restarts_nobody() {
    let mut world = World::settled(3);
    let before = world.pods();
    world.without_api(3_600);
    world.settle();
    world.expect(3);
    assert_eq!(world.pods(), before);
    let steps = world.writes.iter().filter(|w| w.contains("restart"));
    assert_eq!(steps.count(), 0, "{:?}", world.writes);
}

/// There the guard against a shrink compared with what was seen last.
#[test]
fn rabbitmq_operator_758_a_shrink_that_nobody_saw_begin_moves_queues_all_the_same() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.settle();
    world.declare_on("payments", super::volume::Kind::Quorum, &[2, 3, 4]);
    world.pass(2);
    world.unobserved(|w| {
        w.patch_spec(&json!({ "nodes": 7 }));
        w.pass(30);
        w.patch_spec(&json!({ "nodes": 3 }));
    });
    world.expect(3);
    assert_eq!(world.replicas("payments"), [0, 1, 2], "{}", world.last_words());
    world.unobserved(|w| {
        w.patch_spec(&json!({ "nodes": 1 }));
        w.pass(30);
        w.patch_spec(&json!({ "nodes": 5 }));
    });
    world.expect(5);
}

/// There it was tried again and again without end, and half of it was done.
#[test]
fn rabbitmq_operator_884_a_spec_that_cannot_be_is_refused_once_and_nothing_of_it_is_done() {
    let mut world = World::new();
    let wrong = json!({
        "nodes": 3, "version": "3.10.8", "config": { "cluster_formation.peer_discovery_backend": "dns" },
    });
    world.create(&wrong);
    world.settle();
    let said = world.condition("Accepted");
    assert!(said.starts_with("False InvalidSpec"), "{said}");
    assert!(said.contains("cluster_formation"), "{said}");
    assert_eq!(world.writes, [""; 0]);
    let writes = world.faults.writes();
    world.pass(3_600);
    assert_eq!(world.faults.writes(), writes, "at rest nothing is written");
    world.patch_spec(&json!({ "config": null }));
    world.settle();
    world.expect(3);
}

/// #928 and #968: what is taken out of the spec again goes from the objects, whatever was
/// there in between.
#[test]
fn rabbitmq_operator_968_what_is_taken_out_of_the_spec_is_gone_from_the_objects() {
    let mut world = World::settled(3);
    let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, SET);
    let set = |w: &World| {
        let set = w.store.get(&key).unwrap();
        let mut annotations = set["metadata"]["annotations"].clone();
        annotations.as_object_mut().unwrap().retain(|key, _| key.starts_with("example.org"));
        (set["spec"]["template"].clone(), annotations)
    };
    let before = set(&world);
    let apart = |key: &str| {
        let selector = json!({ "matchLabels": { "palladion.dev/rabbitmq": "demo" } });
        let term = json!({ "topologyKey": key, "labelSelector": selector });
        json!({ "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1, "podAffinityTerm": term }],
        } })
    };
    let annotated = json!({ "example.org/team": "queues", "example.org/note": "x" });
    world.patch_spec(&json!({ "annotations": annotated, "placement": apart("zone") }));
    world.settle();
    world.expect(3);
    let (template, annotations) = set(&world);
    assert_eq!(annotations["example.org/team"], "queues");
    assert!(template.to_string().contains(r#""topologyKey":"zone""#), "{template}");
    // A part of each goes, then all.
    world.patch_spec(&json!({ "annotations": { "example.org/note": null } }));
    world.patch_spec(&json!({ "placement": null }));
    world.settle();
    world.expect(3);
    let (template, annotations) = set(&world);
    assert_eq!(annotations, json!({ "example.org/team": "queues" }));
    assert_eq!(template["spec"]["affinity"], before.0["spec"]["affinity"]);
    world.patch_spec(&json!({ "annotations": null }));
    world.settle();
    world.expect(3);
    assert_eq!(set(&world), before);
}

/// There all Secrets and ConfigMaps of Kubernetes were kept in memory.
#[test]
fn rabbitmq_operator_1285_no_secret_is_watched_and_of_config_maps_only_ours() {
    let watches = RabbitmqMind.watches();
    assert!(watches.iter().all(|w| w.resource != kinds::SECRET));
    let maps: Vec<_> = watches.iter().filter(|w| w.resource == kinds::CONFIG_MAP).collect();
    assert_eq!(maps.len(), 1, "{maps:?}");
    assert!(maps[0].selector.contains("palladion"), "{maps:?}");
}

/// There the pods of a cluster of the same name in another namespace were labelled.
#[test]
fn rabbitmq_operator_1864_a_cluster_of_the_same_name_elsewhere_is_left_alone() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    let keys = copy_all_to_another_namespace(&mut world);
    let elsewhere = |w: &World| -> Vec<Value> {
        keys.iter().map(|key| Value::clone(w.store.get(key).unwrap())).collect()
    };
    world.pass(5);
    let before = elsewhere(&world);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.rabbit.running().len() == 1);
    world.delete_cluster();
    world.until(|w| w.store.get(&cluster_key()).is_none());
    world.pass(60);
    let of_us = world.store.list(kinds::CLAIM).filter(|(key, _)| key.namespace == NAMESPACE);
    assert_eq!(of_us.count(), 0, "{}", world.last_words());
    assert_eq!(elsewhere(&world), before);
}

/// A cluster of the same name with its members, which even say that they are of ours; its
/// pods are on another machine.
fn copy_all_to_another_namespace(world: &mut World) -> Vec<ObjectKey> {
    let place = "elsewhere";
    let mut copies: Vec<(ObjectKey, Value)> = Vec::new();
    for kind in [kinds::CLUSTER, kinds::POD, kinds::CLAIM, kinds::MEMBER] {
        let all = world.store.list(kind);
        copies.extend(all.map(|(key, object)| {
            let mut copy = Value::clone(object);
            copy["metadata"]["namespace"] = json!(place);
            (ObjectKey::new(key.resource, place, &key.name), copy)
        }));
    }
    for (key, copy) in &mut copies {
        let metadata = copy["metadata"].as_object_mut().unwrap();
        metadata
            .retain(|f, _| !["uid", "resourceVersion", "ownerReferences"].contains(&f.as_str()));
        if key.resource == kinds::POD {
            copy["spec"]["nodeName"] = json!("n9");
        }
        world.store.create(key, copy).unwrap();
    }
    assert_eq!(copies.len(), 10);
    copies.into_iter().map(|(key, _)| key).collect()
}

/// There the empty node that came for it was a cluster of its own. Here it waits: the old
/// volume may still be there, under no claim, and a user says that it is not.
#[test]
fn rabbitmq_operator_1958_a_claim_and_its_pod_deleted_by_hand_make_no_second_cluster() {
    let mut world = World::settled(3);
    let old = world.member(1)["spec"]["volumeID"].clone();
    world.delete(kinds::CLAIM, &format!("data-{}", pod(1)));
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.rabbit.nodes.len(), 2, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeNotMounted: member demo-rmq-1"), "{said}");
    world.give_up_volume(1);
    world.settle();
    world.expect(3);
    assert_ne!(world.member(1)["spec"]["volumeID"], old);
    assert_eq!(world.rabbit.begun, 1);
    assert_eq!(world.replicas("orders"), [0, 1, 2], "{}", world.last_words());
}
