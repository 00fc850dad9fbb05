//! The reasons of this mind that no other has, each seen in a story.

use super::acts::pod;
use super::volume::Kind;
use super::world::World;
use palladion_api::Reason;
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
fn refusals_and_flags_have_reasons() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    shows(&world, Reason::QueuesWouldBeLost);
    let _ = pod(0);
}
