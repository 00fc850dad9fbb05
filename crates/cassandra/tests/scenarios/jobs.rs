//! Tasks over the members of a ring: in order, one member after the other, and
//! what comes between.

use crate::every::{a_ring, all_end_alike, before_each_write, same_end, some};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use crate::sim::world::cluster_key;
use crate::tasks::{ask, key, status, told};
use palladion_api::reasons::Reason;
use palladion_api::task::{CassandraTaskStatus, MemberTaskState, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

const FIRST: &str = "demo-dc1-a-0";
const OF_B: &str = "demo-dc1-b-0";

/// A task of the ring, with this body.
pub fn task(body: &str, options: &Value) -> Value {
    json!({ "cluster": "demo", body: options })
}

/// Every body, and a task of it.
fn bodies() -> Vec<(&'static str, Value)> {
    vec![
        ("cleanup", json!({ "jobs": 1 })),
        ("compact", json!({})),
        ("garbageCollect", json!({ "jobs": 1 })),
        ("scrub", json!({ "jobs": 1 })),
        ("upgradeSSTables", json!({ "jobs": 1 })),
        ("flush", json!({})),
        ("snapshot", json!({ "name": "before" })),
        ("clearSnapshot", json!({ "name": "before" })),
        ("setLogLevel", json!({ "levels": { "ROOT": "DEBUG" }, "seconds": 600 })),
        ("repair", json!({})),
        ("restart", json!({})),
    ]
}

fn phase(world: &World, name: &str) -> Option<TaskPhase> {
    status(world, name).phase
}

fn is_over(world: &World, name: &str) -> bool {
    phase(world, name).is_some_and(TaskPhase::is_final)
}

/// Message of the condition `Complete`.
pub fn said(world: &World, name: &str) -> String {
    let status = status(world, name);
    let complete = status.conditions.iter().find(|c| c.type_ == "Complete");
    complete.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

/// States of the members of a task, in their order.
fn states(status: &CassandraTaskStatus) -> Vec<MemberTaskState> {
    status.members.iter().map(|m| m.state).collect()
}

pub fn abort(world: &mut World, name: &str) {
    world.tell(&format!("a person aborts the task {name}"));
    let patch = json!({ "spec": { "abort": true } });
    world.store.merge(&key(name), &patch, Subresource::None).expect("the task should exist");
}

/// A task reports by conditions of its own.
#[test]
fn what_a_task_does_is_no_progress_of_its_ring() {
    for options in [json!({}), json!({ "scope": "Due" })] {
        let mut world = spread(2, 1);
        let seen = RefCell::new(BTreeSet::new());
        ask(&mut world, "mend", &task("repair", &options));
        world.until(|world| {
            let cluster = world.store.get(&cluster_key()).expect("the cluster");
            let conditions = cluster["status"]["conditions"].as_array().expect("conditions");
            let found = conditions.iter().find(|c| c["type"] == "Progressing").expect("it");
            seen.borrow_mut().insert((found["status"].to_string(), found["reason"].to_string()));
            is_over(world, "mend")
        });
        assert_eq!(phase(&world, "mend"), Some(TaskPhase::Done));
        assert_eq!(begun(&world).len(), 3, "each has done its part");
        let rests = ("\"False\"".to_string(), "\"UpToDate\"".to_string());
        assert_eq!(seen.into_inner(), BTreeSet::from([rests]));
    }
}

/// Members that have begun their part of a task, in order.
fn begun(world: &World) -> Vec<&str> {
    world.ring.units.iter().map(|(member, _)| member.as_str()).collect()
}

/// Reason of the condition `Failed`, which says the phase while the task goes on.
fn reason_of_failed(world: &World, name: &str) -> String {
    let status = status(world, name);
    let failed = status.conditions.iter().find(|c| c.type_ == "Failed");
    failed.map(|c| c.reason.clone()).unwrap_or_default()
}

/// Does this member work?
pub fn works(world: &World, member: &str) -> bool {
    let servers = &world.ring.servers;
    world.ring.calls.keys().any(|pod| servers.get(pod).is_some_and(|s| s.member == member))
}

fn job(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"]["job"].clone()).unwrap_or_default()
}

#[test]
fn each_body_is_done_on_all_members_in_order() {
    for (body, options) in bodies() {
        let mut world = a_ring(2, 1);
        ask(&mut world, "work", &task(body, &options));
        world.settle();
        let status = status(&world, "work");
        assert_eq!(status.phase, Some(TaskPhase::Done), "{body}: {}", world.last_words());
        let names: Vec<_> = status.members.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, [FIRST, LAST, OF_B], "{body}: racks in order");
        assert_eq!(states(&status), [MemberTaskState::Succeeded; 3], "{body}");
        if body != "restart" {
            assert_eq!(begun(&world), names, "{body}");
        }
        assert_eq!(status.progress.as_deref(), Some("100%"), "{body}");
        assert_eq!(job(&world), Value::Null, "{body}");
        world.expect_ring(3);
    }
}

#[test]
fn thirty_tasks_run_in_the_order_of_their_creation() {
    let mut world = a_ring(1, 1);
    let names: Vec<String> = (0..30).map(|n| format!("task-{:02}", 29 - n)).collect();
    for name in &names {
        ask(&mut world, name, &task("flush", &json!({})));
        world.pass(1);
    }
    let open: Vec<&String> = names.iter().filter(|n| !is_over(&world, n)).collect();
    assert!(open.len() > 3);
    for (place, name) in open.iter().enumerate().skip(1) {
        assert_eq!(status(&world, name).position, u32::try_from(place).ok(), "{name}");
        let behind = format!("{}: waiting for CassandraTask {}", Reason::WaitingInQueue, open[0]);
        assert!(said(&world, name).starts_with(&behind), "{}", said(&world, name));
    }
    assert_eq!(status(&world, open[0]).position, None, "it runs");
    assert_eq!(world.gauge("jobs_waiting"), i64::try_from(open.len() - 1).ok());
    world.settle();
    assert_eq!(world.gauge("jobs_waiting"), Some(0));
    assert_eq!(world.counted("jobs_ended_total Flush Done"), 30);
    let mut ends: Vec<_> =
        names.iter().map(|n| (status(&world, n).ended_at.unwrap().0, n)).collect();
    assert!(names.iter().all(|n| phase(&world, n) == Some(TaskPhase::Done)));
    ends.sort();
    let order: Vec<_> = ends.iter().map(|(_, name)| (*name).clone()).collect();
    assert_eq!(order, names);
    world.expect_ring(2);
}

#[test]
fn a_task_that_names_nobody_who_exists_is_refused() {
    let mut world = a_ring(2, 1);
    let mut of_member = task("flush", &json!({}));
    of_member["members"] = json!([FIRST, "demo-dc1-a-9"]);
    let mut of_rack = task("flush", &json!({}));
    of_rack["racks"] = json!(["z"]);
    let cases = [
        ("member", of_member, "no member demo-dc1-a-9; existing members: demo-dc1-a-0"),
        ("rack", of_rack, "no rack z; existing racks: a and b"),
    ];
    for (name, spec, why) in cases {
        ask(&mut world, name, &spec);
        world.settle();
        assert_eq!(phase(&world, name), Some(TaskPhase::Refused));
        assert!(said(&world, name).contains(why), "{}", said(&world, name));
        assert_eq!(told(&world, Reason::TaskRefused, name), 1, "{}", world.last_words());
    }
    assert_eq!(world.counted("jobs_ended_total Flush Refused"), 2);
    assert!(begun(&world).is_empty());
    world.expect_ring(3);
}

#[test]
fn members_and_racks_are_chosen() {
    let mut world = a_ring(2, 1);
    let mut of_rack = task("compact", &json!({}));
    of_rack["racks"] = json!(["b"]);
    ask(&mut world, "rack", &of_rack);
    world.settle();
    assert_eq!(begun(&world), [OF_B]);
    let mut of_members = task("compact", &json!({}));
    of_members["members"] = json!([OF_B, FIRST]);
    ask(&mut world, "members", &of_members);
    world.settle();
    assert_eq!(begun(&world), [OF_B, FIRST, OF_B], "racks in order, whatever the task's order");
}

#[test]
fn a_task_is_aborted_while_it_waits_while_it_runs_and_at_its_last_member() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "first", &task("compact", &json!({})));
    world.pass(1);
    ask(&mut world, "second", &task("flush", &json!({})));
    world.until(|w| works(w, FIRST));
    abort(&mut world, "second");
    world.until(|w| is_over(w, "second"));
    assert_eq!(phase(&world, "second"), Some(TaskPhase::Aborted));
    assert!(said(&world, "second").contains("before it began"), "{}", said(&world, "second"));
    assert!(works(&world, FIRST), "the other task goes on");
    let mut last = world.clone();
    let begun_at = world.now();
    abort(&mut world, "first");
    world.until(|w| is_over(w, "first"));
    assert!(world.now().duration_since(begun_at).as_secs() < 5, "a rewrite is stopped at once");
    let status_of = status(&world, "first");
    assert_eq!(status_of.phase, Some(TaskPhase::Aborted));
    assert_eq!(states(&status_of), [MemberTaskState::Aborted; 3]);
    world.settle();
    assert!(world.ring.calls.is_empty());
    world.expect_ring(3);
    last.until(|w| works(w, OF_B));
    abort(&mut last, "first");
    last.settle();
    let status_of = status(&last, "first");
    use MemberTaskState::{Aborted, Succeeded};
    assert_eq!(states(&status_of), [Succeeded, Succeeded, Aborted]);
    assert_eq!(status_of.phase, Some(TaskPhase::Aborted));
    assert!(said(&last, "first").contains("complete on 2 of 3 members"));
}

