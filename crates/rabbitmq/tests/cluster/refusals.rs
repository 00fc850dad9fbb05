//! What is not done before a user allows it, by the nonce that names all that would go; and
//! how a cluster is told whose spec is refused.

use super::acts::pod;
use super::volume::Kind;
use super::world::World;
use palladion_api::labels;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

#[test]
fn a_leave_that_would_delete_a_classic_queue_is_refused_by_name_and_moves_nothing() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesWouldBeLost: member demo-rmq-2"), "{said}");
    assert!(said.contains("1 queue (invoices)"), "{said}");
    assert_eq!(world.replicas("orders"), [0, 1, 2], "nothing was moved");
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
}

/// Nobody answers over a weekend: everything else goes on, and the nodes are left alone.
#[test]
fn a_leave_that_waits_for_a_user_holds_up_no_rollout_and_asks_seldom() {
    let mut world = World::settled(5);
    world.declare_on("invoices", Kind::Classic, &[4]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(60);
    world.writes.clear();
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.pass(300);
    let replaced = world.writes.iter().filter(|w| w.starts_with("replace the pod of")).count();
    assert_eq!(replaced, 3, "{}", world.last_words());
    // A changed spec asks anew.
    let nonce = world.nonce();
    world.writes.clear();
    world.pass(3600);
    let looks = world.writes.iter().filter(|w| w.starts_with("begin the leave")).count();
    assert!((2..8).contains(&looks), "{looks}: {}", world.last_words());
    assert_eq!(world.nonce(), nonce);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesWouldBeLost: member demo-rmq-4"), "{said}");
    world.rabbit.allowed_to_go.insert("invoices".to_string());
    world.annotate_cluster(labels::ALLOW_FORGET, &nonce);
    world.settle();
    world.expect(3);
}

#[test]
fn the_nonce_allows_it_for_these_queues_and_no_others() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    let nonce = world.nonce();
    // Another queue comes meanwhile: the permission does not cover it.
    world.declare_on("receipts", Kind::Classic, &[2]);
    world.annotate_cluster(labels::ALLOW_FORGET, &nonce);
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    let second = world.nonce();
    assert_ne!(nonce, second);
    world.rabbit.allowed_to_go.extend(["invoices".to_string(), "receipts".to_string()]);
    world.annotate_cluster(labels::ALLOW_FORGET, &second);
    world.settle();
    world.expect(1);
}

#[test]
fn a_leave_goes_on_by_itself_when_the_queue_is_deleted_or_not_wanted_any_more() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    let mut back = world.clone();
    back.patch_spec(&json!({ "nodes": 3 }));
    back.settle();
    back.expect(3);
    world.delete_queue("invoices");
    world.settle();
    world.expect(1);
}

/// Allowed, the member is forgotten; its name stays in the queue, so that nobody joins
/// under it before a person has deleted the queue.
#[test]
fn a_replacement_that_is_allowed_leaves_the_queue_to_a_person() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[3, 4]);
    world.pass(2);
    world.wipe(4);
    world.pass(120);
    let nonce = world.nonce();
    world.rabbit.allowed_to_go.insert("payments".to_string());
    world.annotate_cluster(labels::ALLOW_FORGET, &nonce);
    world.pass(300);
    let said = world.condition("Degraded");
    assert!(said.contains("QueueNamesNode") && said.contains("payments"), "{said}");
    assert_eq!(world.rabbit.running().len(), 4, "{}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(5);
}

#[test]
fn an_alarm_holds_up_a_leave_and_no_restart() {
    let mut world = World::settled(3);
    world.alarms =
        serde_json::from_value(json!([{ "node": "rabbit@x", "resource": "disk" }])).unwrap();
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("AlarmRaised") && said.contains("enlarge the volumes"), "{said}");
    world.alarms.clear();
    world.settle();
    world.expect(1);
}

/// Somebody has joined a node by hand.
#[test]
fn a_node_that_no_member_accounts_for_stops_every_change() {
    let mut world = World::settled(3);
    for disk in world.kube.disks.values_mut() {
        if let Some(data) = disk.content.data.as_mut() {
            data.cluster.insert("rabbit@stranger".to_string());
        }
    }
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True UnknownNode"), "{said}");
    assert!(!world.exists(kinds::MEMBER, &pod(3)) || world.rabbit.running().len() == 3);
}

/// Somebody reverts the version for a reason, and gates read `service.active`.
#[test]
fn a_cluster_whose_spec_is_refused_says_that_its_nodes_are_away_and_that_they_are_back() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "version": "3.11.28" }));
    world.settle();
    world.expect(3);
    world.patch_spec(&json!({ "version": "3.10.8" }));
    world.settle();
    let accepted = world.condition("Accepted");
    assert!(accepted.starts_with("False InvalidSpec"), "{accepted}");
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    for ordinal in [0, 1] {
        world.unlucky.insert(pod(ordinal));
        world.kill(ordinal);
    }
    world.pass(60);
    let said = world.condition("Available");
    assert!(said.starts_with("False QuorumLost: 0 of 3"), "{said}");
    let service = world.status()["service"].clone();
    assert_eq!((&service["active"], &service["ready"]), (&json!(false), &json!(0)), "{service}");
    assert_eq!(service["nodes"].as_array().map(Vec::len), Some(3), "who is away is of record");
    assert!(world.condition("Degraded").starts_with("True"), "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    assert_eq!(world.status()["service"]["active"], json!(true));
}

#[test]
fn a_turn_that_a_refused_spec_holds_up_is_named_and_goes_on_with_the_next_spec() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.member(2)["spec"]["intent"]["kind"] == "StopApp");
    world.patch_spec(&json!({ "nodes": 2 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True InvalidSpec: the leave of member demo-rmq-2 stands"), "{said}");
    world.patch_spec(&json!({ "nodes": 1 }));
    world.settle();
    world.expect(1);
}
