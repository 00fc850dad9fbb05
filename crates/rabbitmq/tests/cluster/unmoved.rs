//! Leaves whose queues cannot be moved: they wait for a person, and hold up nobody else.

use super::acts::{node, pod};
use super::volume::Kind;
use super::world::{NAMESPACE, World};
use palladion_plan::ObjectKey;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// A queue of which the leaver holds one of two replicas; the other one is on a node that was
/// forgotten when its volume was lost.
pub(super) fn a_leave_whose_queue_has_no_majority() -> World {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[4, 7]);
    world.pass(5);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(300);
    world
}

impl World {
    pub(super) fn runs(&self, ordinal: i32) -> bool {
        self.rabbit.by_name(&node(ordinal)).is_some()
    }

    pub(super) fn restarted(&self, ordinals: &[i32]) -> bool {
        let token = |o: &i32| self.member(*o)["status"]["server"]["restartToken"].clone();
        ordinals.iter().all(|o| token(o) == "x")
    }
}

#[test]
fn a_leave_whose_queue_cannot_be_moved_is_reported_with_the_next_step() {
    let world = a_leave_whose_queue_has_no_majority();
    assert_eq!(world.replicas("payments"), [4, 7], "{}", world.last_words());
    assert_eq!(world.replicas("orders"), [0, 1, 2], "{}", world.last_words());
    assert_eq!(world.status()["turn"], json!(null), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesNotMoved: member demo-rmq-4"), "{said}");
    assert!(said.contains("1 queue (payments)") && said.contains("delete_queue"), "{said}");
}

#[test]
fn a_leave_whose_queue_cannot_be_moved_holds_up_no_other_leave_and_no_restart() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.pass(300);
    assert!(!world.runs(3) && world.runs(4), "the other one leaves: {}", world.last_words());
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(600);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    assert!(!world.restarted(&[4]), "its queue needs it: {}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

#[test]
fn a_leave_whose_queue_cannot_be_moved_holds_up_no_replacement() {
    let mut world = a_leave_whose_queue_has_no_majority();
    let before = world.member(1)["spec"]["volumeID"].clone();
    world.wipe(1);
    world.pass(900);
    assert_ne!(world.member(1)["spec"]["volumeID"], before, "{}", world.last_words());
    assert!(world.runs(1) && world.runs(4), "{}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

/// The spec asks for it again: it stays, and takes back what was moved off it.
#[test]
fn a_leaver_whose_queue_cannot_be_moved_stays_if_it_is_wanted_again() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[4, 7]);
    world.declare_on("receipts", Kind::Quorum, &[0, 1, 2, 3, 4]);
    world.pass(5);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.condition("Degraded").starts_with("True QueuesNotMoved"));
    assert_eq!(world.replicas("receipts"), [0, 1, 2, 3], "{}", world.last_words());
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(60);
    assert_eq!(world.replicas("receipts"), [0, 1, 2, 3, 4], "{}", world.last_words());
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(5);
}

/// The node with the other replica is mended: nobody has to say so.
#[test]
fn a_leave_goes_on_by_itself_when_its_queue_can_be_moved() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[0, 4]);
    world.pass(5);
    world.rabbit.crashed.insert(("payments".to_string(), node(0)));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.condition("Degraded").starts_with("True QueuesNotMoved"));
    world.writes.clear();
    world.pass(3_600);
    let looks =
        world.writes.iter().filter(|w| w.starts_with("begin the leave of member demo-rmq-4"));
    let looks = looks.count();
    assert!((4..8).contains(&looks), "{looks}: {}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesNotMoved"), "{said}");
    world.kill(0);
    world.settle();
    world.expect(3);
    assert!(!world.exists(kinds::MEMBER, &pod(4)), "{}", world.last_words());
}

