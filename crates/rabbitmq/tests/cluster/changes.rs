//! Growth, shrinking and restarts.

use super::acts::pod;
use super::world::{World, cluster_key};
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// rabbitmq/cluster-operator#223: there fewer nodes could be asked for, and were not made
/// fewer, as messages would have been lost.
#[test]
fn a_cluster_grows_and_shrinks_and_grows_again_and_queues_go_with_it() {
    let mut world = World::settled(1);
    for (nodes, replicas) in
        [(3, vec![0, 1, 2]), (1, vec![0]), (3, vec![0, 1, 2]), (5, vec![0, 1, 2])]
    {
        world.patch_spec(&json!({ "nodes": nodes }));
        world.settle();
        world.expect(nodes);
        assert_eq!(world.replicas("orders"), replicas, "{}", world.last_words());
    }
}

/// rabbitmq/cluster-operator#1610: there the number of nodes was in the configuration of
/// each, and growth restarted them all.
#[test]
fn no_join_and_no_leave_restarts_anybody() {
    let mut world = World::settled(1);
    let before = world.pods();
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
    let three = world.pods();
    assert!(before.iter().all(|pod| three.contains(pod)));
    world.patch_spec(&json!({ "nodes": 1 }));
    world.settle();
    world.expect(1);
    assert!(world.pods().iter().all(|pod| three.contains(pod)));
    for ordinal in [1, 2] {
        assert!(!world.exists(kinds::MEMBER, &pod(ordinal)));
        assert!(!world.exists(kinds::SERVICE, &pod(ordinal)));
        assert!(world.exists(kinds::CLAIM, &format!("data-{}", pod(ordinal))), "data is kept");
    }
}

/// Every confirmed message is on a node that is left: replicas move before a node goes.
#[test]
fn replicas_move_to_others_before_a_leaver_goes() {
    let mut world = World::settled(5);
    world.declare_on("payments", super::volume::Kind::Quorum, &[2, 3, 4]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
    assert_eq!(world.replicas("payments"), [0, 1, 2], "{}", world.last_words());
}

#[test]
fn a_joiner_whose_pod_ends_at_any_time_joins_all_the_same() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    let mut worlds = Vec::new();
    // Where it ends while the other one takes replicas, queues may refuse these.
    while world.status()["turn"]["member"] != json!(pod(2)) {
        assert!(world.tick().unwrap(), "{}", world.last_words());
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(3) {
        if world.exists(kinds::POD, &pod(1)) {
            tried += 1;
            world.delete(kinds::POD, &pod(1));
        }
        world.settle();
        world.expect(3);
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn a_joiner_that_cannot_start_is_tried_three_times_and_holds_up_no_leave() {
    let mut world = World::settled(3);
    world.unlucky.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True JoinFailed: member demo-rmq-3"), "{said}");
    assert!(said.contains("`kubectl delete pod -n messaging demo-rmq-3`"), "{said}");
    assert_eq!(world.rabbit.running().len(), 4, "the other one has joined: {}", world.last_words());
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

#[test]
fn a_rollout_restarts_one_at_a_time_and_waits_until_each_has_caught_up() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    let mut away = 0;
    while world.tick().unwrap() {
        away = away.max(3 - world.rabbit.running().len());
    }
    assert_eq!(away, 1, "{}", world.last_words());
    world.expect(3);
    let replaced = world.writes.iter().filter(|w| w.starts_with("replace the pod of")).count();
    assert_eq!(replaced, 3, "{}", world.last_words());
    let spread = world.story.iter().filter(|line| line.contains(": Rebalance"));
    assert_eq!(spread.count(), 1, "{}", world.last_words());
}

/// Its replicas are behind: nobody else is stopped before they have caught up.
#[test]
fn the_next_restart_waits_for_replicas() {
    let mut world = World::settled(3);
    world.rabbit.slow = true;
    world.patch_spec(&json!({ "restartToken": "now" }));
    world.pass(300);
    let restarts = world.writes.iter().filter(|w| w.starts_with("restart the node")).count();
    assert_eq!(restarts, 1, "{}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.starts_with("True WaitingForQueues: member demo-rmq-0"), "{said}");
    world.rabbit.slow = false;
    world.settle();
    world.expect(3);
}

/// It loses nothing, and pauses for as long as one of the two is away.
#[test]
fn a_queue_with_two_replicas_holds_up_neither_a_restart_nor_a_rollout() {
    let mut world = World::settled(3);
    world.declare_on("pairs", super::volume::Kind::Quorum, &[0, 1]);
    world.pass(2);
    world.patch_spec(&json!({ "restartToken": "now" }));
    world.settle();
    world.expect(3);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.settle();
    world.expect(3);
    let did = |what: &str| world.writes.iter().filter(|w| w.starts_with(what)).count();
    assert_eq!((did("restart the node"), did("replace the pod of")), (3, 3));
}

/// A feature flag that is being enabled changes the tables of all nodes.
#[test]
fn no_node_is_stopped_in_the_middle_of_a_job_for_the_whole_cluster() {
    let mut world = World::settled(3);
    world.busy.insert(pod(0));
    world.definitions = Some("h1".to_string());
    world.until(|w| w.member(0)["status"]["operation"]["state"] == "Running");
    let mut smaller = world.clone();
    world.patch_spec(&json!({ "restartToken": "now" }));
    world.pass(300);
    let did = |w: &World, what: &str| w.writes.iter().any(|w| w.starts_with(what));
    assert!(!did(&world, "restart the node"), "{}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.starts_with("True WaitingForNodes: member demo-rmq-0 is not stopped"), "{said}");
    world.busy.clear();
    world.settle();
    world.expect(3);
    assert!(did(&world, "restart the node") && world.imported.contains("h1"));
    smaller.patch_spec(&json!({ "nodes": 1 }));
    smaller.pass(300);
    assert_eq!(smaller.rabbit.running().len(), 3, "{}", smaller.last_words());
    smaller.busy.clear();
    smaller.settle();
    smaller.expect(1);
}

#[test]
fn a_restart_that_is_asked_for_restarts_each_node_once_in_its_pod() {
    let mut world = World::settled(3);
    let before = world.pods();
    world.patch_spec(&json!({ "restartToken": "now" }));
    world.settle();
    world.expect(3);
    assert_eq!(world.pods(), before);
    let restarts = world.writes.iter().filter(|w| w.starts_with("restart the node")).count();
    assert_eq!(restarts, 3);
}

#[test]
fn a_node_alone_is_restarted_too() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "version": "3.10.25" }));
    world.settle();
    world.expect(1);
}

#[test]
fn a_rollout_to_an_image_that_does_not_exist_stops_at_the_first_and_can_be_corrected() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "version": "3.10.missing" }));
    world.settle();
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    assert_eq!(world.rabbit.running().len(), 2);
    let said = world.condition("Degraded");
    assert!(said.contains("RolloutStuck") || said.contains("ImagePullFailed"), "{said}");
    assert!(said.contains("set the spec back"), "{said}");
    world.patch_spec(&json!({ "version": "3.10.25" }));
    world.settle();
    world.expect(3);
}