#[test]
fn a_flush_ends_before_its_task_is_aborted() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("flush", &json!({})));
    world.until(|w| works(w, OF_B));
    abort(&mut world, "work");
    world.settle();
    let status = status(&world, "work");
    // What cannot be stopped was done when it ended, and with it the task.
    assert_eq!(states(&status), [MemberTaskState::Succeeded; 3], "{}", world.last_words());
    assert_eq!(status.phase, Some(TaskPhase::Done));
}

#[test]
fn a_task_whose_last_member_is_left_out_ends_and_lets_the_next_one_begin() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    let mut skip = task("flush", &json!({}));
    skip["whenDown"] = json!("Skip");
    skip["members"] = json!([FIRST, LAST]);
    ask(&mut world, "skips", &skip);
    let mut other = task("flush", &json!({}));
    other["members"] = json!([FIRST]);
    ask(&mut world, "then", &other);
    world.pass(120);
    assert_eq!(phase(&world, "skips"), Some(TaskPhase::Partial), "{}", world.last_words());
    assert_eq!(phase(&world, "then"), Some(TaskPhase::Done), "{}", world.last_words());
}

#[test]
fn a_member_that_is_down_is_waited_for_or_left_out() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    ask(&mut world, "waits", &task("flush", &json!({})));
    world.until(|w| said(w, "waits").contains("MembersDown"));
    assert_eq!(reason_of_failed(&world, "waits"), "TaskRunning", "a member was begun");
    let mut skip = task("flush", &json!({}));
    skip["whenDown"] = json!("Skip");
    ask(&mut world, "skips", &skip);
    // After ten minutes the one that can only wait lets the other one pass.
    world.pass(300);
    assert_eq!(job(&world)["task"], "waits");
    assert_eq!(begun(&world), [FIRST]);
    world.settle();
    let skipped = status(&world, "skips");
    assert_eq!(skipped.phase, Some(TaskPhase::Partial), "{}", world.last_words());
    use MemberTaskState::{Skipped, Succeeded};
    assert_eq!(states(&skipped), [Succeeded, Skipped, Succeeded]);
    assert_eq!(skipped.members[1].reason.as_deref(), Some("SkippedMember"));
    assert!(said(&world, "skips").contains("but not on demo-dc1-a-1"), "{}", said(&world, "skips"));
    assert_eq!(job(&world), Value::Null);
    assert_eq!(status(&world, "waits").position, Some(1));
    // A task that waits costs nothing.
    let writes = world.faults.writes();
    world.pass(3600);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert_eq!(phase(&world, "waits"), Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_whose_server_ends_is_tried_once_more_and_goes_on_where_it_was() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, LAST));
    world.pass(25);
    world.delete(kinds::POD, LAST);
    let mut again = world.clone();
    world.settle();
    let status_of = status(&world, "work");
    assert_eq!(status_of.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(status_of.members[1].tries, 2);
    assert_eq!(begun(&world), [FIRST, LAST, LAST, OF_B]);
    world.expect_ring(3);
    again.until(|w| begun(w).len() == 3);
    again.delete(kinds::POD, LAST);
    again.settle();
    let status_of = status(&again, "work");
    use MemberTaskState::{Failed, Skipped, Succeeded};
    assert_eq!(states(&status_of), [Succeeded, Failed, Skipped], "{}", again.last_words());
    assert_eq!(status_of.members[1].reason.as_deref(), Some("Interrupted"));
    assert_eq!(status_of.phase, Some(TaskPhase::Failed));
    assert!(again.events.contains(&Reason::TaskFailed));
}

