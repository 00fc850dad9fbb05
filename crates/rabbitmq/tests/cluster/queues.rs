//! Queues that know a name before its node joins.

use super::acts::{node, pod};
use super::world::World;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// Somebody forgot a node by hand, and a queue kept it. An empty node under that name
/// would vote for messages that it does not have.
#[test]
fn a_member_does_not_join_while_a_queue_names_its_node() {
    let mut world = World::settled(3);
    let ghost = node(3);
    for disk in world.kube.disks.values_mut() {
        if let Some(queue) = disk.content.data.as_mut().and_then(|d| d.queues.get_mut("orders")) {
            queue.replicas.insert(ghost.clone());
        }
    }
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(300);
    assert!(world.rabbit.by_name(&ghost).is_none(), "{}", world.last_words());
    assert!(world.rabbit.by_name(&node(4)).is_some(), "others may: {}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("QueueNamesNode") && said.contains("orders"), "{said}");
    world.rabbit.delete_member("orders", &ghost, &mut world.kube.disks);
    world.settle();
    world.expect(5);
}

/// The volume of a joiner is lost after it has joined and before it is a member: the
/// others know its name, and forget it first.
#[test]
fn a_joiner_that_loses_its_volume_is_forgotten_and_joins_again() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| {
        let cluster =
            w.rabbit.running().first().map(|p| super::model::data(&w.kube.disks, p).cluster.len());
        cluster == Some(4)
    });
    world.wipe(3);
    world.delete(kinds::POD, &pod(3));
    world.settle();
    world.expect(5);
}

/// What nobody gave replicas stays as its owner declared it.
#[test]
fn a_queue_with_fewer_replicas_than_nodes_is_left_as_it_was_declared() {
    let mut world = World::settled(3);
    world.declare_on("small", super::volume::Kind::Quorum, &[0]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.settle();
    world.expect(5);
    assert_eq!(world.replicas("small"), [0]);
}

/// It keeps what it has, and that is said; everybody else joins, and gets replicas.
#[test]
fn a_queue_that_refuses_a_replica_holds_up_no_join() {
    let mut world = World::settled(1);
    world.declare("sick", 3);
    world.sick.insert("sick".to_string());
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    assert_eq!((world.replicas("sick"), world.replicas("orders")), (vec![0], vec![0, 1, 2]));
    assert_eq!(world.status()["turn"], json!(null), "{}", world.last_words());
    let said = world.events.iter().filter(|event| event.contains("1 queue (sick) refused"));
    assert_eq!(said.count(), 2, "{:?}", world.events);
}

#[test]
fn definitions_are_imported_once_when_they_change() {
    let mut world = World::settled(3);
    world.definitions = Some("h1".to_string());
    world.settle();
    world.expect(3);
    assert_eq!(world.status()["definitionsHash"], json!("h1"), "{}", world.last_words());
    let imports = |world: &World| {
        world.story.iter().filter(|line| line.contains("ImportDefinitions")).count()
    };
    assert_eq!(imports(&world), 1);
    world.definitions = Some("h2".to_string());
    world.settle();
    assert_eq!(imports(&world), 2);
    for ordinal in 0..3 {
        assert_eq!(world.member(ordinal)["spec"]["operation"], json!(null), "orders end");
    }
}
