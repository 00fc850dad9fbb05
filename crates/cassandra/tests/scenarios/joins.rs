//! What a member lacks that has joined, and how anybody knows.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use crate::sim::rows::Level;
use crate::tasks::{ask, status};
use palladion_api::task::TaskPhase;
use serde_json::json;

const JOINER: &str = "demo-dc1-a-2";
/// A coordinator that hears nothing of the joiner.
const DEAF: &str = "demo-dc1-b-0";

/// Repairs of the joiner that were begun, but for those of the system keyspaces.
fn repairs(world: &World) -> usize {
    world.begun_by(JOINER).iter().filter(|id| id.starts_with("pay-repair")).count()
}

fn grows(deaf: &[&str]) -> World {
    let mut world = a_ring(2, 1);
    world.ring.deaf = deaf.iter().map(|name| name.to_string()).collect();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.normal() == 4);
    world.ring.deaf.clear();
    world.settle();
    world.expect_ring(4);
    world
}

/// What the other coordinated meanwhile went to the old owners alone.
#[test]
fn a_joiner_of_which_one_member_has_not_heard_is_repaired() {
    let world = grows(&[DEAF]);
    assert_eq!(repairs(&world), 1, "{}", world.last_words());
}

/// A repair of all ranges takes hours in a large ring.
#[test]
fn a_joiner_of_which_all_have_heard_is_not_repaired() {
    let world = grows(&[]);
    assert_eq!(repairs(&world), 0, "{}", world.last_words());
}

/// Rows that a coordinator wrote past a joiner of which it had not heard. The first repair of the
/// joiner fails.
fn written_past_the_joiner() -> World {
    let mut world = a_ring(2, 1);
    world.ring.deaf.insert(DEAF.into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    assert_eq!(world.write_at(20, Level::Quorum, DEAF), 20, "{}", world.last_words());
    world.until(|w| w.normal() == 4);
    world.ring.deaf.clear();
    world.ring.failing.insert(JOINER.into());
    world
}

/// It is survived with two copies.
fn survives_a_loss(mut world: World) {
    crate::maintenance::lose(&mut world, "demo-dc1-a-0");
    world.settle();
    world.expect_ring(4);
}

/// What the deaf one coordinated meanwhile is on the old owners alone, until the joiner is
/// repaired. That fails at first.
#[test]
fn nothing_is_cleaned_up_before_the_joiner_is_repaired() {
    let mut world = written_past_the_joiner();
    world.until(|w| w.ring.begun.iter().any(|(_, id)| id.starts_with("pay-cleanup")));
    assert_eq!(repairs(&world), 2, "the first has failed: {}", world.last_words());
    world.settle();
    world.expect_ring(4);
    survives_a_loss(world);
}

/// Nor by a task: while that repair fails over and over, and where the joiner cannot begin it,
/// since somebody has closed it to clients.
#[test]
fn no_task_cleans_up_before_the_joiner_is_repaired() {
    for is_closed in [false, true] {
        let mut world = written_past_the_joiner();
        world.until(|w| crate::holes::wrote(w, &format!("finish the join of member {JOINER}")));
        if is_closed {
            world.ring.closed.insert(JOINER.into());
        }
        ask(&mut world, "cleanup", &json!({ "cluster": "demo", "cleanup": { "jobs": 1 } }));
        for _ in 0..90 {
            if !is_closed {
                world.ring.failing.insert(JOINER.into());
            }
            world.pass(20);
        }
        assert!(repairs(&world) > 3 || is_closed, "it is tried again: {}", world.last_words());
        let cleanup = status(&world, "cleanup");
        let begun = cleanup.members.iter().filter(|m| m.started_at.is_some()).count();
        assert_eq!(begun, 0, "{is_closed}: {}", world.last_words());
        let said = format!("{:?}", cleanup.conditions);
        assert!(said.contains("MaintenancePending"), "{is_closed}: {said}");
        world.ring.failing.clear();
        world.ring.closed.clear();
        world.settle();
        assert_eq!(status(&world, "cleanup").phase, Some(TaskPhase::Done), "{}", world.waits());
        world.expect_ring(4);
        survives_a_loss(world);
    }
}
