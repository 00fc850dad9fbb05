//! Tasks that come again and again.

use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use crate::sim::world::{START, cluster_key};
use crate::tasks::{key as task_key, status as task_status};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_api::task_schedule::CassandraTaskScheduleStatus;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const NAME: &str = "nightly";
const HOUR: i64 = 3600;

fn key() -> ObjectKey {
    ObjectKey::new(kinds::SCHEDULE, NAMESPACE, NAME)
}

/// A flush at each full hour, and what else is said.
fn hourly(besides: Value) -> Value {
    let mut spec = json!({
        "cluster": "demo",
        "schedule": "0 * * * *",
        "taskTemplate": {
            "metadata": { "labels": { "team": "data" }, "annotations": { "example.com/why": "habit" } },
            "spec": { "flush": {}, "whenDown": "Wait" },
        },
    });
    for (field, value) in besides.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    spec
}

/// A ring at rest with a schedule, some minutes after the hour.
fn scheduled(spec: &Value) -> World {
    let mut world = spread(2, 1);
    world.tell(&format!("a person makes the schedule {NAME}: {spec}"));
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": NAME, "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(), &schedule).expect("the schedule should be accepted");
    world.pass(10);
    world
}

fn patch(world: &mut World, spec: &Value) {
    world.tell(&format!("a person patches the schedule: {spec}"));
    let patch = json!({ "spec": spec });
    world.store.merge(&key(), &patch, Subresource::None).expect("the schedule should exist");
}

fn status(world: &World) -> CassandraTaskScheduleStatus {
    let schedule = world.store.get(&key()).expect("the schedule should exist");
    serde_json::from_value(schedule["status"].clone()).unwrap_or_default()
}

/// A condition of the schedule: status, reason and message.
fn condition(world: &World, type_: &str) -> String {
    let status = status(world);
    let found = status.conditions.iter().find(|c| c.type_ == type_);
    found.map(|c| format!("{} {}: {}", c.status, c.reason, c.message)).unwrap_or_default()
}

/// Go on until some seconds after the start, however long nothing happens.
fn go_to(world: &mut World, second: i64) {
    while world.clock() < second {
        world.pass((second - world.clock()).min(600));
    }
}

fn at(second: i64) -> Timestamp {
    START + SignedDuration::from_secs(second)
}

/// The name of the task for this time.
fn task(second: i64) -> String {
    format!("{NAME}-{}", at(second).as_second() / 60)
}

fn tasks(world: &World) -> Vec<String> {
    world.names(kinds::TASK)
}

fn is_over(world: &World, name: &str) -> bool {
    task_status(world, name).phase.is_some_and(TaskPhase::is_final)
}

/// A member is down, so that no flush ends.
fn stuck(world: &mut World) {
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
}

/// The task ends by itself, and the schedule has seen it.
fn finish(world: &mut World, name: &str) {
    world.until(|w| is_over(w, name));
    world.pass(5);
}

/// The task ends in this way, whatever it was at.
fn end_by_hand(world: &mut World, name: &str, phase: TaskPhase) {
    let done = phase == TaskPhase::Done;
    let is = |so: bool| if so { "True" } else { "False" };
    let reason = if done { Reason::TaskDone } else { Reason::TaskFailed };
    let condition = |type_: &str, so: bool| {
        let time = world.now();
        json!({ "type": type_, "status": is(so), "reason": reason, "message": "", "lastTransitionTime": time })
    };
    let status = json!({
        "kind": "Flush",
        "phase": phase,
        "endedAt": world.now(),
        "conditions": [condition("Complete", done), condition("Failed", !done)],
    });
    world.tell(&format!("task {name} ends: {phase:?}"));
    world.store.put_status(&task_key(name), status).expect("the task should exist");
    world.pass(5);
}

/// Writes that are about the schedule.
fn writes_about_it(world: &World) -> usize {
    world.writes.iter().filter(|w| w.contains("CassandraTaskSchedule")).count()
}

