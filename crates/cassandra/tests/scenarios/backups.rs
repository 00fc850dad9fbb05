//! Backups: a ring is taken whole or not at all, whatever ends meanwhile, and a backup that is
//! not complete never says that it is.

use crate::every::{all_end_alike, before_each_write, in_flight, some};
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::transfers::Outcome;
use crate::sim::world::cluster_key;
use crate::tasks;
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::{BackupPhase, CassandraBackupStatus};
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::BACKUP, NAMESPACE, name)
}

pub fn ask(world: &mut World, name: &str, more: &Value) {
    world.tell(&format!("a person asks for the backup {name}"));
    let mut spec = json!({ "cluster": "demo", "deadlineSeconds": 86_400 });
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let backup = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraBackup",
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(name), &backup).expect("the backup should be accepted");
}

pub fn status(world: &World, name: &str) -> CassandraBackupStatus {
    let backup = world.store.get(&key(name)).expect("the backup should exist");
    serde_json::from_value(backup["status"].clone()).unwrap_or_default()
}

pub fn phase(world: &World, name: &str) -> Option<BackupPhase> {
    status(world, name).phase
}

/// Reason and message of its conditions.
fn said(world: &World, name: &str) -> String {
    let status = status(world, name);
    let complete = status.conditions.iter().find(|c| c.type_ == "Complete");
    complete.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

fn expect_said(world: &World, name: &str, reason: Reason, words: &str) {
    let said = said(world, name);
    assert!(said.starts_with(reason.as_str()) && said.contains(words), "{said}");
}

pub fn with_a_store(cluster: &Value) -> Value {
    let mut cluster = cluster.clone();
    cluster["spec"]["backup"] =
        json!({ "store": { "s3": { "bucket": "backups", "prefix": "demo" } } });
    cluster
}

/// Two racks with three members, and a store.
pub fn a_ring() -> World {
    static MADE: std::sync::OnceLock<World> = std::sync::OnceLock::new();
    let make = || {
        let mut world = World::new().with(&with_a_store(&a_cluster(&[("a", 2), ("b", 1)])));
        world.settle();
        assert_eq!(world.write(20), 20);
        world.story.clear();
        world.destructive.clear();
        world.writes.clear();
        world
    };
    MADE.get_or_init(make).clone()
}

pub fn patch(world: &mut World, name: &str, spec: &Value) {
    world.tell(&format!("a person changes the backup {name}: {spec}"));
    let patch = json!({ "spec": spec });
    world.store.merge(&key(name), &patch, Subresource::None).expect("the backup should exist");
}

pub fn orders(world: &World) -> usize {
    world.store.list(kinds::MEMBER).filter(|(_, m)| m["spec"]["transfer"].is_object()).count()
}

fn snapshots(world: &World) -> usize {
    world.kube.disks.values().map(|disk| disk.content.backups.snapshots.len()).sum()
}

fn is_released(world: &World) -> bool {
    let backup = world.store.get(&cluster_key()).expect("a cluster")["status"]["backup"].clone();
    backup["repositoryID"].is_string()
        && backup["backup"].is_null()
        && backup["backupUID"].is_null()
}

#[track_caller]
fn is_left_alone(world: &World) {
    assert!(is_released(world), "the ring still has a backup under way");
    assert_eq!((orders(world), snapshots(world)), (0, 0), "an order or a snapshot is left");
}

#[test]
fn a_ring_is_backed_up_and_nothing_is_left_behind() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    let of = status(&world, "nightly");
    assert_eq!(
        of.phase,
        Some(BackupPhase::Complete),
        "{}\n{}",
        said(&world, "nightly"),
        world.last_words()
    );
    expect_said(&world, "nightly", Reason::BackupComplete, "9 files, 900 bytes, members: 3");
    assert_eq!(of.members.len(), 3);
    assert!(of.members.iter().all(|m| m.uploaded.is_some()));
    let window = of.window.unwrap();
    assert!(window.from.0 < window.to.unwrap().0);
    assert!(of.manifest_hash.is_some() && of.ended_at.is_some());
    is_left_alone(&world);
    // At rest nothing is written, and the next one is in the same repository.
    let writes = world.writes.len();
    world.pass(600);
    assert_eq!(world.writes.len(), writes, "{}", world.last_words());
    ask(&mut world, "weekly", &json!({ "verify": "Read" }));
    world.settle();
    let next = status(&world, "weekly");
    assert_eq!(next.phase, Some(BackupPhase::Complete));
    assert_eq!(next.repository_id, of.repository_id);
    assert_ne!(next.id, of.id);
}