#[test]
fn a_task_goes_on_after_a_failure_where_it_is_to_continue() {
    let mut world = a_ring(2, 1);
    world.ring.failing.insert(LAST.into());
    let mut spec = task("scrub", &json!({ "jobs": 1 }));
    spec["onFailure"] = json!("Continue");
    ask(&mut world, "work", &spec);
    world.settle();
    let status = status(&world, "work");
    use MemberTaskState::{Failed, Succeeded};
    assert_eq!(states(&status), [Succeeded, Failed, Succeeded]);
    assert_eq!(status.phase, Some(TaskPhase::Partial));
    assert_eq!(status.members[1].reason.as_deref(), Some("ServerError"));
    assert!(status.members[1].message.as_deref().unwrap().contains("disk quota"));
}

#[test]
fn an_agent_that_is_restarted_costs_one_try() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, LAST));
    world.restart_agent(LAST);
    world.settle();
    let status = status(&world, "work");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(status.members[1].tries, 2);
    world.expect_ring(3);
}

#[test]
fn a_running_task_that_is_deleted_is_aborted() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "gone", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    ask(&mut world, "next", &task("flush", &json!({})));
    world.delete(kinds::TASK, "gone");
    world.pass(5);
    assert!(!works(&world, LAST) && begun(&world).len() <= 2, "{}", world.last_words());
    world.settle();
    assert_eq!(phase(&world, "next"), Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(begun(&world), [FIRST, FIRST, LAST, OF_B]);
    world.expect_ring(3);
}