/// Somebody's finalizer keeps it, for as long as that takes.
#[test]
fn a_task_that_was_deleted_and_is_kept_stands_in_the_way_of_no_other() {
    let mut world = scheduled(&hourly(json!({})));
    stuck(&mut world);
    go_to(&mut world, HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let kept = json!({ "metadata": { "finalizers": ["example.com/keeps"] } });
    world.store.merge(&task_key(&task(HOUR)), &kept, Subresource::None).expect("it is there");
    world.delete(kinds::TASK, &task(HOUR));
    go_to(&mut world, 2 * HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR), task(2 * HOUR)], "{}", condition(&world, "Accepted"));
}

#[test]
fn a_task_is_created_at_its_time_and_nothing_is_written_before() {
    let mut world = scheduled(&hourly(json!({})));
    let seen = status(&world);
    assert_eq!(seen.next_schedule_time.map(|t| t.0), Some(at(HOUR)));
    assert_eq!(condition(&world, "Accepted"), "True Valid: the schedule is valid");
    assert!(condition(&world, "Paused").starts_with("False UpToDate"));
    assert!(world.condition("Progressing").starts_with("False"), "{}", world.last_words());
    world.expect_rest();
    let (writes, about) = (world.faults.writes(), writes_about_it(&world));
    go_to(&mut world, HOUR - 1);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    assert!(tasks(&world).is_empty());
    go_to(&mut world, HOUR + 1);
    let name = task(HOUR);
    assert_eq!(tasks(&world), std::slice::from_ref(&name), "{}", world.last_words());
    let made = world.store.get(&task_key(&name)).unwrap();
    let metadata = &made["metadata"];
    assert_eq!(metadata["labels"][labels::SCHEDULE], NAME);
    assert_eq!(metadata["labels"]["team"], "data");
    assert_eq!(metadata["annotations"]["example.com/why"], "habit");
    assert!(metadata["ownerReferences"].is_null(), "it outlives the schedule");
    assert_eq!(
        made["spec"],
        json!({ "cluster": "demo", "flush": {}, "whenDown": "Wait" }),
        "the template, for the cluster"
    );
    let seen = status(&world);
    assert_eq!(seen.last_schedule_time.map(|t| t.0), Some(at(HOUR)));
    assert_eq!(seen.next_schedule_time.map(|t| t.0), Some(at(2 * HOUR)));
    assert_eq!(seen.last_task, Some(name.clone()));
    finish(&mut world, &name);
    assert_eq!(writes_about_it(&world), about + 3, "its creation, that it is active, and its end");
    let seen = status(&world);
    assert!(seen.active.is_empty(), "{}", world.last_words());
    let second = |time: Option<Time>| time.map(|t| t.0.as_second());
    assert!(seen.last_successful_time.is_some());
    assert_eq!(second(seen.last_successful_time), second(task_status(&world, &name).ended_at));
    assert_eq!(seen.missed, 0);
    world.expect_rest();
}

#[test]
fn tasks_that_were_due_while_no_operator_ran_are_made_up_for_by_one() {
    let mut world = scheduled(&hourly(json!({})));
    world.api_goes_away();
    go_to(&mut world, 5 * HOUR + 1200);
    assert!(tasks(&world).is_empty());
    world.api_returns();
    world.pass(10);
    assert_eq!(tasks(&world), [task(5 * HOUR)], "{}", world.last_words());
    let seen = status(&world);
    assert_eq!(seen.last_schedule_time.map(|t| t.0), Some(at(5 * HOUR)));
    assert_eq!(seen.next_schedule_time.map(|t| t.0), Some(at(6 * HOUR)));
    assert_eq!(seen.missed, 0);
}

#[test]
fn the_first_task_of_a_schedule_that_no_operator_has_seen_is_due_after_its_creation() {
    let mut world = spread(2, 1);
    world.api_goes_away();
    let schedule =
        json!({ "metadata": { "name": NAME, "namespace": NAMESPACE }, "spec": hourly(json!({})) });
    world.store.create(&key(), &schedule).unwrap();
    go_to(&mut world, HOUR + 300);
    world.api_returns();
    world.pass(10);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
}