/// What members are told of their rate: at the most, and at the least.
fn rates(world: &World) -> Vec<(Value, Value)> {
    let transfers = world.store.list(kinds::MEMBER).map(|(_, m)| m["spec"]["transfer"].clone());
    let rate = |t: Value| (t["bytesPerSecond"].clone(), t["minimumBytesPerSecond"].clone());
    transfers.filter(Value::is_object).map(rate).collect()
}

#[test]
fn limits_reach_the_members_of_a_backup_that_is_under_way() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Preparing) && orders(w) == 3);
    world.ring.store.is_away = true;
    assert_eq!(rates(&world), vec![(Value::Null, json!(4_194_304)); 3]);
    let change = |world: &mut World, limits: Value| {
        world.patch_spec(&json!({ "backup": { "limits": limits } }));
        world.pass(60);
    };
    change(&mut world, json!({ "bytesPerSecond": 1_000_000 }));
    assert_eq!(rates(&world), vec![(json!(1_000_000), json!(1_000_000)); 3]);
    change(&mut world, json!({ "bytesPerSecond": 9_000_000, "minimumBytesPerSecond": 2_000_000 }));
    assert_eq!(rates(&world), vec![(json!(9_000_000), json!(2_000_000)); 3]);
    world.ring.store.is_away = false;
    world.pass(700);
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Complete), "{}", world.last_words());
}

#[test]
fn a_ring_takes_one_backup_at_a_time_in_the_order_in_which_they_were_asked_for() {
    let mut world = a_ring();
    ask(&mut world, "one", &json!({}));
    world.until(|w| phase(w, "one") == Some(BackupPhase::Uploading));
    ask(&mut world, "two", &json!({}));
    world.until(|w| phase(w, "two").is_some());
    expect_said(&world, "two", Reason::BackupPending, "CassandraBackup one");
    world.settle();
    for name in ["one", "two"] {
        assert_eq!(phase(&world, name), Some(BackupPhase::Complete), "{}", said(&world, name));
    }
    is_left_alone(&world);
}

#[test]
fn a_ring_without_a_store_says_so_and_begins_once_it_has_one() {
    let cluster = a_cluster(&[("a", 2), ("b", 1)]);
    let mut world = World::new().with(&cluster);
    world.settle();
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    expect_said(&world, "nightly", Reason::BackupPending, "`spec.backup`");
    world.apply(&with_a_store(&cluster));
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn a_backup_waits_for_a_store_that_does_not_answer() {
    let mut world = a_ring();
    world.ring.store.is_away = true;
    ask(&mut world, "nightly", &json!({}));
    world.pass(300);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Preparing));
    expect_said(&world, "nightly", Reason::StoreUnreachable, "the store does not answer");
    world.ring.store.is_away = false;
    world.pass(700);
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn an_aborted_backup_leaves_nothing_on_the_volumes_and_is_failed_in_the_store() {
    for at in [BackupPhase::Preparing, BackupPhase::Snapshotting, BackupPhase::Uploading] {
        let mut world = a_ring();
        ask(&mut world, "nightly", &json!({}));
        world.until(|w| phase(w, "nightly") == Some(at));
        world.pass(1);
        patch(&mut world, "nightly", &json!({ "abort": true }));
        world.settle();
        assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Aborted), "{}", world.last_words());
        expect_said(&world, "nightly", Reason::BackupAborted, "uses what was sent");
        let id = status(&world, "nightly").id.unwrap();
        assert_eq!(world.ring.store.outcomes.get(&id), Some(&Outcome::Failed));
        is_left_alone(&world);
    }
}

#[test]
fn a_backup_that_has_not_begun_is_aborted_at_once() {
    let mut world = a_ring();
    world.ring.store.is_away = true;
    ask(&mut world, "one", &json!({}));
    world.until(|w| phase(w, "one").is_some());
    ask(&mut world, "two", &json!({ "abort": true }));
    world.pass(30);
    assert_eq!(phase(&world, "two"), Some(BackupPhase::Aborted));
    expect_said(&world, "two", Reason::BackupAborted, "before it began");
}

#[test]
fn a_backup_that_is_deleted_is_discarded() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    assert_eq!(snapshots(&world), 3);
    world.delete(kinds::BACKUP, "nightly");
    world.settle();
    is_left_alone(&world);
    assert!(world.ring.store.outcomes.values().all(|outcome| *outcome == Outcome::Failed));
    assert_eq!(world.ring.store.outcomes.len(), 1);
}