/// Nobody serves who could be spared an unproven change, and no node serves before the
/// others are there.
#[test]
fn all_pods_that_end_before_a_change_is_proven_start_in_it_together() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.until(|w| w.writes.iter().any(|write| write.starts_with("begin the restart")));
    for ordinal in 0..3 {
        world.delete(kinds::POD, &pod(ordinal));
    }
    world.settle();
    world.expect(3);
}

#[test]
fn what_is_paused_is_left_alone() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "paused": true, "nodes": 3 }));
    world.settle();
    assert_eq!(world.rabbit.running().len(), 1);
    assert!(world.condition("Paused").starts_with("True"));
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect(3);
}

/// Dependents read it: it names members of record, not those that are ready now.
#[test]
fn a_restart_does_not_change_what_dependents_read() {
    let mut world = World::settled(3);
    let nodes = world.status()["service"]["nodes"].clone();
    world.delete(kinds::POD, &pod(1));
    let mut was_away = false;
    while world.tick().unwrap() {
        was_away |= world.status()["service"]["ready"] == json!(2);
        assert_eq!(world.status()["service"]["nodes"], nodes);
        assert_eq!(world.status()["service"]["active"], json!(true));
    }
    assert!(was_away);
}

/// Whatever was begun by then goes to its end, or is not begun.
#[test]
fn a_change_of_mind_at_any_time_ends_as_the_spec_says_last() {
    for (from, to) in [(3, 1), (1, 3)] {
        let mut world = World::settled(from);
        world.patch_spec(&json!({ "nodes": to }));
        let mut worlds = Vec::new();
        while world.tick().unwrap() {
            worlds.push(world.clone());
        }
        for mut world in worlds.into_iter().step_by(5) {
            world.patch_spec(&json!({ "nodes": from }));
            world.settle();
            world.expect(from);
        }
    }
}

/// An order that nobody has carried out ends with the turn that it was given in.
#[test]
fn an_order_does_not_outlive_its_turn() {
    let mut world = World::settled(5);
    world.slow.insert(pod(4));
    world.declare_on("payments", super::volume::Kind::Quorum, &[2, 3, 4]);
    world.patch_spec(&json!({ "nodes": 3 }));
    let order = |w: &World| w.member(4)["spec"]["operation"]["id"].clone();
    world.until(|w| order(w).is_string());
    let first = order(&world);
    world.store.put_status(&cluster_key(), json!({})).unwrap();
    world.until(|w| order(w) != first);
    world.slow.clear();
    world.settle();
    world.expect(3);
}
