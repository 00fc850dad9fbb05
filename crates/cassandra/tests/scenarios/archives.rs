//! Archives of commit logs: which points in time a ring says that it can be restored to, and what
//! it says when that is less than it was.

use crate::backups::{a_ring, ask, patch, phase};

use crate::restores;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::world::cluster_key;
use jiff::SignedDuration;
use palladion_api::backup::{BackupPhase, PointInTime};
use palladion_api::reasons::Reason;
use palladion_api::restore::RestorePhase;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn reach(world: &World) -> Option<PointInTime> {
    let status = world.store.get(&cluster_key()).expect("a cluster")["status"].clone();
    serde_json::from_value(status["pointInTime"].clone()).ok()
}

fn orders(world: &World) -> Vec<Value> {
    world.store.list(kinds::MEMBER).map(|(_, member)| member["spec"]["archive"].clone()).collect()
}

fn pods(world: &World) -> BTreeMap<String, String> {
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), uid(pod))).collect()
}

fn backed_up(world: &mut World, name: &str, more: &Value) {
    ask(world, name, more);
    world.settle();
    assert_eq!(phase(world, name), Some(BackupPhase::Complete), "{}", world.last_words());
}

/// All members have archived until this long ago.
fn archived(world: &mut World, seconds: i64) {
    archived_in(world, seconds, 600);
}

fn archived_in(world: &mut World, seconds: i64, pass: i64) {
    world.ring.archives.until = Some(world.now() - SignedDuration::from_secs(seconds));
    world.pass(pass);
}

/// And one that can be restored to a point in time.
fn based() -> World {
    let mut world = archiving();
    world.pass(120);
    backed_up(&mut world, "second", &json!({}));
    archived(&mut world, 0);
    assert!(reach(&world).is_some_and(|reach| reach.from.is_some()));
    world
}

/// A ring whose archives are open, behind a first backup.
fn archiving() -> World {
    let mut world = a_ring();
    world.patch_spec(&json!({ "backup": { "archive": { "mode": "CommitLog" } } }));
    world.settle();
    backed_up(&mut world, "first", &json!({}));
    world
}

#[test]
fn a_ring_is_reached_from_a_backup_within_all_archives_until_the_last_of_them() {
    let mut world = a_ring();
    let before = pods(&world);
    assert_eq!((reach(&world), orders(&world)), (None, vec![Value::Null; 3]));
    world.patch_spec(&json!({ "backup": { "archive": { "mode": "CommitLog" } } }));
    world.settle();
    let after = pods(&world);
    assert!(before.iter().all(|(name, uid)| after.get(name) != Some(uid)), "servers link segments");
    assert_eq!(orders(&world), vec![Value::Null; 3], "no repository is known yet");
    // The first backup makes the repository known; the windows open behind its snapshots.
    backed_up(&mut world, "first", &json!({}));
    assert!(orders(&world).iter().all(|order| order["maxLossSeconds"] == 60));
    archived(&mut world, 0);
    assert_eq!(reach(&world).expect("it is archived").from, None);
    // One of some keyspaces is not all of it.
    backed_up(&mut world, "some", &json!({ "keyspaces": ["shop"] }));
    archived(&mut world, 0);
    assert_eq!(reach(&world).expect("it is archived").from, None);
    backed_up(&mut world, "second", &json!({}));
    archived(&mut world, 0);
    let first = reach(&world).expect("it is archived");
    let taken = crate::backups::status(&world, "second");
    assert_eq!((&first.backup, &first.from), (&taken.id, &taken.window.unwrap().to));
    let until = first.until.clone().expect("until when");
    assert_eq!(until.0.as_second() % 60, 0);
    // A limit is changed: nobody restarts.
    let uids = pods(&world);
    world.patch_spec(&json!({ "backup": { "archive": { "maxLossSeconds": 120 } } }));
    world.settle();
    assert!(orders(&world).iter().all(|order| order["maxLossSeconds"] == 120));
    assert_eq!(pods(&world), uids);
    // And off again.
    world.patch_spec(&json!({ "backup": { "archive": { "mode": "Off" } } }));
    world.settle();
    assert_eq!((reach(&world), orders(&world)), (None, vec![Value::Null; 3]));
}

#[test]
fn at_rest_a_ring_that_is_archived_writes_nothing() {
    let mut world = archiving();
    world.pass(600);
    let writes = world.writes.len();
    world.pass(3600);
    assert_eq!(world.writes.len(), writes, "{}", world.last_words());
}

/// Figures that move are written once in five minutes at the most: by each agent, and by the mind.
#[test]
fn what_is_archived_all_the_time_is_written_seldom() {
    let mut world = based();
    let writes = world.writes.len();
    for _ in 0..12 {
        archived_in(&mut world, 0, 300);
    }
    let all = &world.writes[writes..];
    assert_eq!(all.len(), 12, "{}", all.join("\n"));
}

