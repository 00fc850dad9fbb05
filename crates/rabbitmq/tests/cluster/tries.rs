//! What is on record of a leave whose queues cannot be moved stands while others have the turn, and
//! each look at it is one try.

use super::acts::pod;
use super::unmoved::a_leave_whose_queue_has_no_majority;
use super::volume::Kind;
use super::world::World;
use serde_json::json;

impl World {
    fn of_record(&self) -> usize {
        self.status()["service"]["nodes"].as_array().map_or(0, Vec::len)
    }
}

/// Its replacement was begun before the spec asked for fewer nodes: the loss is on record, and it
/// has joined again.
#[test]
fn a_lost_leaver_that_joined_again_and_whose_queue_cannot_be_moved_makes_room() {
    let mut world = World::settled(5);
    world.wipe(4);
    world.failing.insert(pod(4));
    world.until(|w| w.condition("Degraded").contains("the join of member demo-rmq-4"));
    assert!(world.runs(4), "{}", world.last_words());
    world.failing.clear();
    world.declare_on("payments", Kind::Quorum, &[4, 7]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 3, "restartToken": "x" }));
    world.pass(900);
    assert!(!world.member(4)["spec"]["replace"].is_null(), "{}", world.last_words());
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    world.writes.clear();
    world.pass(3_600);
    let begun = world.writes.iter().filter(|w| w.contains("the leave of member demo-rmq-4"));
    assert!(begun.count() < 20, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesNotMoved: member demo-rmq-4"), "{said}");
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

#[test]
fn a_classic_queue_that_comes_while_replicas_are_moved_holds_up_nobody_else() {
    let mut world = World::settled(5);
    world.declare_on("receipts", Kind::Quorum, &[0, 1, 2, 4]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.member(4)["spec"]["operation"]["kind"] == "MoveReplicas");
    world.declare_on("invoices", Kind::Classic, &[4]);
    world.pass(60);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesWouldBeLost: member demo-rmq-4"), "{said}");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(300);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    let mut back = world.clone();
    back.patch_spec(&json!({ "nodes": 5 }));
    back.settle();
    back.expect(5);
    assert_eq!(back.replicas("receipts").len(), 4, "{}", back.last_words());
    world.delete_queue("invoices");
    world.settle();
    world.expect(3);
}

#[test]
fn a_move_that_has_failed_before_is_tried_once_each_time() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[0, 1, 4]);
    world.pass(5);
    world.failing.insert(pod(4));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.condition("Degraded").starts_with("True QueuesNotMoved"));
    world.until(|w| w.status()["turn"].is_null());
    world.writes.clear();
    world.pass(3_600);
    let of = |what: &str| world.writes.iter().filter(|w| w.contains(what)).count();
    let begun = of("begin the leave of member demo-rmq-4");
    assert!((4..8).contains(&begun), "{begun}: {}", world.last_words());
    let moved = of("have member demo-rmq-4 move replicas");
    assert!(moved <= begun, "{moved} of {begun}: {}", world.last_words());
}

/// Dependents restart for each change of the nodes.
#[test]
fn a_leaver_that_cannot_leave_does_not_come_and_go_as_a_node_with_its_health() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    world.pass(60);
    assert_eq!(world.of_record(), 3, "{}", world.last_words());
    world.unlucky.insert(pod(4));
    world.kill(4);
    for _ in 0..60 {
        world.pass(60);
        assert_eq!(world.of_record(), 3, "{}", world.last_words());
    }
    world.unlucky.clear();
    for _ in 0..20 {
        world.pass(60);
        assert_eq!(world.of_record(), 3, "{}", world.last_words());
    }
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

#[test]
fn what_is_reported_of_a_leaver_outlasts_a_look_that_it_answers_in_part() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    world.half.insert(pod(4));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(240);
    let said = world.condition("Degraded");
    assert!(said.contains("QueuesNotMoved"), "{said}");
    assert_eq!(world.of_record(), 3, "{}", world.last_words());
    world.half.clear();
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

/// An alarm of its own node has it restarted, and its queue needs it.
#[test]
fn what_is_reported_of_a_leaver_outlasts_its_own_restart() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    let node = super::acts::node(4);
    world.alarms = serde_json::from_value(json!([{ "node": node, "resource": "memory" }])).unwrap();
    world.patch_spec(&json!({ "restartToken": "x" }));
    for _ in 0..20 {
        world.pass(30);
        let said = world.condition("Degraded");
        assert!(said.contains("QueuesNotMoved"), "{said}: {}", world.last_words());
        assert_eq!(world.of_record(), 3, "{}", world.last_words());
    }
    world.alarms.clear();
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}