/// A flush cannot be stopped: what was deleted goes on for so long, and nothing begins beside.
#[test]
fn the_next_task_begins_after_what_a_deleted_one_has_left_running() {
    let mut world = a_ring(2, 1);
    let mut of_first = task("flush", &json!({}));
    of_first["members"] = json!([FIRST]);
    ask(&mut world, "gone", &of_first);
    world.until(|w| works(w, FIRST));
    let mut of_last = task("compact", &json!({}));
    of_last["members"] = json!([LAST]);
    ask(&mut world, "next", &of_last);
    world.delete(kinds::TASK, "gone");
    world.until(|w| {
        assert!(!(works(w, FIRST) && works(w, LAST)), "one at a time: {}", w.last_words());
        works(w, LAST)
    });
    world.settle();
    assert_eq!(phase(&world, "next"), Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(begun(&world), [FIRST, LAST]);
    world.expect_ring(3);
}

#[test]
fn a_member_whose_agent_has_just_come_up_is_neither_begun_nor_left_out() {
    let mut world = a_ring(2, 1);
    world.restart_agent(FIRST);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, FIRST);
    let newest = |w: &World| w.store.get(&key).map(|m| m["status"]["health"][0].clone());
    world.until(|w| newest(w).is_some_and(|h| h["until"].is_string()));
    let mut spec = task("flush", &json!({}));
    spec["whenDown"] = json!("Skip");
    ask(&mut world, "work", &spec);
    world.until(|w| said(w, "work").contains("waiting for its agent to find it healthy"));
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(begun(&world), [FIRST, LAST, OF_B]);
    world.expect_ring(3);
}