#[test]
fn a_task_that_would_be_too_late_is_missed_and_said_to_be() {
    let mut world = scheduled(&hourly(json!({ "startingDeadlineSeconds": 600 })));
    world.api_goes_away();
    go_to(&mut world, 3 * HOUR + 1200);
    world.api_returns();
    world.pass(10);
    assert!(tasks(&world).is_empty(), "{}", world.last_words());
    assert_eq!(status(&world).missed, 1, "three in a row count as one");
    assert!(world.events.contains(&Reason::ScheduleMissed));
    assert_eq!(world.counted("schedule_missed_total"), 1);
    assert_eq!(status(&world).next_schedule_time.map(|t| t.0), Some(at(4 * HOUR)));
    world.expect_rest();
    go_to(&mut world, 4 * HOUR + 10);
    assert_eq!(tasks(&world), [task(4 * HOUR)], "{}", world.last_words());
    assert_eq!(status(&world).missed, 1);
}

#[test]
fn forbid_waits_for_the_task_before_until_the_deadline() {
    let mut world = scheduled(&hourly(json!({ "startingDeadlineSeconds": 1800 })));
    stuck(&mut world);
    go_to(&mut world, 2 * HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let said = condition(&world, "Accepted");
    assert!(said.contains(&format!("waits for CassandraTask {} to end", task(HOUR))), "{said}");
    assert_eq!(status(&world).next_schedule_time.map(|t| t.0), Some(at(2 * HOUR)), "due since");
    let mut late = world.clone();
    world.heal();
    finish(&mut world, &task(HOUR));
    world.pass(10);
    assert_eq!(tasks(&world), [task(HOUR), task(2 * HOUR)], "{}", world.last_words());
    assert_eq!(status(&world).missed, 0);
    assert_eq!(condition(&world, "Accepted"), "True Valid: the schedule is valid");

    go_to(&mut late, 2 * HOUR + 1810);
    assert_eq!(status(&late).missed, 1, "{}", late.last_words());
    assert_eq!(status(&late).next_schedule_time.map(|t| t.0), Some(at(3 * HOUR)));
    assert_eq!(tasks(&late), [task(HOUR)]);
}

#[test]
fn allow_queues_tasks_up_to_a_number_and_a_ring_that_stands_still_collects_no_more() {
    let besides = json!({ "concurrencyPolicy": "Allow", "schedule": "* * * * *" });
    let mut world = scheduled(&hourly(besides));
    stuck(&mut world);
    world.pass(150);
    let few = tasks(&world).len();
    assert!((2..=3).contains(&few), "{few}\n{}", world.last_words());
    let end = world.clock() + 2 * HOUR;
    go_to(&mut world, end);
    assert_eq!(tasks(&world).len(), 50, "{}", world.last_words());
    assert!(condition(&world, "Accepted").contains("fewer than 50 tasks"));
    assert_eq!(status(&world).active.len(), 50);
}

#[test]
fn replace_aborts_the_task_before() {
    let mut world = scheduled(&hourly(json!({ "concurrencyPolicy": "Replace" })));
    stuck(&mut world);
    go_to(&mut world, HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR)]);
    go_to(&mut world, 2 * HOUR + 10);
    assert_eq!(tasks(&world), [task(HOUR), task(2 * HOUR)], "{}", world.last_words());
    let is_aborted =
        |second| world.store.get(&task_key(&task(second))).unwrap()["spec"]["abort"] == true;
    assert!(is_aborted(HOUR) && !is_aborted(2 * HOUR), "{}", world.last_words());
}

#[test]
fn a_suspended_schedule_creates_nothing_and_catches_up_with_nothing() {
    let mut world = scheduled(&hourly(json!({})));
    patch(&mut world, &json!({ "suspend": true }));
    world.settle();
    assert_eq!(status(&world).next_schedule_time, None);
    assert!(condition(&world, "Paused").starts_with("True Paused: `spec.suspend`"));
    world.expect_rest();
    go_to(&mut world, 2 * HOUR + 300);
    patch(&mut world, &json!({ "suspend": false }));
    world.pass(30);
    assert!(tasks(&world).is_empty(), "{}", world.last_words());
    assert_eq!(status(&world).missed, 0);
    go_to(&mut world, 3 * HOUR + 10);
    assert_eq!(tasks(&world), [task(3 * HOUR)], "{}", world.last_words());
}

