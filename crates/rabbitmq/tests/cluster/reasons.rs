//! The reasons of this mind that no other has, each seen in a story.

use super::acts::pod;
use super::volume::Kind;
use super::world::World;
use palladion_api::Reason;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

fn shows(world: &World, reason: Reason) {
    let conditions = ["Available", "Progressing", "Degraded", "Partitioned", "AllNodesSeen"];
    let said: Vec<String> = conditions.iter().map(|c| world.condition(c)).collect();
    let is_said = said.iter().any(|s| s.contains(reason.as_str()));
    let was_seen = world.reasons.contains(reason.as_str());
    assert!(is_said || was_seen, "{reason}: {said:?} {:?}", world.reasons);
}

#[test]
fn what_a_member_waits_for_has_a_reason() {
    let mut world = World::settled(3);
    world.cut(0, 1);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(60);
    shows(&world, Reason::WaitingForNodes);
    shows(&world, Reason::Partitioned);
    world.heal();
    world.settle();
    world.rabbit.slow = true;
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(120);
    shows(&world, Reason::WaitingForQueues);
}

#[test]
fn autoheal_says_what_it_may_lose() {
    let mut world = World::new().with(3);
    world.patch_spec(&json!({ "partitionHandling": "Autoheal" }));
    world.settle();
    shows(&world, Reason::ChangesMayBeLost);
    assert!(world.condition("Degraded").starts_with("False"));
}

#[test]
fn a_node_that_was_taken_out_by_hand_is_reported() {
    let mut world = World::settled(3);
    world.kill(2);
    let gone = super::acts::node(2);
    for disk in world.kube.disks.values_mut() {
        if let Some(data) = disk.content.data.as_mut() {
            if let Some(queue) = data.queues.get_mut("orders") {
                queue.replicas.remove(&gone);
            }
            if data.cluster.len() > 1 {
                data.cluster.remove(&gone);
            }
        }
    }
    world.pass(60);
    shows(&world, Reason::NotInCluster);
}

#[test]
fn what_stands_against_a_leave_has_a_reason() {
    let mut world = World::settled(3);
    world.alarms =
        serde_json::from_value(json!([{ "node": "rabbit@x", "resource": "disk" }])).unwrap();
    world.pass(10);
    shows(&world, Reason::AlarmRaised);
    world.alarms.clear();
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    shows(&world, Reason::QueuesWouldBeLost);
}

#[test]
fn what_stands_against_a_replacement_has_a_reason() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[3, 4]);
    world.pass(2);
    world.wipe(4);
    world.pass(120);
    shows(&world, Reason::QueuesWouldLoseQuorum);
    let nonce = world.nonce();
    world.rabbit.allowed_to_go.insert("payments".to_string());
    world.annotate_cluster(palladion_api::labels::ALLOW_FORGET, &nonce);
    world.pass(300);
    shows(&world, Reason::QueueNamesNode);
}

#[test]
fn a_node_that_waits_for_tables_says_so() {
    let mut world = World::settled(3);
    world.kill(0);
    world.pass(1);
    for ordinal in [1, 2] {
        world.kill(ordinal);
    }
    world.kube.set_machine(&mut world.store, "n3", Machine::Down);
    world.pass(60);
    shows(&world, Reason::WaitingForTables);
}

#[test]
fn what_an_agent_says_of_cookie_and_name_is_passed_on() {
    let mut world = World::settled(3);
    world.says.insert(pod(0), "CookieDiffers");
    world.pass(10);
    shows(&world, Reason::CookieDiffers);
    world.says.insert(pod(0), "NameUnresolved");
    world.pass(10);
    shows(&world, Reason::NameUnresolved);
}

/// The nodes keep their membership in another way: nothing is changed any more.
#[test]
fn a_cluster_with_khepri_is_left_alone() {
    let mut world = World::settled(3);
    world.khepri = true;
    world.pass(10);
    shows(&world, Reason::KhepriUnsupported);
    world.writes.clear();
    world.patch_spec(&json!({ "restartToken": "x", "nodes": 5 }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    let restarts = world.writes.iter().filter(|w| w.starts_with("restart the node"));
    assert_eq!(restarts.count(), 0, "{:?}", world.writes);
}

#[test]
fn definitions_that_are_not_imported_have_a_reason() {
    let mut world = World::settled(3);
    for ordinal in 0..3 {
        world.slow.insert(pod(ordinal));
    }
    world.definitions = Some("h1".to_string());
    world.pass(30);
    shows(&world, Reason::DefinitionsPending);
}

/// The first node waits for them before it serves, and so do all others.
#[test]
fn definitions_that_a_new_cluster_cannot_import_are_reported() {
    let mut world = World::new();
    world.definitions_are_refused = true;
    let spec = json!({ "nodes": 3, "version": "3.10.8", "definitionsSecretName": "queues" });
    world.create(&spec);
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True DefinitionsPending: member demo-rmq-0"), "{said}");
    assert!(said.contains("Secret queues"), "{said}");
    world.definitions_are_refused = false;
    world.definitions = Some("h1".to_string());
    world.settle();
    world.expect(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

#[test]
fn definitions_that_no_secret_has_are_reported_with_the_name_of_the_secret() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "definitionsSecretName": "queues" }));
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True DefinitionsMissing: "), "{said}");
    assert!(said.contains("in Secret queues"), "{said}");
    world.patch_spec(&json!({ "definitionsSecretName": null }));
    world.pass(600);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}