#[test]
fn behind_an_altered_table_a_point_in_time_needs_another_backup() {
    let mut world = based();
    world.ring.archives.altered = Some(world.now());
    archived(&mut world, 0);
    assert_eq!(reach(&world).expect("it is archived").from, None);
    lacks_a_base(&world);
    backed_up(&mut world, "third", &json!({}));
    archived(&mut world, 0);
    let taken = crate::backups::status(&world, "third");
    assert_eq!(reach(&world).expect("it is archived").backup, taken.id);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

#[test]
fn the_backup_with_which_points_in_time_begin_stays_until_another_one_is_that() {
    let mut world = based();
    let base = reach(&world).expect("it is archived").backup;
    patch(&mut world, "second", &json!({ "expire": true }));
    world.pass(3600);
    assert_eq!(phase(&world, "second"), Some(BackupPhase::Complete), "{}", world.last_words());
    let expired = crate::backups::status(&world, "second").conditions;
    let expired = expired.iter().find(|c| c.type_ == "Expired").expect("why it stays");
    assert_eq!((&*expired.status, &*expired.reason), ("False", Reason::ExpiryWaits.as_str()));
    assert!(expired.message.contains("begin with it"), "{}", expired.message);
    assert_eq!(reach(&world).expect("it is archived").backup, base);
    // One with which none begins goes at once.
    patch(&mut world, "first", &json!({ "expire": true }));
    world.settle();
    assert_eq!(phase(&world, "first"), Some(BackupPhase::Expiring), "{}", world.last_words());
    backed_up(&mut world, "third", &json!({}));
    archived(&mut world, 0);
    let third = crate::backups::status(&world, "third").id;
    assert_eq!(reach(&world).expect("it is archived").backup, third);
    world.pass(3600);
    assert_eq!(phase(&world, "second"), Some(BackupPhase::Expiring), "{}", world.last_words());
    assert_eq!(reach(&world).expect("it is archived").backup, third);
}

/// What the member that has left held is in no journal that goes on.
#[test]
fn a_backup_of_other_members_is_none_to_begin_with() {
    let mut world = based();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    assert_eq!(orders(&world).len(), 2, "{}", world.last_words());
    archived(&mut world, 0);
    assert_eq!(reach(&world).expect("it is archived").from, None);
    lacks_a_base(&world);
}

fn lacks_a_base(world: &World) {
    let told = world.condition("Degraded");
    assert!(told.starts_with(&format!("True {}", Reason::ArchiveGap.as_str())), "{told}");
    assert!(told.contains("no complete backup") && told.contains("take a backup"), "{told}");
}

#[test]
fn an_archive_that_is_behind_is_told_with_its_cause() {
    let mut world = based();
    world.ring.archives.behind = Some("the store answers 503".into());
    world.pass(600);
    let told = world.condition("Degraded");
    assert!(told.starts_with(&format!("True {}", Reason::ArchiveBehind.as_str())), "{told}");
    assert!(told.contains("the store answers 503") && told.contains("until"), "{told}");
    world.ring.archives.behind = None;
    world.pass(600);
    let told = world.condition("Degraded");
    assert!(told.starts_with("False"), "{told}");
}

#[test]
fn a_gap_is_told_until_a_backup_is_behind_it_whatever_else_is_lacking() {
    let mut world = based();
    let member = pods(&world).into_keys().next().expect("a member");
    world.ring.archives.breaks.insert(member, "a table was truncated".into());
    world.pass(600);
    backed_up(&mut world, "third", &json!({}));
    world.ring.archives.altered = Some(world.now());
    archived(&mut world, 0);
    // The gap is of before the backup.
    lacks_a_base(&world);
}

#[test]
fn behind_a_gap_a_point_in_time_needs_another_backup() {
    let mut world = based();
    let member = pods(&world).into_keys().next().expect("a member");
    world.ring.archives.breaks.insert(member.clone(), "a table was truncated".into());
    world.pass(600);
    assert_eq!(reach(&world).expect("it is archived").from, None);
    let told = world.condition("Degraded");
    assert!(told.starts_with(&format!("True {}", Reason::ArchiveGap.as_str())), "{told}");
    assert!(told.contains("a table was truncated") && told.contains(&member), "{told}");
    world.pass(120);
    backed_up(&mut world, "third", &json!({}));
    archived(&mut world, 0);
    let taken = crate::backups::status(&world, "third");
    assert_eq!(reach(&world).expect("it is archived").backup, taken.id);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

#[test]
fn what_a_restore_loads_ends_the_windows_of_all_members_before_and_after_it() {
    let mut world = archiving();
    world.pass(120);
    backed_up(&mut world, "nightly", &json!({}));
    archived(&mut world, 0);
    assert!(reach(&world).is_some_and(|reach| reach.from.is_some() && reach.window == 0));
    restores::ask(&mut world, "back", &json!({}));
    world.until(|world| reach(world).is_some_and(|reach| reach.window == 1));
    world.settle();
    assert_eq!(restores::phase(&world, "back"), Some(RestorePhase::Complete));
    let after = reach(&world).expect("it is archived");
    assert_eq!((after.window, after.restore_uid, after.from), (2, None, None));
    assert!(orders(&world).iter().all(|order| order["window"] == 2), "{:?}", orders(&world));
}
