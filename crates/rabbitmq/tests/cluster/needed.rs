//! Restarts of nodes that queues need, and joins under a name that a queue knows: what waits
//! for somebody holds up nobody else.

use super::acts::{node, pod};
use super::volume::Kind;
use super::world::World;
use serde_json::json;

impl World {
    /// The process of a replica ends, and nothing but a start of its node brings it back.
    fn crash(&mut self, queue: &str, ordinal: i32) {
        self.tell(&format!("the replica of {queue} on {} has crashed", pod(ordinal)));
        self.rabbit.crashed.insert((queue.to_string(), node(ordinal)));
    }

    fn was_restarted(&self, ordinal: i32) -> bool {
        self.member(ordinal)["status"]["server"]["restartToken"] == "x"
    }

    /// Members in the order in which they were restarted.
    fn restarts(&self) -> Vec<&str> {
        let restart = "restart the node of member ";
        self.writes.iter().filter_map(|line| line.strip_prefix(restart)).collect()
    }
}

/// The others cannot spare the first one: the queue has lost the replica on the third. The
/// restart of that one mends it.
#[test]
fn the_member_whose_restart_mends_a_queue_goes_before_those_that_it_needs() {
    let mut world = World::settled(3);
    world.crash("orders", 2);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.settle();
    world.expect(3);
    let order = [pod(2), pod(0), pod(1)];
    assert_eq!(world.restarts(), order.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Each queue has lost another replica, so that each node is needed.
fn a_cluster_whose_nodes_are_all_needed() -> World {
    let mut world = World::settled(3);
    for (queue, crashed) in [("a", 0), ("b", 1), ("c", 2)] {
        world.declare(queue, 3);
        world.pass(5);
        world.crash(queue, crashed);
    }
    world.patch_spec(&json!({ "restartToken": "x" }));
    world
}

#[test]
fn restarts_that_wait_for_queues_hold_up_no_join() {
    let mut world = a_cluster_whose_nodes_are_all_needed();
    world.pass(120);
    let said = world.condition("Progressing");
    assert!(said.contains("need its node"), "{said}");
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(900);
    assert_eq!(world.rabbit.running().len(), 5, "{}", world.last_words());
    assert!(!world.was_restarted(0), "{}", world.last_words());
    world.rabbit.crashed.clear();
    world.settle();
    world.expect(5);
    assert!((0..5).all(|ordinal| world.was_restarted(ordinal)), "{}", world.last_words());
}

/// Looks cost every node a second of a processor each.
#[test]
fn nodes_that_are_needed_are_asked_again_after_minutes() {
    let mut world = a_cluster_whose_nodes_are_all_needed();
    world.pass(300);
    world.writes.clear();
    world.pass(1_800);
    let asked = world.writes.len();
    assert!(asked > 0 && asked < 120, "{asked}: {:?}", world.writes);
    world.rabbit.crashed.clear();
    world.settle();
    world.expect(3);
    assert!((0..3).all(|ordinal| world.was_restarted(ordinal)), "{}", world.last_words());
}

/// Somebody forgot the node by hand, and a queue kept it.
#[test]
fn a_joiner_whose_name_a_queue_knows_holds_up_no_restart() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[3]);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(300);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!((0..3).all(|ordinal| world.was_restarted(ordinal)), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("QueueNamesNode") && said.contains("invoices"), "{said}");
    assert!(world.rabbit.by_name(&node(3)).is_none(), "{}", world.last_words());
    assert!(world.rabbit.by_name(&node(4)).is_some(), "nor another join: {}", world.last_words());
    world.delete_queue("invoices");
    world.settle();
    world.expect(5);
}