#[test]
fn agents_of_an_older_protocol_are_given_no_job() {
    let mut world = a_ring(2, 1);
    world.set_protocol(2);
    world.pass(60);
    ask(&mut world, "work", &task("flush", &json!({})));
    world.settle();
    assert!(said(&world, "work").starts_with("AgentTooOld"), "{}", said(&world, "work"));
    for (_, member) in world.store.list(kinds::MEMBER) {
        assert!(member["spec"]["job"].is_null());
    }
    // New pods have newer agents.
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
}

#[test]
fn a_task_has_its_time() {
    let mut world = a_ring(2, 1);
    world.ring.hanging.insert(LAST.into());
    let mut spec = task("compact", &json!({}));
    spec["memberDeadlineSeconds"] = json!(300);
    ask(&mut world, "member", &spec);
    world.settle();
    let status_of = status(&world, "member");
    use MemberTaskState::{Failed, Skipped, Succeeded};
    assert_eq!(states(&status_of), [Succeeded, Failed, Skipped]);
    assert_eq!(status_of.members[1].reason.as_deref(), Some("DeadlineExceeded"));
    let mut spec = task("compact", &json!({}));
    spec["activeDeadlineSeconds"] = json!(300);
    ask(&mut world, "whole", &spec);
    world.settle();
    let status_of = status(&world, "whole");
    assert_eq!(states(&status_of), [Succeeded, Failed, Failed]);
    assert_eq!(status_of.phase, Some(TaskPhase::Failed));
    assert!(said(&world, "whole").starts_with("DeadlineExceeded"), "{}", said(&world, "whole"));
    world.expect_ring(3);
}

#[test]
fn the_operator_may_die_at_every_write_of_a_task() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    let (worlds, mut end) = before_each_write(world);
    end.expect_ring(3);
    assert_eq!(begun(&end), [FIRST, LAST, OF_B]);
    let expected = end.end();
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let kill = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, faults[writes % faults.len()]);
    };
    let compare = |world: &mut World, expected: &crate::sim::End| {
        same_end(world, expected)?;
        match (phase(world, "work"), begun(world).len()) {
            (Some(TaskPhase::Done), 3) => Ok(()),
            other => Err(format!("the task is {other:?}")),
        }
    };
    all_end_alike("a task, killed", some(worlds, 1, 0), &expected, kill, compare);
}

#[test]
fn a_frozen_leader_gives_no_job_beside_its_successor() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    let (worlds, end) = before_each_write(world);
    let expected = end.end();
    let freeze = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, Fault::Freeze);
        world.pass(1);
        world.start_operator();
        world.pass(30);
        if world.operators.len() > 1 {
            world.wake_and_end_the_old_leader();
        }
    };
    let compare = |world: &mut World, expected: &crate::sim::End| {
        same_end(world, expected)?;
        match (phase(world, "work"), begun(world).len()) {
            (Some(TaskPhase::Done), 3) => Ok(()),
            other => Err(format!("the task is {other:?}")),
        }
    };
    all_end_alike("a task, two leaders", some(worlds, 2, 0), &expected, freeze, compare);
}