#[test]
fn a_backup_whose_time_is_over_fails() {
    let mut world = a_ring();
    world.ring.store.is_away = true;
    ask(&mut world, "nightly", &json!({ "deadlineSeconds": 120 }));
    world.pass(800);
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::BackupFailed, "`deadlineSeconds`");
    is_left_alone(&world);
}

#[test]
fn snapshots_during_a_change_of_the_schema_are_taken_anew() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    // Between the first answer and the last: all are asked at once.
    world.until(|w| status(w, "nightly").view.is_some());
    world.ring.store.schema += 1;
    world.settle();
    let of = status(&world, "nightly");
    assert_eq!(
        (of.phase, of.attempt),
        (Some(BackupPhase::Complete), Some(2)),
        "{}",
        said(&world, "nightly")
    );
    assert_eq!(of.view.unwrap().schema_version, "1", "the schema is that of its snapshots");
}

#[test]
fn a_ring_that_changes_all_the_time_has_no_backup() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    for _ in 0..3 {
        world.until(|w| {
            let of = status(w, "nightly");
            of.given_up.is_some()
                || of
                    .view
                    .as_ref()
                    .is_some_and(|v| v.schema_version == w.ring.store.schema.to_string())
        });
        world.ring.store.schema += 1;
        world.tick().unwrap();
    }
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed), "{}", said(&world, "nightly"));
    expect_said(&world, "nightly", Reason::TopologyChanged, "(attempts: 3)");
}

#[test]
fn another_rings_repository_is_left_alone() {
    let mut world = a_ring();
    world.ring.store.repository = Some("another".into());
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::RepositoryForeign, "another");
    assert!(world.ring.store.sent.is_empty());
}

#[test]
fn what_the_second_member_finds_damaged_is_named() {
    let mut world = a_ring();
    world.ring.store.is_damaged = true;
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::RepositoryDamaged, "o: cut");
    // In this order: the repository keeps the last one, damaged or not.
    let next = "create another backup, which uploads them again, then expire this one";
    expect_said(&world, "nightly", Reason::RepositoryDamaged, next);
    assert_eq!(status(&world, "nightly").damaged.len(), 1);
    is_left_alone(&world);
}

/// With a store, and its members on machines of their own, one of which is to spare.
pub fn spread() -> World {
    let mut world = World::new();
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut world = world.with(&with_a_store(&a_cluster(&[("a", 2), ("b", 1)])));
    world.settle();
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world
}

#[test]
fn a_member_that_is_replaced_before_it_has_sent_all_fails_the_backup() {
    let mut world = spread();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed), "{}", world.last_words());
    expect_said(&world, "nightly", Reason::BackupFailed, LAST);
    is_left_alone(&world);
    world.expect_ring(3);
}

#[test]
fn a_server_that_ends_while_it_sends_goes_on() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    world.delete(kinds::POD, LAST);
    world.settle();
    let of = status(&world, "nightly");
    assert_eq!(
        (of.phase, of.attempt),
        (Some(BackupPhase::Complete), Some(1)),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn nobody_leaves_while_a_backup_needs_all_members() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.apply(&with_a_store(&a_cluster(&[("a", 1), ("b", 1)])));
    world.pass(20);
    let waits = world.store.get(&cluster_key()).unwrap()["status"]["waits"].to_string();
    assert!(waits.contains("BackupUnderWay"), "{waits}");
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
    world.expect_ring(2);
}

#[test]
fn a_cluster_that_is_created_again_keeps_its_repository() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    let before = status(&world, "nightly").repository_id;
    let forget = json!({ "status": { "backup": null } });
    world.store.merge(&cluster_key(), &forget, Subresource::Status).unwrap();
    ask(&mut world, "again", &json!({}));
    world.settle();
    assert_eq!(phase(&world, "again"), Some(BackupPhase::Complete), "{}", said(&world, "again"));
    assert_eq!(status(&world, "again").repository_id, before);
}

