//! Machines that die while a member works for a task: all other tasks go on. And
//! clusters that are deleted meanwhile: whoever waits for a task is told.

use crate::jobs::task;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::tasks::{ask, status};
use palladion_api::task::{MemberTaskState, TaskPhase};
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";

fn phase(world: &World, name: &str) -> Option<TaskPhase> {
    status(world, name).phase
}

fn works(world: &World, member: &str) -> bool {
    let servers = &world.ring.servers;
    world.ring.calls.keys().any(|pod| servers.get(pod).is_some_and(|s| s.member == member))
}

/// A task whose second member's machine has died, and one behind it.
fn dead_in_a_unit() -> (World, String) {
    let mut world = spread(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, LAST));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(30);
    let mut other = task("flush", &json!({}));
    other["members"] = json!([FIRST]);
    ask(&mut world, "then", &other);
    (world, node)
}

#[test]
fn a_machine_that_dies_in_a_unit_lets_other_tasks_pass_after_ten_minutes() {
    let (mut world, node) = dead_in_a_unit();
    world.pass(300);
    assert_eq!(phase(&world, "then"), Some(TaskPhase::Waiting), "{}", world.last_words());
    world.settle();
    assert_eq!(phase(&world, "then"), Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Running), "it keeps its place");
    world.set_machine(&node, Machine::Up);
    world.settle();
    let status = status(&world, "work");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(status.members[1].tries, 2);
    world.expect_ring(3);
}

/// That others see it down is no silence: its agent is at it. The ten minutes begin when
/// the agent is heard no more.
#[test]
fn the_patience_with_a_silent_member_begins_with_its_silence() {
    let mut world = spread(2, 1);
    world.ring.hanging.insert(LAST.into());
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, LAST));
    world.cut_off(LAST);
    world.pass(3600);
    let state = |world: &World| status(world, "work").members[1].state;
    assert_eq!(state(&world), MemberTaskState::Running, "{}", world.last_words());
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(300);
    assert_eq!(state(&world), MemberTaskState::Running, "{}", world.last_words());
    world.pass(600);
    assert_eq!(state(&world), MemberTaskState::Interrupted, "{}", world.last_words());
    world.ring.hanging.clear();
    world.reconnect();
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
}

/// It is not given a third time: that it dies with its machine may be the work's doing.
#[test]
fn a_machine_that_dies_twice_in_a_unit_fails_it() {
    let (mut world, node) = dead_in_a_unit();
    world.settle();
    world.set_machine(&node, Machine::Up);
    world.until(|w| works(w, LAST));
    world.set_machine(&node, Machine::Down);
    world.settle();
    world.set_machine(&node, Machine::Up);
    world.settle();
    let status = status(&world, "work");
    use MemberTaskState::{Failed, Skipped, Succeeded};
    let states: Vec<_> = status.members.iter().map(|m| m.state).collect();
    assert_eq!(states, [Succeeded, Failed, Skipped], "{}", world.last_words());
    world.expect_ring(3);
}

/// Whoever waits for a task of a deleted ring does not wait for ever.
#[test]
fn the_tasks_of_a_cluster_that_is_deleted_with_its_data_have_failed() {
    let mut world = crate::every::a_ring(2, 1);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    ask(&mut world, "work", &task("compact", &json!({})));
    world.pass(1);
    ask(&mut world, "then", &task("flush", &json!({})));
    world.until(|w| works(w, LAST));
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    use MemberTaskState::{Failed, Skipped, Succeeded};
    let states = |name| status(&world, name).members.iter().map(|m| m.state).collect::<Vec<_>>();
    assert_eq!(states("work"), [Succeeded, Failed, Skipped], "{}", world.last_words());
    for name in ["work", "then"] {
        assert_eq!(phase(&world, name), Some(TaskPhase::Failed), "{name}: {}", world.last_words());
        let said = status(&world, name).conditions[0].message.clone();
        assert!(said.contains("CassandraCluster demo is being deleted"), "{said}");
    }
}