#[test]
fn a_member_is_replaced_before_a_task_goes_on() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    let status = status(&world, "work");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_turn_interrupts_a_rewrite_within_seconds_and_costs_no_try() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    world.pass(25);
    world.patch_spec(&json!({ "restartToken": "now" }));
    let asked = world.now();
    let turn = |w: &World| !w.store.get(&cluster_key()).unwrap()["status"]["turn"].is_null();
    world.until(turn);
    assert!(world.now().duration_since(asked).as_secs() < 10, "{}", world.last_words());
    assert_eq!(job(&world), Value::Null);
    assert_eq!(world.counted("job_yields_total"), 1);
    world.pass(2);
    let interrupted = status(&world, "work");
    assert_eq!(interrupted.members[0].state, MemberTaskState::Interrupted);
    assert_eq!(interrupted.members[0].tries, 0);
    assert!(said(&world, "work").starts_with("YieldsToTurn"), "{}", said(&world, "work"));
    world.settle();
    let status = status(&world, "work");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert!(status.members.iter().all(|m| m.tries == 1), "{status:?}");
    world.expect_ring(3);
}

#[test]
fn a_rollout_and_a_job_share_the_ring() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let restarts = |w: &World| w.destructive.len();
    world.until(|w| restarts(w) == 1);
    let mut hangs = world.clone();
    world.until(|w| restarts(w) == 2);
    assert!(is_over(&world, "work"), "it had its time: {}", world.last_words());
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done));
    world.settle();
    world.expect_ring(3);
    // A job that does not end has half an hour between two restarts.
    hangs.ring.hanging.insert(LAST.into());
    hangs.pass(20 * 60);
    assert_eq!(restarts(&hangs), 1, "{}", hangs.last_words());
    hangs.pass(15 * 60);
    assert_eq!(restarts(&hangs), 2, "{}", hangs.last_words());
    // In two: what is to happen in more than a quarter of an hour counts as rest.
    hangs.pass(20 * 60);
    hangs.ring.hanging.clear();
    hangs.pass(15 * 60);
    assert_eq!(restarts(&hangs), 3, "{}", hangs.last_words());
    hangs.settle();
    assert_eq!(phase(&hangs, "work"), Some(TaskPhase::Done), "{}", hangs.last_words());
    hangs.expect_ring(3);
}

#[test]
fn a_task_behind_a_rollout_that_does_not_move_says_which_since_when_and_what_to_do() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.until(|w| w.condition("Degraded").contains("RolloutStuck"));
    let stored = world.store.get(&cluster_key()).unwrap();
    let since = stored["status"]["turn"]["since"].as_str().unwrap().to_string();
    let stuck = stored["status"]["turn"]["member"].as_str().unwrap().to_string();
    ask(&mut world, "work", &task("cleanup", &json!({})));
    // By now it stands, whatever the server is at that is started over and over.
    world.pass(600);
    let told = said(&world, "work");
    assert!(told.starts_with("RolloutStuck"), "{told}");
    let words = ["CassandraCluster demo", since.as_str(), stuck.as_str(), "correct the spec"];
    assert!(words.iter().all(|word| told.contains(word)), "{told}");
    for _ in 0..60 {
        world.pass(10);
        assert_eq!(said(&world, "work"), told, "it is said once");
    }
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_whose_machine_dies_while_it_works_is_replaced_before_the_next_one_begins() {
    for body in ["compact", "repair"] {
        let mut world = spread(2, 1);
        world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
        let mut spec = task(body, &json!({}));
        spec["onFailure"] = json!("Continue");
        ask(&mut world, "work", &spec);
        world.until(|w| works(w, LAST));
        let node = world.node_of(LAST);
        world.lose_node(&node);
        world.settle();
        world.expect_ring(3);
        let status = status(&world, "work");
        use MemberTaskState::{Failed, Succeeded};
        let ended = states(&status);
        assert_eq!(ended, [Succeeded, Failed, Succeeded], "{body}: {}", world.last_words());
        assert_eq!(status.members[1].reason.as_deref(), Some("MemberLost"), "{body}");
        assert_eq!(reason_of_failed(&world, "work"), "TaskPartial", "{body}");
    }
}