#[test]
fn while_the_cluster_is_paused_nothing_is_created_and_the_schedule_says_so() {
    let mut world = scheduled(&hourly(json!({})));
    world.patch_spec(&json!({ "paused": true }));
    world.pass(10);
    let said = condition(&world, "Paused");
    assert!(said.starts_with("True Paused: CassandraCluster demo is paused"), "{said}");
    go_to(&mut world, HOUR + 600);
    assert!(tasks(&world).is_empty(), "{}", world.last_words());
    world.expect_rest();
    world.patch_spec(&json!({ "paused": false }));
    world.pass(10);
    assert_eq!(tasks(&world), [task(HOUR)], "it is due all the while\n{}", world.last_words());
    assert!(condition(&world, "Paused").starts_with("False"));
    // A cluster that is not valid is not worked for either.
    world.patch_spec(&json!({ "version": "9.9.9" }));
    world.pass(10);
    let said = condition(&world, "Paused");
    assert!(said.starts_with("True InvalidSpec: the spec of CassandraCluster demo"), "{said}");
}

#[test]
fn a_schedule_that_is_not_valid_says_how_it_would_be() {
    let mut world = scheduled(&hourly(json!({ "timeZone": "Europe/Bonn" })));
    assert!(world.events.contains(&Reason::InvalidSpec));
    let said = condition(&world, "Accepted");
    assert!(
        said.starts_with("False InvalidSpec: `timeZone`") && said.contains("Etc/UTC"),
        "{said}"
    );
    world.expect_rest();
    patch(&mut world, &json!({ "timeZone": "Europe/Berlin", "schedule": "0 0 31 2 *" }));
    world.settle();
    let said = condition(&world, "Accepted");
    assert!(said.starts_with("False InvalidSpec") && said.contains("matches no date"), "{said}");
    assert!(world.condition("Degraded").starts_with("False"), "the ring is as it should be");
    patch(&mut world, &json!({ "schedule": "30 2 * * *" }));
    world.settle();
    assert!(condition(&world, "Accepted").starts_with("True Valid"));
    // 02:30 in Berlin, in winter.
    assert_eq!(status(&world).next_schedule_time.map(|t| t.0), Some(at(HOUR + 1800)));
}