#[test]
fn a_paused_ring_begins_no_backup_and_says_so() {
    let mut world = a_ring();
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    expect_said(&world, "nightly", Reason::Paused, "is paused");
    assert_eq!(orders(&world), 0);
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn a_backup_ends_alike_wherever_the_leader_ends() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    let (worlds, end) = before_each_write(world);
    assert_eq!(phase(&end, "nightly"), Some(BackupPhase::Complete));
    assert!(worlds.len() > 20, "{}", worlds.len());
    let expected = end.end();
    let whole = |world: &mut World, _: &End| match phase(world, "nightly") {
        Some(BackupPhase::Complete) if is_released(world) && orders(world) == 0 => Ok(()),
        other => Err(format!("{other:?}: {}", said(world, "nightly"))),
    };
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 4, 1), &expected, disturb, whole);
    }
    all_end_alike("a leader is frozen", some(worlds, 4, 3), &expected, in_flight, whole);
}

#[test]
fn a_task_goes_on_beside_a_backup() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    tasks::ask(&mut world, "flush", &json!({ "cluster": "demo", "flush": {} }));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Complete));
    assert_eq!(tasks::status(&world, "flush").phase, Some(palladion_api::task::TaskPhase::Done));
}

#[test]
fn a_backup_says_in_each_phase_what_it_is_at() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    let phases = [
        (BackupPhase::Preparing, Reason::BackupPreparing, "0 of 3 done"),
        (BackupPhase::Snapshotting, Reason::BackupSnapshotting, "attempt 1"),
        (BackupPhase::Uploading, Reason::BackupUploading, "0 of 3 done"),
        (BackupPhase::Verifying, Reason::BackupVerifying, "in the store"),
        (BackupPhase::Complete, Reason::BackupComplete, "members: 3"),
    ];
    for (of, reason, words) in phases {
        world.until(|w| phase(w, "nightly") == Some(of));
        expect_said(&world, "nightly", reason, words);
    }
    ask(&mut world, "another", &json!({}));
    world.until(|w| phase(w, "another") == Some(BackupPhase::Uploading));
    patch(&mut world, "another", &json!({ "abort": true }));
    world.until(|w| status(w, "another").given_up.is_some());
    expect_said(&world, "another", Reason::BackupDiscarding, "was aborted");
}

#[test]
fn what_the_store_answers_is_told_and_what_can_come_right_is_waited_for() {
    let for_good = [
        (Cause::StoreUnsuited, Reason::StoreUnsuited),
        (Cause::NotEnoughSpace, Reason::NotEnoughSpace),
        (Cause::RepositoryDamaged, Reason::RepositoryDamaged),
        (Cause::BackupFailed, Reason::BackupFailed),
    ];
    for (cause, reason) in for_good {
        let mut world = a_ring();
        world.ring.store.fault = Some(cause);
        ask(&mut world, "nightly", &json!({}));
        world.settle();
        assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed), "{cause:?}");
        expect_said(&world, "nightly", reason, "a fault of the store");
        is_left_alone(&world);
    }
    let mut world = a_ring();
    world.ring.store.fault = Some(Cause::EncryptionKeyMissing);
    ask(&mut world, "nightly", &json!({}));
    world.pass(120);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Preparing));
    expect_said(&world, "nightly", Reason::EncryptionKeyMissing, "a fault of the store");
    world.ring.store.fault = None;
    world.pass(700);
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn agents_that_know_no_backups_are_waited_for() {
    let mut world = a_ring();
    world.set_protocol(8);
    world.pass(5);
    ask(&mut world, "nightly", &json!({}));
    world.pass(30);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Pending));
    expect_said(&world, "nightly", Reason::AgentTooOld, "cannot take backups");
    assert_eq!(orders(&world), 0);
}

#[test]
fn a_backup_that_the_ring_has_forgotten_is_never_taken_up_again() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Verifying));
    let id = status(&world, "nightly").id.unwrap();
    let forget = json!({ "status": { "backup": null } });
    world.store.merge(&cluster_key(), &forget, Subresource::Status).unwrap();
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::BackupFailed, "created again");
    assert_eq!(orders(&world), 0, "whoever has left them");
    // Not even one that has forgotten itself ends with what was sent then.
    let none = json!({ "status": null });
    world.store.merge(&key("nightly"), &none, Subresource::Status).unwrap();
    world.settle();
    let again = status(&world, "nightly");
    assert_eq!(again.phase, Some(BackupPhase::Complete), "{}", said(&world, "nightly"));
    assert_ne!(again.id.unwrap(), id);
}

#[test]
fn a_backup_whose_store_is_changed_meanwhile_fails() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.patch_spec(&json!({ "backup": { "store": { "s3": { "bucket": "another" } } } }));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::BackupFailed, "was changed");
    is_left_alone(&world);
}

