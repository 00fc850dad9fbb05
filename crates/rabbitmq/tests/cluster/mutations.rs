//! Rules that are broken on purpose: each must be seen, or the model proves nothing.

use super::acts::{node, pod};
use super::volume::{Kind, Part};
use super::world::World;
use serde_json::json;

#[test]
fn that_history_is_harmless_as_it_is() {
    let mut world = World::settled(3);
    world.wipe_the_only_other_one_that_knows();
    assert_eq!(world.try_settle(), Ok(()));
}

/// Empty nodes that find their peers: a replica without anything votes.
#[test]
fn a_wiped_node_that_joins_by_discovery_under_its_old_name_is_seen() {
    let mut world = World::settled(3);
    world.rabbit.discovery = true;
    world.faithless.forgets = true;
    world.wipe_the_only_other_one_that_knows();
    world.force_boot(2);
    let why = world.try_settle().expect_err("the loss should be seen");
    assert!(why.contains("confirmed messages"), "{why}");
}

/// Whatever the others have, it votes for what it has acknowledged and has not.
#[test]
fn a_replica_without_what_it_has_acknowledged_is_seen() {
    let mut world = World::settled(3);
    world.rabbit.discovery = true;
    world.faithless.forgets = true;
    world.rabbit.slow = true;
    world.wipe(1);
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("has acknowledged"), "{why}");
}

/// A queue comes onto a leaver after all have answered that nothing is on it. The command
/// that forgets a node deletes such a queue: whoever runs it looks once more.
fn a_queue_that_comes_at_the_last_moment(forgets_first: bool) -> World {
    let mut world = World::settled(3);
    world.rabbit.forgets_first = forgets_first;
    world.slow.insert(pod(0));
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.member(0)["spec"]["operation"]["kind"] == "Forget");
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.slow.clear();
    world
}

#[test]
fn a_node_that_is_forgotten_without_a_last_look_is_seen() {
    let mut world = a_queue_that_comes_at_the_last_moment(true);
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("invoices is deleted"), "{why}");
    let mut world = a_queue_that_comes_at_the_last_moment(false);
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
}

#[test]
fn an_agent_that_starts_a_node_on_an_old_disk_is_seen() {
    let mut world = World::settled(3);
    world.faithless.starts_unasked = true;
    let old = world.disk(1).content.clone();
    world.wipe(1);
    world.settle();
    world.disk(1).content = old;
    world.kill(1);
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("is not on record"), "{why}");
}

#[test]
fn an_end_of_a_pod_that_leaves_no_majority_is_seen() {
    let mut world = World::settled(3);
    world.spared(&pod(0));
    assert_eq!(world.broken, Vec::<String>::new(), "two of three are left");
    world.cut(1, 0);
    world.cut(1, 2);
    world.pass(2);
    world.spared(&pod(0));
    assert!(!world.broken.is_empty(), "{:?}", world.broken);
}

#[test]
fn an_end_of_a_pod_that_a_queue_needs_is_seen() {
    let mut world = World::settled(3);
    world.kill(2);
    world.spared(&pod(0));
    assert!(
        world.broken.iter().any(|b| b.contains("orders has lost its quorum")),
        "{:?}",
        world.broken
    );
}

/// The other one copies, is online, and is all that is left.
#[test]
fn a_stream_whose_whole_replica_is_deleted_while_another_copies_is_seen() {
    let mut world = World::settled(3);
    world.declare_on("log", Kind::Stream, &[2]);
    world.pass(10);
    world.rabbit.slow = true;
    world.rabbit.add_member("log", &node(0), &mut world.kube.disks);
    world.pass(1);
    assert_eq!(world.rabbit.lost(&world.kube.disks), None);
    world.rabbit.delete_member("log", &node(2), &mut world.kube.disks);
    let why = world.rabbit.lost(&world.kube.disks).expect("it should be seen");
    assert!(why.contains("leads log without confirmed messages"), "{why}");
}

#[test]
fn a_name_on_two_volumes_is_seen() {
    let mut world = World::settled(3);
    let twin = world.rabbit.by_name(&node(0)).unwrap().1.clone();
    let disk = world.rabbit.by_name(&node(1)).unwrap().1.disk.clone();
    let twin = super::model::Process { disk, ..twin };
    let _ = world.rabbit.start("another pod", twin, &mut world.kube.disks);
    assert!(world.rabbit.broken.iter().any(|b| b.contains("runs on")), "{:?}", world.rabbit.broken);
}

#[test]
fn a_second_beginning_is_seen() {
    let mut world = World::settled(1);
    world.rabbit.allowed_to_go.insert("orders".to_string());
    // Its ledger does not know any more that it has joined, and somebody permits a start.
    let ledger = &mut world.disk(0).content.ledger;
    (ledger.part, ledger.entered) = (Part::Begun, false);
    let (uid, volume) = (world.uid(0).unwrap(), world.disk(0).content.id.clone());
    let start = json!({
        "kind": "Initialize", "nonce": "again", "podUID": uid, "volumeID": volume,
        "data": "Wipe", "reason": "of a test", "attempt": 1,
    });
    world.kill(0);
    world.patch_member(&pod(0), &json!({ "spec": { "start": start } }));
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("initialized twice"), "{why}");
}