#[test]
fn a_change_of_the_schedule_counts_at_once_and_makes_up_for_nothing() {
    let mut world = scheduled(&hourly(json!({})));
    go_to(&mut world, HOUR + 10);
    finish(&mut world, &task(HOUR));
    // 01:00:15 by now. By the new pattern the last time was a minute ago.
    world.api_goes_away();
    patch(&mut world, &json!({ "schedule": "59 * * * *" }));
    go_to(&mut world, HOUR + 900);
    world.api_returns();
    world.pass(60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let next = HOUR + 59 * 60;
    assert_eq!(status(&world).next_schedule_time.map(|t| t.0), Some(at(next)));
    go_to(&mut world, next + 10);
    assert_eq!(tasks(&world), [task(HOUR), task(next)], "{}", world.last_words());
}

#[test]
fn a_schedule_that_is_deleted_leaves_its_tasks() {
    let mut world = scheduled(&hourly(json!({})));
    go_to(&mut world, HOUR + 10);
    world.delete(kinds::SCHEDULE, NAME);
    world.settle();
    go_to(&mut world, 3 * HOUR);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let made = world.store.get(&task_key(&task(HOUR))).unwrap();
    assert_ne!(made["spec"]["abort"], true);
}

#[test]
fn as_many_ended_tasks_are_kept_as_the_schedule_says() {
    let limits = json!({ "successfulTasksHistoryLimit": 2, "failedTasksHistoryLimit": 1 });
    let mut world = scheduled(&hourly(limits));
    stuck(&mut world);
    let phases = [TaskPhase::Done, TaskPhase::Failed, TaskPhase::Failed];
    for hour in 1..=9 {
        go_to(&mut world, hour * HOUR + 10);
        let phase = phases[usize::try_from(hour).unwrap() % phases.len()];
        end_by_hand(&mut world, &task(hour * HOUR), phase);
    }
    let kept: Vec<String> = [6, 8, 9].map(|hour| task(hour * HOUR)).into();
    assert_eq!(tasks(&world), kept, "{}", world.last_words());
    patch(&mut world, &json!({ "successfulTasksHistoryLimit": 0, "failedTasksHistoryLimit": 0 }));
    world.settle();
    assert_eq!(tasks(&world), [task(9 * HOUR)], "the last of its kind\n{}", world.last_words());
    world.expect_rest();
}

#[test]
fn tasks_that_a_schedule_has_not_created_are_no_history_of_it() {
    let mut world = scheduled(&hourly(json!({ "successfulTasksHistoryLimit": 0 })));
    let by_hand = json!({ "metadata": { "name": "by-hand", "namespace": NAMESPACE }, "spec": { "cluster": "demo", "flush": {} } });
    world.store.create(&task_key("by-hand"), &by_hand).unwrap();
    world.pass(5);
    finish(&mut world, "by-hand");
    go_to(&mut world, HOUR + 10);
    finish(&mut world, &task(HOUR));
    go_to(&mut world, 2 * HOUR + 10);
    finish(&mut world, &task(2 * HOUR));
    assert_eq!(tasks(&world), ["by-hand".to_string(), task(2 * HOUR)], "{}", world.last_words());
}

/// Where a history has come to.
fn come_to(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    let aborted = tasks(world).into_iter().map(|name| {
        let abort = world.store.get(&task_key(&name)).unwrap()["spec"]["abort"] == true;
        (name, abort)
    });
    let status = status(world);
    (aborted.collect::<Vec<_>>(), status.last_task, status.next_schedule_time, status.missed)
}

#[test]
fn killed_at_every_write_the_operator_creates_one_task() {
    for (policy, hour) in [("Forbid", 1), ("Replace", 2)] {
        let mut world = scheduled(&hourly(json!({ "concurrencyPolicy": policy })));
        stuck(&mut world);
        go_to(&mut world, hour * HOUR - 30);
        let mut worlds = Vec::new();
        while world.clock() < hour * HOUR + 60 {
            let before = world.clone();
            world.tick().unwrap();
            if writes_about_it(&world) > writes_about_it(&before) {
                worlds.push(before);
            }
        }
        assert!(worlds.len() >= 2, "{}", world.last_words());
        let expected = come_to(&world);
        let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore, Fault::Unavailable];
        for (before, fault) in worlds.iter().flat_map(|w| faults.map(|fault| (w, fault))) {
            let mut world = before.clone();
            world.faults.plan(world.faults.writes(), fault);
            go_to(&mut world, hour * HOUR + 120);
            assert_eq!(come_to(&world), expected, "{fault:?}\n{}", world.last_words());
        }
    }
}

