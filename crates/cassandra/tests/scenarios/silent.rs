//! Machines that die while a member works for a task: all other tasks go on. And
//! clusters that are deleted meanwhile: whoever waits for a task is told.

use crate::jobs::task;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use crate::sim::world::Link;
use crate::tasks::{ask, status};
use palladion_api::task::{MemberTaskState, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
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

/// The member was given its part, and its agent, which reports, waits for its server to serve.
#[test]
fn a_part_that_was_not_begun_because_the_server_does_not_serve_lets_other_tasks_pass() {
    let mut world = spread(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    let last = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
    world.until(|w| w.store.get(&last).is_some_and(|member| member["spec"]["job"].is_object()));
    world.ring.closed.insert(LAST.into());
    world.kill_server(LAST);
    let mut other = task("flush", &json!({}));
    other["members"] = json!([FIRST]);
    ask(&mut world, "then", &other);
    world.pass(300);
    assert_eq!(status(&world, "work").members[1].state, MemberTaskState::Running, "it was given");
    assert!(!works(&world, LAST), "and not begun");
    assert_eq!(phase(&world, "then"), Some(TaskPhase::Waiting), "{}", world.last_words());
    world.pass(600);
    assert_eq!(phase(&world, "then"), Some(TaskPhase::Done), "{}", world.last_words());
    let given_back = &status(&world, "work").members[1];
    assert_eq!((given_back.state, given_back.tries), (MemberTaskState::Interrupted, 0));
    world.ring.closed.clear();
    world.settle();
    let status = status(&world, "work");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(status.members[1].tries, 1);
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

/// A ring in which an agent was cut off from the API server while its member worked. Its pod
/// and its Node are Ready.
fn cut_off_in_a_unit() -> World {
    let mut world = crate::every::a_ring(2, 1);
    let mut work = task("compact", &json!({}));
    work["memberDeadlineSeconds"] = json!(300);
    ask(&mut world, "work", &work);
    world.until(|w| works(w, LAST));
    world.agent_is_cut(LAST, Link::Cut);
    world
}

#[test]
fn what_a_cut_off_agent_said_last_is_not_believed_half_an_hour_after_the_deadline() {
    let mut world = cut_off_in_a_unit();
    let of_last = |world: &World| status(world, "work").members[1].clone();
    world.pass(1800);
    assert_eq!(of_last(&world).state, MemberTaskState::Running, "{}", world.last_words());
    world.pass(600);
    assert_eq!(of_last(&world).state, MemberTaskState::Failed, "{}", world.last_words());
    assert_eq!(of_last(&world).reason.as_deref(), Some("MemberLost"));
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Failed), "{}", world.last_words());
    world.agents_are_back();
    world.settle();
    world.expect_ring(3);
}

/// Nobody knows how far the work is; but it is over when the longest work would be.
#[test]
fn what_a_cut_off_agent_said_last_does_not_hold_up_repair_for_ever() {
    let mut world = cut_off_in_a_unit();
    world.pass(1800);
    world.pass(600);
    let due = task("repair", &json!({ "scope": "Due" }));
    let mut early = world.clone();
    ask(&mut early, "due", &due);
    early.pass(600);
    assert!(early.ring.repaired.is_empty(), "it may work still: {}", early.last_words());
    world.pass(8 * 24 * 3600);
    ask(&mut world, "due", &due);
    world.pass(600);
    assert!(!world.ring.repaired.is_empty(), "{}", world.last_words());
    world.agents_are_back();
    world.settle();
    world.expect_ring(3);
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
