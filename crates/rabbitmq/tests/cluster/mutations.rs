//! Rules that are broken on purpose: each must be seen, or the model proves nothing.

use super::acts::{node, pod};
use super::volume::Kind;
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

/// The command that forgets a node ignores what fails with its queues.
#[test]
fn a_node_that_is_forgotten_before_its_replicas_are_moved_is_seen() {
    let mut world = World::settled(3);
    world.rabbit.forgets_first = true;
    world.declare_on("invoices", Kind::Classic, &[1]);
    world.pass(2);
    world.kill(1);
    world.rabbit.forget(&node(1), &mut world.kube.disks).unwrap();
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("invoices"), "{why}");
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
    let outcome = world.try_settle();
    let recorded = world.member(1)["spec"]["volumeID"].clone();
    let is_ghost = json!(world.disk(1).content.id) != recorded && world.runs(1);
    assert!(outcome.is_err() || is_ghost, "{}", world.last_words());
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
    world.declare_on("pairs", Kind::Quorum, &[0, 1]);
    world.spared(&pod(0));
    assert!(
        world.broken.iter().any(|b| b.contains("pairs has lost its quorum")),
        "{:?}",
        world.broken
    );
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
    world.rabbit.begun += 1;
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("initialized twice"), "{why}");
    assert_eq!(world.status()["nodes"], json!("1/1"));
}