/// The pod of the one that has left is there, and not ready, as long as there is a higher one: a
/// budget that counts it allows no eviction.
#[test]
fn a_rollout_goes_on_after_a_lower_member_has_left_than_the_one_that_stays_for_its_queue() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    world.pass(120);
    assert!(world.runs(4) && world.exists(kinds::POD, &pod(3)), "{}", world.last_words());
    let key = ObjectKey::new(kinds::POD, NAMESPACE, &pod(3));
    let ready = world.store.get(&key).unwrap()["status"]["conditions"].to_string();
    assert!(ready.contains(r#""status":"False","type":"Ready""#), "{ready}");
    let before: Vec<_> = (0..3).map(|o| world.uid(o)).collect();
    world.patch_spec(&json!({ "version": "3.10.25" }));
    world.pass(1_200);
    for (ordinal, before) in (0..3).zip(before) {
        assert!(world.runs(ordinal), "{}", world.last_words());
        assert_ne!(world.uid(ordinal), before, "{ordinal}: {}", world.last_words());
    }
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

/// The budget counts both, and is right about one of them.
#[test]
fn a_rollout_beside_an_idle_pod_ends_no_pod_while_another_member_is_not_ready() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    world.pass(120);
    world.unready.insert(pod(2));
    let before: Vec<_> = (0..2).map(|o| world.uid(o)).collect();
    world.patch_spec(&json!({ "version": "3.10.25" }));
    world.pass(600);
    let after: Vec<_> = (0..2).map(|o| world.uid(o)).collect();
    assert_eq!(after, before, "{}", world.last_words());
    world.unready.clear();
    world.pass(1_200);
    assert!((0..2).all(|o| world.uid(o) != before[usize::try_from(o).unwrap()]));
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

/// Nobody knows the new flags on its node, and nothing else waits for it.
#[test]
fn an_upgrade_beside_a_leaver_whose_queue_cannot_be_moved_spreads_leaders_and_imports() {
    let mut world = a_leave_whose_queue_has_no_majority();
    world.until(|w| !w.runs(3));
    world.patch_spec(&json!({ "version": "3.10.25" }));
    world.pass(1_500);
    assert_eq!(world.status()["rebalancePending"], json!(null), "{}", world.last_words());
    world.definitions = Some("h1".to_string());
    world.pass(300);
    assert_eq!(world.status()["definitionsHash"], json!("h1"), "{}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(3);
}

/// Of two nodes none could be restarted.
#[test]
fn a_leave_whose_queue_cannot_be_moved_holds_up_one_that_would_leave_two_nodes() {
    let mut world = World::settled(3);
    world.declare_on("payments", Kind::Quorum, &[2, 7]);
    world.pass(5);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.condition("Degraded").starts_with("True QueuesNotMoved"));
    world.pass(300);
    assert!(world.runs(1) && world.runs(2), "{}", world.last_words());
    let said = world.status()["waits"].to_string();
    assert!(said.contains("member demo-rmq-1 waits to leave until member demo-rmq-2"), "{said}");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    assert!(world.restarted(&[0]), "{}", world.last_words());
    world.delete_queue("payments");
    world.settle();
    world.expect(1);
}

/// Each of them has a queue that keeps it, and another one on both must not go to and fro.
#[test]
fn two_leavers_whose_queues_cannot_be_moved_give_each_other_nothing_back() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[4, 7]);
    world.declare_on("invoices", Kind::Quorum, &[3, 8]);
    world.declare_on("receipts", Kind::Quorum, &[0, 1, 2, 4]);
    world.pass(5);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(300);
    for _ in 0..6 {
        world.pass(300);
        assert!(world.runs(3) && world.runs(4), "{}", world.last_words());
        assert_eq!(world.replicas("receipts"), [0, 1, 2], "{}", world.last_words());
    }
    world.delete_queue("payments");
    world.delete_queue("invoices");
    world.settle();
    world.expect(3);
}

/// An agent that starts again in the middle of a long move says nothing of the queues.
#[test]
fn a_move_that_is_interrupted_goes_on_in_the_same_turn() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[0, 1, 4]);
    world.pass(5);
    world.busy.insert(pod(4));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(120);
    world.restart_agent(4);
    world.pass(3);
    world.busy.clear();
    world.pass(60);
    assert_eq!(world.replicas("payments").len(), 3, "{}", world.last_words());
    assert!(!world.replicas("payments").contains(&4), "{}", world.last_words());
    world.settle();
    world.expect(3);
    assert!(!world.reasons.contains("QueuesNotMoved"), "{}", world.last_words());
}

/// Whatever it is that fails, others do not wait for it.
#[test]
fn a_leave_whose_move_fails_each_time_is_reported_with_the_failure_and_makes_room() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[0, 1, 4]);
    world.pass(5);
    world.failing.insert(pod(4));
    world.patch_spec(&json!({ "nodes": 3, "restartToken": "x" }));
    world.pass(30);
    assert_eq!(world.status()["turn"]["member"], pod(4), "{}", world.last_words());
    world.pass(900);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesNotMoved: member demo-rmq-4"), "{said}");
    assert!(said.contains("payments") && said.contains("503"), "{said}");
    assert!(!said.contains("delete_queue"), "{said}");
    world.failing.clear();
    world.settle();
    world.expect(3);
}