#[test]
fn two_leaders_create_one_task() {
    let mut world = scheduled(&hourly(json!({})));
    go_to(&mut world, HOUR - 30);
    // The leader is frozen with the creation ready to be sent.
    world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
    go_to(&mut world, HOUR + 60);
    assert!(tasks(&world).is_empty());
    world.start_operator();
    world.pass(60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let made = world.store.get(&task_key(&task(HOUR))).unwrap().clone();
    world.wake_and_end_the_old_leader();
    world.settle();
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    let is = world.store.get(&task_key(&task(HOUR))).unwrap();
    assert_eq!(is["metadata"]["uid"], made["metadata"]["uid"]);
}

#[test]
fn a_leader_that_wakes_up_after_the_task_has_come_and_gone_does_not_create_it_again() {
    let mut world = scheduled(&hourly(json!({})));
    go_to(&mut world, HOUR - 30);
    world.faults.plan(world.faults.writes(), Fault::Freeze);
    go_to(&mut world, HOUR + 60);
    world.start_operator();
    world.pass(60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    world.delete(kinds::TASK, &task(HOUR));
    world.pass(5);
    world.wake_and_end_the_old_leader();
    world.settle();
    assert!(tasks(&world).is_empty(), "{}", world.last_words());
}

#[test]
fn a_clock_that_is_set_back_creates_nothing_twice() {
    let mut world = scheduled(&hourly(json!({})));
    go_to(&mut world, HOUR + 10);
    finish(&mut world, &task(HOUR));
    world.set_leaders_clock(SignedDuration::from_mins(-30));
    let mut forgotten = world.clone();
    world.delete(kinds::TASK, &task(HOUR));
    world.settle();
    go_to(&mut world, HOUR + 3000);
    assert!(tasks(&world).is_empty(), "what is on record is not due again\n{}", world.last_words());
    // The record is lost, too, and the name is left.
    forgotten.store.put_status(&key(), Value::Null).unwrap();
    go_to(&mut forgotten, HOUR + 3000);
    assert_eq!(tasks(&forgotten), [task(HOUR)], "{}", forgotten.last_words());
    assert_eq!(status(&forgotten).last_task, Some(task(HOUR)));
}

#[test]
fn a_schedule_of_another_cluster_is_left_alone() {
    let mut world = scheduled(&hourly(json!({ "cluster": "other" })));
    go_to(&mut world, HOUR + 10);
    assert!(tasks(&world).is_empty());
    assert!(status(&world).conditions.is_empty());
    let cluster = world.store.get(&cluster_key()).unwrap();
    assert_eq!(cluster["metadata"]["name"], "demo");
}

/// What a leader with a wrong clock has written silences no schedule until then.
#[test]
fn a_time_that_a_leader_set_ahead_of_now_keeps_no_task_from_being_created() {
    let mut world = scheduled(&hourly(json!({})));
    let ahead = 30 * 24 * HOUR;
    let times = json!({ "lastScheduleTime": at(ahead).to_string(), "nextScheduleTime": at(ahead + HOUR).to_string() });
    world.store.merge(&key(), &json!({ "status": times }), Subresource::Status).unwrap();
    go_to(&mut world, HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR)], "{}", world.last_words());
    go_to(&mut world, 2 * HOUR + 60);
    assert_eq!(tasks(&world), [task(HOUR), task(2 * HOUR)], "{}", world.last_words());
}

/// A policy of the API server refuses the tasks of one schedule: the others go on.
#[test]
fn a_task_that_is_refused_holds_up_no_other_schedule() {
    let mut world = scheduled(&hourly(json!({})));
    let other = json!({
        "metadata": { "name": "other", "namespace": NAMESPACE },
        "spec": hourly(json!({})),
    });
    let other_key = ObjectKey::new(kinds::SCHEDULE, NAMESPACE, "other");
    world.store.create(&other_key, &other).unwrap();
    let mut policed = world.clone();
    policed.store.refuse("the label cost-center is missing", |key, _| {
        key.resource == kinds::TASK && key.name.starts_with(NAME)
    });
    go_to(&mut policed, HOUR + 60);
    let of_other = format!("other-{}", at(HOUR).as_second() / 60);
    assert_eq!(tasks(&policed), std::slice::from_ref(&of_other), "{}", policed.last_words());
    let said = condition(&policed, "Accepted");
    assert!(said.contains("the label cost-center is missing"), "{said}");
    assert_eq!(status(&policed).last_schedule_time, None, "nothing was created");
    finish(&mut policed, &of_other);
    // It is tried again, a few times in an hour.
    let writes = policed.faults.writes();
    go_to(&mut policed, HOUR + 1800);
    let writes = policed.faults.writes() - writes;
    assert!(writes < 100, "{writes} writes\n{}", policed.last_words());
    policed.store.refuse_nothing();
    go_to(&mut policed, HOUR + 2400);
    assert_eq!(tasks(&policed), [task(HOUR), of_other], "{}", policed.last_words());
    assert!(condition(&policed, "Accepted").starts_with("True Valid"));
}
