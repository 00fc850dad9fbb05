//! What is kept of tasks that have ended.

use crate::every::{all_end_alike, before_each_write, some};
use crate::nodes::{LAST, spread};
use crate::sim::{End, World};
use crate::tasks::{ask, key, replace, status};
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::Subresource;
use palladion_plan::sim::Fault;
use serde_json::json;

/// A task that is refused at once, since the member lives.
fn ask_in_vain(world: &mut World, name: &str, ttl: u32) {
    let mut spec = replace("demo-dc1-a-0");
    spec["ttlSecondsAfterFinished"] = json!(ttl);
    ask(world, name, &spec);
}

fn tasks(world: &World) -> Vec<String> {
    world.store.list(kinds::TASK).map(|(key, _)| key.name.clone()).collect()
}

#[test]
fn a_task_that_has_ended_is_deleted_in_time_and_the_last_of_its_kind_is_kept() {
    let mut world = spread(2, 1);
    let asked = world.clock();
    ask_in_vain(&mut world, "first", 600);
    world.settle();
    assert_eq!(tasks(&world), ["first"], "the last of its kind");
    // What ends in one second is ordered by name.
    world.pass(1);
    ask_in_vain(&mut world, "second", 0);
    let (worlds, mut end) = before_each_write(world);
    assert_eq!(tasks(&end), ["second"], "{}", end.last_words());
    assert!(end.clock() - asked >= 600, "not before its time\n{}", end.last_words());
    assert!(end.condition("Progressing").contains("False"), "{}", end.last_words());
    end.expect_rest();
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let kill = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, faults[writes % faults.len()]);
    };
    let compare = |world: &mut World, _: &End| match tasks(world) {
        left if left == ["second"] => Ok(()),
        left => Err(format!("the tasks are {left:?}")),
    };
    all_end_alike("history, killed", some(worlds, 1, 0), &end.end(), kill, compare);
    let before = end.clock();
    ask_in_vain(&mut end, "third", 0);
    end.settle();
    assert_eq!(tasks(&end), ["third"], "{}", end.last_words());
    assert!(end.clock() - before < 60, "at once\n{}", end.last_words());
}

#[test]
fn the_newest_fifty_are_kept_and_one_that_has_not_ended_is_never_deleted() {
    // Another member is down as well, so that nobody can prove anything.
    let mut world = spread(2, 1);
    let node = world.node_of("demo-dc1-b-0");
    world.break_volume(LAST);
    world.set_machine(&node, palladion_plan::sim::kubernetes::Machine::Down);
    world.pass(60);
    let mut spec = replace(LAST);
    spec["ttlSecondsAfterFinished"] = json!(0);
    ask(&mut world, "waits", &spec);
    world.pass(10);
    ask_in_vain(&mut world, "oldest", 604_800);
    world.pass(10);
    for index in 0..60 {
        ask_in_vain(&mut world, &format!("task-{index:02}"), 604_800);
    }
    world.pass(600);
    let left = tasks(&world);
    assert_eq!(left.len(), 51, "fifty and the one that waits: {left:?}");
    assert!(left.contains(&"waits".to_string()) && !left.contains(&"oldest".to_string()));
    assert_eq!(status(&world, "waits").phase, Some(TaskPhase::Running));
}

#[test]
fn a_task_whose_time_is_extended_in_the_last_moment_is_kept() {
    let mut world = spread(2, 1);
    ask_in_vain(&mut world, "first", 300);
    world.pass(10);
    ask_in_vain(&mut world, "second", 300);
    world.pass(60);
    // The leader is frozen with the deletion ready to be sent.
    world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
    world.pass(400);
    let longer = json!({ "spec": { "ttlSecondsAfterFinished": 604_800 } });
    world.store.merge(&key("first"), &longer, Subresource::None).expect("the task should exist");
    world.start_operator();
    world.wake_and_end_the_old_leader();
    world.settle();
    assert_eq!(tasks(&world), ["first", "second"], "{}", world.last_words());
}
