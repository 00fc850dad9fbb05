//! Backups that come again and again.

use crate::backups::{a_ring, ask, phase};
use crate::every::{all_end_alike, before_each_write, some};
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::manifests::NAMESPACE;
use palladion_api::backup::BackupPhase;
use palladion_api::backup_schedule::CassandraBackupScheduleStatus;
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const NAME: &str = "hourly";
const HOUR: i64 = 3600;

pub fn key() -> ObjectKey {
    ObjectKey::new(kinds::BACKUP_SCHEDULE, NAMESPACE, NAME)
}

pub fn scheduled(more: &Value) -> World {
    let mut world = a_ring();
    let mut spec = json!({ "cluster": "demo", "schedule": "0 * * * *" });
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    world.tell(&format!("a person makes the schedule {NAME}: {spec}"));
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraBackupSchedule",
        "metadata": { "name": NAME, "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(), &schedule).expect("the schedule should be accepted");
    world.pass(5);
    world
}

pub fn status(world: &World) -> CassandraBackupScheduleStatus {
    let schedule = world.store.get(&key()).expect("the schedule should exist");
    serde_json::from_value(schedule["status"].clone()).unwrap_or_default()
}

pub fn condition(world: &World, type_: &str) -> String {
    let status = status(world);
    let found = status.conditions.iter().find(|c| c.type_ == type_);
    found.map(|c| format!("{} {}: {}", c.status, c.reason, c.message)).unwrap_or_default()
}

pub fn backups(world: &World) -> Vec<String> {
    world.store.list(kinds::BACKUP).map(|(key, _)| key.name.clone()).collect()
}

pub fn go_on(world: &mut World, seconds: i64) {
    let end = world.clock() + seconds;
    while world.clock() < end {
        world.pass((end - world.clock()).min(600));
    }
}

#[test]
fn a_backup_comes_at_each_time_and_the_objects_of_older_ones_go() {
    let mut world = scheduled(&json!({ "historyLimit": 2, "template": { "verify": "Read" } }));
    assert!(condition(&world, "Accepted").starts_with("True Valid"));
    assert_eq!(backups(&world), [""; 0]);
    go_on(&mut world, 4 * HOUR + 600);
    let kept = backups(&world);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(world.ring.store.outcomes.len(), 4, "all are in the store");
    for name in &kept {
        assert_eq!(phase(&world, name), Some(BackupPhase::Complete));
    }
    let of = status(&world);
    assert_eq!(of.last_backup.as_ref(), kept.last());
    assert!(of.last_complete_time.is_some() && of.active.is_none() && of.missed == 0, "{of:?}");
    let backup = world.store.get(&ObjectKey::new(kinds::BACKUP, NAMESPACE, &kept[0])).unwrap();
    assert_eq!(backup["spec"]["verify"], "Read");
}

#[test]
fn a_backup_that_is_under_way_is_waited_for_and_what_is_too_late_is_missed() {
    let mut world = scheduled(&json!({ "startingDeadlineSeconds": 1800 }));
    let rest = HOUR - world.clock() % HOUR - 60;
    go_on(&mut world, rest);
    world.ring.store.is_away = true;
    go_on(&mut world, HOUR + 120);
    assert_eq!(backups(&world).len(), 1);
    let waits = condition(&world, "Accepted");
    assert!(waits.starts_with("True Valid") && waits.contains(&backups(&world)[0]), "{waits}");
    go_on(&mut world, 2000);
    assert_eq!((status(&world).missed, backups(&world).len()), (1, 1), "{:?}", status(&world));
    assert!(world.events.contains(&Reason::ScheduleMissed));
    world.ring.store.is_away = false;
    go_on(&mut world, HOUR + 600);
    assert_eq!(backups(&world).len(), 2);
}

#[test]
fn a_suspended_schedule_creates_nothing_and_a_pattern_that_never_comes_is_refused() {
    let mut world = scheduled(&json!({ "suspend": true }));
    go_on(&mut world, 2 * HOUR);
    assert_eq!(backups(&world), [""; 0]);
    assert!(condition(&world, "Paused").starts_with("True Paused"));
    let never = json!({ "spec": { "suspend": false, "schedule": "0 0 31 2 *" } });
    world.store.merge(&key(), &never, Subresource::None).unwrap();
    world.pass(10);
    assert!(condition(&world, "Accepted").starts_with("False InvalidSpec"));
}

#[test]
fn the_last_complete_one_is_kept_whatever_failed_since() {
    let mut world = scheduled(&json!({ "historyLimit": 1, "template": { "deadlineSeconds": 60 } }));
    go_on(&mut world, HOUR + 300);
    let complete = backups(&world);
    assert_eq!(complete.len(), 1);
    world.ring.store.is_away = true;
    go_on(&mut world, 3 * HOUR);
    let kept = backups(&world);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.contains(&complete[0]));
    assert_eq!(phase(&world, kept.last().unwrap()), Some(BackupPhase::Failed));
}

#[test]
fn a_schedule_of_a_paused_ring_creates_nothing_and_says_so() {
    let mut world = scheduled(&json!({}));
    world.patch_spec(&json!({ "paused": true }));
    go_on(&mut world, 2 * HOUR);
    assert_eq!(backups(&world), [""; 0]);
    assert!(condition(&world, "Paused").starts_with("True Paused"));
}

#[test]
fn wherever_the_leader_ends_one_backup_is_created() {
    let mut world = scheduled(&json!({}));
    let rest = HOUR - world.clock() % HOUR - 5;
    go_on(&mut world, rest);
    ask(&mut world, "by-hand", &json!({ "abort": true }));
    world.pass(6);
    let (worlds, end) = before_each_write(world);
    let end_of = end.clone().end();
    assert_eq!(backups(&end).len(), 2);
    let one = |world: &mut World, _: &End| match backups(world).len() {
        2 => Ok(()),
        _ => Err(format!("{:?}", backups(world))),
    };
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 3, 0), &end_of, disturb, one);
    }
}

/// What the operator exports of the last backup.
fn last_complete(world: &World) -> Option<i64> {
    world.gauge("backup_last_complete_timestamp_seconds")
}

#[test]
fn the_time_of_the_last_complete_backup_is_exported_and_a_failed_one_changes_nothing() {
    let mut world = a_ring();
    world.pass(5);
    ask(&mut world, "by-hand", &json!({}));
    world.until(|w| phase(w, "by-hand") == Some(BackupPhase::Complete));
    assert_eq!(last_complete(&world), None, "nobody asks for backups of it time and again");
    let mut world = scheduled(&json!({}));
    let created = world.store.get(&key()).unwrap()["metadata"]["creationTimestamp"].clone();
    let created: jiff::Timestamp = serde_json::from_value(created).unwrap();
    assert_eq!(last_complete(&world), Some(created.as_second()), "it has none yet");
    go_on(&mut world, 2 * HOUR);
    world.settle();
    let taken = |world: &World| {
        let all = backups(world).into_iter().map(|name| crate::backups::status(world, &name));
        let complete = all.filter(|of| of.phase == Some(BackupPhase::Complete));
        complete.filter_map(|of| Some(of.window?.from.0.as_second())).max()
    };
    let newest = taken(&world);
    assert!(newest.is_some());
    assert_eq!(last_complete(&world), newest);
    ask(&mut world, "failing", &json!({ "deadlineSeconds": 60 }));
    world.ring.store.is_away = true;
    world.pass(300);
    assert_eq!(phase(&world, "failing"), Some(BackupPhase::Failed));
    assert_eq!(last_complete(&world), newest);
}