#[test]
fn a_backup_whose_store_is_removed_meanwhile_fails() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.patch_spec(&json!({ "backup": null }));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed));
    expect_said(&world, "nightly", Reason::BackupFailed, "was removed");
    assert!(is_released(&world) && orders(&world) == 0);
}

#[test]
fn members_that_do_not_answer_keep_no_backup_from_its_end() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    // It is cut off from the API server alone: what it has reported last stands.
    world.agent_is_cut(LAST, crate::sim::world::Link::Cut);
    patch(&mut world, "nightly", &json!({ "abort": true }));
    world.pass(120);
    assert!(!phase(&world, "nightly").unwrap().is_final(), "it is waited for");
    world.pass(300);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Aborted), "{}", world.last_words());
    assert!(is_released(&world));
}

#[test]
fn a_second_member_that_ends_is_followed_by_another_one() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| status(w, "nightly").manifest_hash.is_some());
    let finisher = status(&world, "nightly").finished_by.unwrap();
    let verifier = |w: &World| {
        let mut all = w.store.list(kinds::MEMBER);
        all.find(|(_, m)| m["spec"]["transfer"]["verify"].is_object()).map(|(k, _)| k.name.clone())
    };
    world.until(|w| verifier(w).is_some());
    let first = verifier(&world).unwrap();
    assert_ne!(first, finisher.as_str());
    let node = world.node_of(&first);
    world.set_machine(&node, palladion_plan::sim::kubernetes::Machine::Down);
    world.pass(300);
    world.settle();
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Complete),
        "{}",
        said(&world, "nightly")
    );
}

#[test]
fn a_leave_that_waits_goes_before_the_next_backup() {
    let mut world = a_ring();
    ask(&mut world, "one", &json!({}));
    world.until(|w| phase(w, "one") == Some(BackupPhase::Uploading));
    world.apply(&with_a_store(&a_cluster(&[("a", 1), ("b", 1)])));
    ask(&mut world, "two", &json!({}));
    world.settle();
    for name in ["one", "two"] {
        assert_eq!(phase(&world, name), Some(BackupPhase::Complete), "{}", said(&world, name));
    }
    world.expect_ring(2);
}

#[test]
fn what_cannot_be_read_is_not_taken_for_deleted() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    let newer = json!({ "status": { "phase": "Sealing" } });
    world.store.merge(&key("nightly"), &newer, Subresource::Status).unwrap();
    world.pass(300);
    assert!(world.ring.store.outcomes.is_empty(), "nothing is discarded on a guess");
}

#[test]
fn an_abort_in_the_last_phase_says_what_the_repository_has() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| status(w, "nightly").manifest_hash.is_some());
    patch(&mut world, "nightly", &json!({ "abort": true }));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Aborted));
    expect_said(&world, "nightly", Reason::BackupAborted, "has it as complete");
    is_left_alone(&world);
}

#[test]
fn an_abort_counts_while_the_ring_is_paused() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &json!({}));
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.patch_spec(&json!({ "paused": true }));
    patch(&mut world, "nightly", &json!({ "abort": true }));
    world.pass(30);
    assert!(status(&world, "nightly").given_up.is_some(), "{}", said(&world, "nightly"));
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Aborted));
    is_left_alone(&world);
}

#[test]
fn a_backup_with_which_no_ring_can_begin_says_so() {
    let mut world = a_ring();
    world.ring.store.unfit = Some("shop.old has COMPACT STORAGE".into());
    ask(&mut world, "nightly", &json!({}));
    world.settle();
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Complete));
    let words = "no ring can begin with it (mode: WholeRing): shop.old has COMPACT STORAGE";
    expect_said(&world, "nightly", Reason::BackupComplete, words);
    is_left_alone(&world);
}

/// Its members are in no snapshot of ours, and whoever finishes would find them.
#[test]
fn of_a_ring_with_other_datacenters_nothing_is_taken() {
    let mut world = a_ring();
    world.elsewhere("far-1", "dc2", "10.9.0.1");
    world.settle();
    ask(&mut world, "nightly", &json!({}));
    world.pass(600);
    expect_said(&world, "nightly", Reason::BackupPending, "members in other datacenters (dc2)");
    assert_eq!((orders(&world), snapshots(&world)), (0, 0));
    let backup = &world.store.get(&cluster_key()).expect("a cluster")["status"]["backup"];
    assert!(backup["backup"].is_null(), "{backup}");
}