#[test]
fn a_member_that_does_not_come_back_is_lost_at_its_deadline() {
    let mut world = spread(2, 1);
    let mut spec = task("compact", &json!({}));
    spec["memberDeadlineSeconds"] = json!(300);
    ask(&mut world, "work", &spec);
    world.until(|w| works(w, LAST));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.settle();
    let status = status(&world, "work");
    assert_eq!(status.members[1].reason.as_deref(), Some("MemberLost"), "{}", world.last_words());
    assert_eq!(status.phase, Some(TaskPhase::Failed));
}

#[test]
fn a_ring_that_is_not_initialized_or_is_stopped_runs_no_task() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    ask(&mut world, "work", &task("flush", &json!({})));
    world.settle();
    assert!(said(&world, "work").starts_with("Stopped: `spec.run`"), "{}", said(&world, "work"));
    assert_eq!(reason_of_failed(&world, "work"), "TaskWaiting");
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Waiting));
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
    // A stop of the ring interrupts what runs, and that costs no try.
    ask(&mut world, "again", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    assert_eq!(phase(&world, "again"), Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_cleanup_waits_while_somebody_leaves_and_pending_maintenance_goes_first() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    let debtor = palladion_plan::ObjectKey::new(kinds::MEMBER, "default", OF_B);
    let pending = json!([{ "kind": "Repair", "reason": "an outage" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&debtor, &spec, Subresource::None).expect("the member should exist");
    let repairs = |w: &World| w.writes.iter().any(|w| w.contains("start the pending repair"));
    world.until(repairs);
    assert_eq!(begun(&world), [FIRST], "between two members: {}", world.last_words());
    world.pass(1);
    assert_eq!(status(&world, "work").members[0].state, MemberTaskState::Succeeded);
    world.settle();
    assert_eq!(phase(&world, "work"), Some(TaskPhase::Done), "{}", world.last_words());
    world.ring.hanging.insert(LAST.into());
    world.nodetool_decommission(LAST, crate::sim::ring::Force::Yes);
    world.pass(60);
    ask(&mut world, "cleanup", &task("cleanup", &json!({ "jobs": 1 })));
    world.pass(600);
    assert!(said(&world, "cleanup").starts_with("WaitingForRing"), "{}", said(&world, "cleanup"));
    assert_eq!(begun(&world).len(), 3);
}

#[test]
fn a_restart_by_a_task_is_aborted_after_the_current_member() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("restart", &json!({})));
    let given = |w: &World| {
        let members = w.store.list(kinds::MEMBER);
        members.filter(|(_, m)| m["spec"]["restartToken"].is_string()).count()
    };
    world.until(|w| given(w) == 1);
    abort(&mut world, "work");
    world.settle();
    let status = status(&world, "work");
    use MemberTaskState::{Aborted, Succeeded};
    assert_eq!(states(&status), [Succeeded, Aborted, Aborted], "{}", world.last_words());
    assert_eq!(given(&world), 1);
    world.expect_ring(3);
}

#[test]
fn a_task_for_a_ring_of_scylla_is_refused_where_there_is_no_such_work() {
    let mut world = crate::told::a_ring_of_scylla();
    world.settle();
    ask(&mut world, "levels", &task("setLogLevel", &json!({ "levels": { "ROOT": "DEBUG" } })));
    ask(&mut world, "restart", &task("restart", &json!({})));
    world.settle();
    assert_eq!(phase(&world, "levels"), Some(TaskPhase::Refused), "{}", said(&world, "levels"));
    assert_eq!(phase(&world, "restart"), Some(TaskPhase::Done), "{}", world.last_words());
}

#[test]
fn a_member_that_leaves_does_so_before_the_task_goes_on_and_is_left_out() {
    let mut world = a_ring(3, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    world.set_racks(&crate::sim::manifests::a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    let status = status(&world, "work");
    use MemberTaskState::{Skipped, Succeeded};
    assert_eq!(
        states(&status),
        [Succeeded, Succeeded, Skipped, Succeeded],
        "{}",
        world.last_words()
    );
    assert_eq!(status.phase, Some(TaskPhase::Partial), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_joins_before_the_task_goes_on_and_its_cleanups_come_first() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, FIRST));
    world.set_racks(&crate::sim::manifests::a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    let status = status(&world, "work");
    assert_eq!(states(&status), [MemberTaskState::Succeeded; 3], "who joins is not among them");
    let place = |is_it: &dyn Fn(&str) -> bool| world.writes.iter().rposition(|w| is_it(w));
    let cleanup = place(&|w| w.contains("start the pending cleanup on member"));
    let last_part = place(&|w| w.contains("start the compaction of member"));
    assert!(cleanup.is_some() && cleanup < last_part, "{:#?}", world.writes);
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(4);
}

/// Nobody knows when it is wanted again.
#[test]
fn a_member_that_a_person_has_stopped_is_left_out_and_the_task_ends() {
    let mut world = spread(2, 1);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    ask(&mut world, "flush", &task("flush", &json!({})));
    world.settle();
    let status = status(&world, "flush");
    assert_eq!(status.phase, Some(TaskPhase::Partial), "{:?}", status.conditions);
    let left = status.members.iter().find(|m| m.name.as_str() == LAST).expect("it is listed");
    assert_eq!(left.state, MemberTaskState::Skipped);
    let why = left.message.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("wants the server of the member stopped"), "{why}");
    assert_eq!(begun(&world).len(), 2);
}

/// The same in the middle of its part, which the stop interrupts: who is behind it has its turn.
#[test]
fn a_member_that_a_person_stops_in_the_middle_of_its_part_holds_up_nobody() {
    use MemberTaskState::{Skipped, Succeeded};
    let mut world = spread(2, 1);
    ask(&mut world, "work", &task("compact", &json!({})));
    world.until(|w| works(w, LAST));
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    let status = status(&world, "work");
    assert_eq!(states(&status), [Succeeded, Skipped, Succeeded], "{}", world.last_words());
    assert_eq!(status.phase, Some(TaskPhase::Partial));
    let why = status.members[1].message.clone().unwrap_or_default();
    assert!(why.contains("wants the server of the member stopped"), "{why}");
}

#[test]
fn a_member_that_a_person_terminates_in_the_middle_of_its_part_ends_the_task() {
    let mut world = spread(2, 1);
    let mut spec = task("compact", &json!({}));
    spec["onFailure"] = json!("Continue");
    ask(&mut world, "work", &spec);
    world.until(|w| works(w, LAST));
    crate::terminated::terminate(&mut world, LAST, "Now");
    world.settle();
    let status = status(&world, "work");
    use MemberTaskState::{Failed, Skipped, Succeeded};
    let found = states(&status);
    assert!([Failed, Skipped].contains(&found[1]), "{found:?} {}", world.last_words());
    assert_eq!([found[0], found[2]], [Succeeded; 2], "{}", world.last_words());
    assert!(is_over(&world, "work"));
}

/// Nobody knows when it could be restarted: a task of it alone would wait for ever.
#[test]
fn a_restart_or_drain_of_whom_a_person_has_stopped_ends() {
    let mut world = spread(2, 1);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    for body in ["restart", "drain"] {
        let mut spec = task(body, &json!({}));
        spec["members"] = json!([LAST]);
        ask(&mut world, body, &spec);
        world.settle();
        let skipped = [MemberTaskState::Skipped];
        assert_eq!(states(&status(&world, body)), skipped, "{body} {}", world.last_words());
        assert_eq!(phase(&world, body), Some(TaskPhase::Partial), "{body}");
    }
    // The others would be restarted beside one that is down: that waits.
    ask(&mut world, "all", &task("restart", &json!({})));
    world.settle();
    assert!(said(&world, "all").starts_with("WaitingForRing"), "{}", said(&world, "all"));
    world.want(LAST, &json!({ "run": "Running" }));
    world.settle();
    assert_eq!(phase(&world, "all"), Some(TaskPhase::Done), "{}", world.last_words());
}
