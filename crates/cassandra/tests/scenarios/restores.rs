//! Restores: what a backup has comes into tables of a ring that runs, whatever ends meanwhile;
//! no row that is there is lost without a yes, and no deletion is forgotten halfway.

use crate::backups::{a_ring, ask as take};
use crate::every::{all_end_alike, before_each_write, in_flight, some};
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::compare::End;

use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::restores::{OWN_GRACE, TABLE, Table};
use crate::sim::world::cluster_key;
use palladion_api::reasons::Reason;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::RESTORE, NAMESPACE, name)
}

pub fn ask(world: &mut World, name: &str, more: &Value) {
    world.tell(&format!("a person asks for the restore {name}: {more}"));
    let mut spec =
        json!({ "cluster": "demo", "mode": "Tables", "source": { "backup": "nightly" } });
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let restore = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraRestore",
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(name), &restore).expect("the restore should be accepted");
}

pub fn patch(world: &mut World, name: &str, spec: &Value) {
    world.tell(&format!("a person changes the restore {name}: {spec}"));
    let patch = json!({ "spec": spec });
    world.store.merge(&key(name), &patch, Subresource::None).expect("the restore should exist");
}

fn status(world: &World, name: &str) -> CassandraRestoreStatus {
    let restore = world.store.get(&key(name)).expect("the restore should exist");
    serde_json::from_value(restore["status"].clone()).unwrap_or_default()
}

pub fn phase(world: &World, name: &str) -> Option<RestorePhase> {
    status(world, name).phase
}

fn said(world: &World, name: &str) -> String {
    let status = status(world, name);
    let complete = status.conditions.iter().find(|c| c.type_ == "Complete");
    complete.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

#[track_caller]
pub fn expect_said(world: &World, name: &str, reason: Reason, words: &str) {
    let said = said(world, name);
    let begins = format!("{}: ", reason.as_str());
    assert!(said.starts_with(&begins) && said.contains(words), "{said}\n{}", world.last_words());
}

/// A ring with a complete backup.
fn backed_up() -> World {
    static MADE: std::sync::OnceLock<World> = std::sync::OnceLock::new();
    let make = || {
        let mut world = a_ring();
        take(&mut world, "nightly", &json!({}));
        world.settle();
        assert_eq!(
            crate::backups::phase(&world, "nightly"),
            Some(palladion_api::backup::BackupPhase::Complete)
        );
        world.story.clear();
        world.writes.clear();
        world
    };
    MADE.get_or_init(make).clone()
}

/// The same with Nodes that members can be replaced on at once.
fn with_spare_nodes() -> World {
    let mut world = World::new();
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut world = world.with(&crate::backups::with_a_store(&a_cluster(&[("a", 2), ("b", 1)])));
    world.settle();
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    take(&mut world, "nightly", &json!({}));
    world.settle();
    world
}

fn with_rows(mut world: World) -> World {
    world.ring.tables.insert(TABLE.into(), Table { has_rows: true, ..Table::new() });
    world
}

fn table(world: &World) -> Table {
    world.ring.tables.get(TABLE).cloned().expect("the table should exist")
}

fn orders(world: &World) -> usize {
    world.store.list(kinds::MEMBER).filter(|(_, m)| m["spec"]["transfer"].is_object()).count()
}

#[track_caller]
fn is_left_alone(world: &World) {
    let cluster = world.store.get(&cluster_key()).expect("a cluster");
    assert!(cluster["status"]["restore"].is_null(), "the ring still has a restore under way");
    assert_eq!(orders(world), 0, "an order is left");
    for (name, table) in &world.ring.tables {
        let is_own = table.grace == OWN_GRACE || table.is_set_by_a_user;
        assert!(is_own, "{name} keeps what was set");
    }
}

#[track_caller]
fn is_complete(world: &World, name: &str) {
    let words = || format!("{}\n{}", said(world, name), world.last_words());
    assert_eq!(phase(world, name), Some(RestorePhase::Complete), "{}", words());
    assert_eq!(table(world).loaded.len(), 3);
    is_left_alone(world);
}

#[test]
fn tables_that_are_missing_are_created_and_loaded_and_nothing_is_left_behind() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.settle();
    is_complete(&world, "back");
    expect_said(&world, "back", Reason::RestoreComplete, "12 SSTables, 1200 bytes, tables: 1");
    let of = status(&world, "back");
    assert!(of.shares.iter().all(|share| share.loaded && share.member.is_some()));
    let members: std::collections::BTreeSet<_> = of
        .shares
        .iter()
        .filter_map(|share| share.member.as_ref().map(|m| m.name.clone()))
        .collect();
    assert_eq!(members.len(), 3, "all members load at once");
    assert!(of.gc_grace_seconds.unwrap() > OWN_GRACE + 29 * 86_400);
    assert!(of.ended_at.is_some() && of.nonce.is_none());
    // At rest nothing is written, and the same restore again finds rows.
    let writes = world.writes.len();
    world.pass(600);
    assert_eq!(world.writes.len(), writes, "{}", world.last_words());
    ask(&mut world, "again", &json!({}));
    world.settle();
    expect_said(&world, "again", Reason::TableNotEmpty, TABLE);
    assert_eq!(phase(&world, "again"), Some(RestorePhase::Failed));
    is_left_alone(&world);
}

#[test]
fn a_table_with_rows_is_not_touched_unless_that_is_confirmed() {
    let mut world = with_rows(backed_up());
    ask(&mut world, "back", &json!({}));
    world.settle();
    expect_said(&world, "back", Reason::TableNotEmpty, "existing: Truncate");
    assert!(table(&world).has_rows && table(&world).truncated.is_empty());
    ask(&mut world, "over", &json!({ "existing": "Truncate" }));
    world.settle();
    expect_said(&world, "over", Reason::ConfirmationNeeded, "lose all their rows");
    let nonce = status(&world, "over").nonce.expect("a nonce");
    assert!(said(&world, "over").contains(&nonce));
    // The wrong word is no yes.
    patch(&mut world, "over", &json!({ "confirm": "yes" }));
    world.settle();
    assert_eq!(phase(&world, "over"), Some(RestorePhase::Confirming));
    assert!(table(&world).has_rows, "nothing is truncated yet");
    patch(&mut world, "over", &json!({ "confirm": nonce }));
    world.settle();
    is_complete(&world, "over");
    assert_eq!((table(&world).has_rows, table(&world).truncated.len()), (false, 1));
}

/// The schema of a backup is always that of the whole ring.
#[test]
fn a_table_that_was_not_backed_up_is_not_touched() {
    let mut world = with_rows(a_ring());
    take(&mut world, "nightly", &json!({ "keyspaces": ["users"] }));
    world.settle();
    for (name, more) in [
        ("all", json!({ "existing": "Truncate" })),
        ("named", json!({ "existing": "Truncate", "tables": [{ "from": "shop" }] })),
        ("copied", json!({ "tables": [{ "from": TABLE, "to": "copy.orders" }] })),
    ] {
        ask(&mut world, name, &more);
        world.settle();
        assert_eq!(phase(&world, name), Some(RestorePhase::Failed), "{}", said(&world, name));
        expect_said(&world, name, Reason::RestoreFailed, "does not have shop");
        is_left_alone(&world);
    }
    assert!(table(&world).has_rows && table(&world).truncated.is_empty());
    assert!(!world.ring.tables.contains_key("copy.orders"));
}

#[test]
fn whoever_is_asked_may_take_days_and_backups_are_taken_meanwhile() {
    let mut world = with_rows(backed_up());
    ask(&mut world, "over", &json!({ "existing": "Truncate" }));
    world.settle();
    expect_said(&world, "over", Reason::ConfirmationNeeded, "lose all their rows");
    is_left_alone(&world);
    let asked = said(&world, "over");
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    assert_eq!(said(&world, "over"), asked);
    world.patch_spec(&json!({ "paused": false }));
    take(&mut world, "weekly", &json!({}));
    ask(&mut world, "copy", &json!({ "tables": [{ "from": TABLE, "to": "shop.copy" }] }));
    world.pass(86_400);
    let weekly = crate::backups::phase(&world, "weekly");
    assert_eq!(weekly, Some(palladion_api::backup::BackupPhase::Complete));
    assert_eq!(phase(&world, "copy"), Some(RestorePhase::Complete));
    assert_eq!(said(&world, "over"), asked);
    let nonce = status(&world, "over").nonce.expect("a nonce");
    patch(&mut world, "over", &json!({ "confirm": nonce }));
    world.settle();
    is_complete(&world, "over");
    // One that nobody wants any more is aborted without a table being touched.
    ask(&mut world, "never", &json!({ "existing": "Truncate" }));
    world.settle();
    patch(&mut world, "never", &json!({ "abort": true }));
    world.settle();
    assert_eq!(phase(&world, "never"), Some(RestorePhase::Aborted));
    assert_eq!(table(&world).truncated.len(), 1);
}

#[test]
fn a_table_that_got_rows_after_the_question_is_asked_about_anew() {
    let mut world = with_rows(backed_up());
    let tables = json!([{ "from": TABLE }, { "from": "shop.more", "to": "shop.copy" }]);
    ask(&mut world, "over", &json!({ "existing": "Truncate", "tables": tables }));
    world.settle();
    let nonce = status(&world, "over").nonce.expect("a nonce");
    assert!(!said(&world, "over").contains("shop.copy"));
    world.ring.tables.insert("shop.copy".into(), Table { has_rows: true, ..Table::new() });
    patch(&mut world, "over", &json!({ "confirm": nonce.clone() }));
    world.settle();
    expect_said(&world, "over", Reason::ConfirmationNeeded, "shop.copy");
    let next = status(&world, "over").nonce.expect("a nonce");
    assert_ne!(next, nonce);
    assert!(table(&world).has_rows && table(&world).truncated.is_empty());
    patch(&mut world, "over", &json!({ "confirm": next }));
    world.settle();
    is_complete(&world, "over");
}

#[test]
fn a_table_that_shows_no_row_is_truncated_on_a_yes_too_as_its_deletions_hide_rows() {
    let mut world = backed_up();
    world.ring.tables.insert(TABLE.into(), Table::new());
    ask(&mut world, "over", &json!({ "existing": "Truncate" }));
    world.settle();
    expect_said(&world, "over", Reason::ConfirmationNeeded, TABLE);
    let nonce = status(&world, "over").nonce.expect("a nonce");
    patch(&mut world, "over", &json!({ "confirm": nonce }));
    world.settle();
    is_complete(&world, "over");
    assert_eq!(table(&world).truncated.len(), 1);
}

#[test]
fn a_table_of_the_backup_goes_into_one_table() {
    let mut world = with_rows(backed_up());
    let tables = json!([{ "from": TABLE }, { "from": TABLE, "to": "shop.copy" }]);
    ask(&mut world, "both", &json!({ "tables": tables }));
    world.settle();
    expect_said(&world, "both", Reason::RestoreRefused, "is restored twice, as shop.orders and as");
    assert!(table(&world).has_rows);
}

#[test]
fn what_a_user_sets_meanwhile_stays() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    let changed = world.ring.tables.get_mut(TABLE).expect("the table");
    (changed.grace, changed.is_set_by_a_user) = (9_999_999, true);
    world.settle();
    is_complete(&world, "back");
    assert_eq!(table(&world).grace, 9_999_999);
}

#[test]
fn an_abort_of_a_paused_ring_takes_back_what_was_set_when_it_goes_on() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    world.patch_spec(&json!({ "paused": true }));
    patch(&mut world, "back", &json!({ "abort": true }));
    world.pass(7_200);
    assert!(table(&world).grace > OWN_GRACE, "nothing is decided");
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Aborted), "{}", said(&world, "back"));
    is_left_alone(&world);
}

#[test]
fn whoever_finds_no_member_up_says_which_tables_keep_what_was_set() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    for node in ["n1", "n2", "n3"] {
        world.set_machine(node, Machine::Down);
    }
    patch(&mut world, "back", &json!({ "abort": true }));
    world.pass(4_500);
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Aborted), "{}", said(&world, "back"));
    expect_said(&world, "back", Reason::RestoreFailed, "no member was up for ten minutes");
    assert!(said(&world, "back").contains(TABLE));
}

#[test]
fn another_member_finishes_where_the_one_that_made_the_tables_is_away() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Finishing));
    let coordinator = status(&world, "back").coordinator.expect("one").name.to_string();
    let node = world.node_of(&coordinator);
    world.lose_node(&node);
    world.pass(300);
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Complete), "{}", said(&world, "back"));
    assert_eq!(table(&world).grace, OWN_GRACE);
}

#[test]
fn nobody_else_makes_tables_where_the_one_that_was_to_is_lost() {
    let mut world = with_spare_nodes();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Creating));
    let coordinator = status(&world, "back").coordinator.expect("one").name.to_string();
    let node = world.node_of(&coordinator);
    world.lose_node(&node);
    world.settle();
    expect_said(&world, "back", Reason::RestoreFailed, "while it created the tables");
    is_left_alone(&world);
}

#[test]
fn rows_are_merged_on_a_yes_and_only_while_deletions_are_kept() {
    let mut world = with_rows(backed_up());
    ask(&mut world, "add", &json!({ "existing": "Merge" }));
    world.settle();
    expect_said(&world, "add", Reason::ConfirmationNeeded, "are added to tables");
    let nonce = status(&world, "add").nonce.expect("a nonce");
    patch(&mut world, "add", &json!({ "confirm": nonce }));
    world.settle();
    is_complete(&world, "add");
    assert!(table(&world).has_rows && table(&world).truncated.is_empty());
    world.ring.store.taken = Some(world.now() - jiff::SignedDuration::from_hours(24 * 11));
    ask(&mut world, "late", &json!({ "existing": "Merge" }));
    world.settle();
    expect_said(&world, "late", Reason::RestoreRefused, "deleted rows could come back");
    is_left_alone(&world);
}

#[test]
fn a_table_that_is_another_one_or_has_an_index_in_the_way_is_named() {
    let mut world = backed_up();
    let other = Table { differs: Some("it has no column total".into()), ..Table::new() };
    world.ring.tables.insert(TABLE.into(), other);
    ask(&mut world, "back", &json!({}));
    world.settle();
    expect_said(&world, "back", Reason::RestoreRefused, "it has no column total");
    let indexed = Table { index: Some("by_total".into()), ..Table::new() };
    world.ring.tables.insert(TABLE.into(), indexed);
    ask(&mut world, "next", &json!({}));
    world.settle();
    expect_said(&world, "next", Reason::IndexInTheWay, "by_total");
    is_left_alone(&world);
}

/// Disturb a restore at some of its writes, by the leader's end and by its freezing.
fn disturbed_at_every_write(world: World, name: &str, is_whole: impl Fn(&World) -> bool + Copy) {
    let (worlds, end) = before_each_write(world);
    assert_eq!(phase(&end, name), Some(RestorePhase::Complete));
    assert!(worlds.len() > 15, "{}", worlds.len());
    let expected = end.end();
    let whole = |world: &mut World, _: &End| {
        let cluster = world.store.get(&cluster_key()).expect("a cluster");
        let is_released = cluster["status"]["restore"].is_null() && orders(world) == 0;
        match phase(world, name) {
            Some(RestorePhase::Complete) if is_released && is_whole(world) => Ok(()),
            other => Err(format!("{other:?}: {}", said(world, name))),
        }
    };
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 3, 1), &expected, disturb, whole);
    }
    all_end_alike("a leader is frozen", some(worlds, 3, 2), &expected, in_flight, whole);
}

#[test]
fn a_restore_ends_alike_wherever_the_leader_ends() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    disturbed_at_every_write(world, "back", |world| table(world).loaded.len() == 3);
}

#[test]
fn a_confirmed_truncation_is_done_once_wherever_the_leader_ends() {
    let mut world = with_rows(backed_up());
    ask(&mut world, "over", &json!({ "existing": "Truncate" }));
    world.settle();
    let nonce = status(&world, "over").nonce.expect("a nonce");
    patch(&mut world, "over", &json!({ "confirm": nonce }));
    let once = |world: &World| table(world).truncated.len() == 1 && table(world).loaded.len() == 3;
    disturbed_at_every_write(world, "over", once);
}

#[test]
fn a_restore_waits_for_a_backup_and_a_backup_for_a_restore() {
    let mut world = backed_up();
    take(&mut world, "weekly", &json!({}));
    world.pass(2);
    ask(&mut world, "back", &json!({}));
    world.pass(15);
    expect_said(&world, "back", Reason::RestorePending, "waiting for CassandraBackup weekly");
    world.settle();
    is_complete(&world, "back");
    ask(&mut world, "copy", &json!({ "tables": [{ "from": TABLE, "to": "shop.copy" }] }));
    world.pass(2);
    take(&mut world, "monthly", &json!({}));
    ask(&mut world, "queued", &json!({ "tables": [{ "from": TABLE, "to": "shop.more" }] }));
    world.until(|w| phase(w, "copy") == Some(RestorePhase::Loading));
    world.pass(12);
    let monthly = world.store.get(&ObjectKey::new(kinds::BACKUP, NAMESPACE, "monthly")).unwrap();
    let words = monthly["status"]["conditions"][0]["message"].as_str().unwrap_or_default();
    assert!(words.contains("waiting for CassandraRestore copy"), "{words}");
    expect_said(&world, "queued", Reason::RestorePending, "waiting for CassandraRestore copy");
    world.settle();
    assert_eq!(phase(&world, "copy"), Some(RestorePhase::Complete));
    assert_eq!(phase(&world, "queued"), Some(RestorePhase::Complete));
}

#[test]
fn what_cannot_be_restored_says_why_and_what_can_is_waited_for() {
    let mut world = backed_up();
    ask(&mut world, "none", &json!({ "source": { "backup": "never" } }));
    world.settle();
    expect_said(&world, "none", Reason::RestorePending, "CassandraBackup never does not exist");
    patch(&mut world, "none", &json!({ "abort": true }));
    world.settle();
    assert_eq!(phase(&world, "none"), Some(RestorePhase::Aborted));
    expect_said(&world, "none", Reason::RestoreAborted, "no table was touched");
    world.ring.store.is_away = true;
    ask(&mut world, "back", &json!({}));
    world.pass(60);
    expect_said(&world, "back", Reason::StoreUnreachable, "does not answer");
    world.ring.store.is_away = false;
    world.settle();
    is_complete(&world, "back");
    // Of a store that is not the ring's own the Secret has other credentials.
    let store = json!({ "s3": { "bucket": "theirs" } });
    let source = json!({ "store": store, "repositoryID": "r", "backupID": "b" });
    ask(&mut world, "theirs", &json!({ "source": source }));
    let order = |world: &World| {
        let mut all = world.store.list(kinds::MEMBER).map(|(_, m)| m["spec"]["transfer"].clone());
        all.find(Value::is_object)
    };
    world.until(|w| order(w).is_some());
    let order = order(&world).expect("an order");
    assert_eq!(order["sourceCredentials"], json!(true));
    assert_eq!(order["repository"]["id"], "r");
    world.settle();
    expect_said(&world, "theirs", Reason::RestoreFailed, "no complete backup");
    let volume = json!({ "volume": { "claimName": "other" } });
    let source = json!({ "store": volume, "repositoryID": "r", "backupID": "b" });
    ask(&mut world, "volume", &json!({ "source": source }));
    world.settle();
    expect_said(&world, "volume", Reason::RestoreRefused, "not known to be the one");
}

#[test]
fn a_restore_that_is_aborted_or_deleted_in_any_phase_leaves_what_was_set_as_it_was() {
    for seconds in [1, 4, 7, 10, 20, 50, 60] {
        let mut world = backed_up();
        ask(&mut world, "back", &json!({}));
        world.pass(seconds);
        let mut deleted = world.clone();
        if phase(&world, "back") != Some(RestorePhase::Complete) {
            patch(&mut world, "back", &json!({ "abort": true }));
        }
        world.settle();
        let is_over =
            matches!(phase(&world, "back"), Some(RestorePhase::Aborted | RestorePhase::Complete));
        assert!(is_over, "{seconds}: {}\n{}", said(&world, "back"), world.last_words());
        is_left_alone(&world);
        deleted.tell("a person deletes the restore");
        deleted.delete(kinds::RESTORE, "back");
        deleted.settle();
        is_left_alone(&deleted);
    }
}

#[test]
fn statements_that_the_server_refuses_end_a_restore_and_nothing_stays_raised() {
    let mut world = backed_up();
    world.ring.refuses_statements = Some("Unrecognized strategy option {dc9}".into());
    ask(&mut world, "back", &json!({ "datacenters": { "dc1": "dc9" } }));
    world.settle();
    expect_said(&world, "back", Reason::RestoreFailed, "Unrecognized strategy option");
    is_left_alone(&world);
}

#[test]
fn rows_are_loaded_only_while_all_members_are_up() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.pass(200);
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Loading), "{}", said(&world, "back"));
    expect_said(&world, "back", Reason::RingUnsettled, "is not up and normal");
}

#[test]
fn what_a_lost_member_was_to_load_another_one_loads() {
    let mut world = with_spare_nodes();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    world.pass(2);
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    is_complete(&world, "back");
    world.expect_ring(3);
}

#[test]
fn a_server_that_ends_while_it_loads_goes_on() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    world.until(|w| phase(w, "back") == Some(RestorePhase::Loading));
    world.pass(2);
    world.delete(kinds::POD, LAST);
    world.settle();
    is_complete(&world, "back");
}

#[test]
fn a_paused_ring_begins_no_restore_and_a_deleted_one_ends_it() {
    let mut world = backed_up();
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    ask(&mut world, "back", &json!({}));
    world.settle();
    expect_said(&world, "back", Reason::Paused, "is paused");
    assert_eq!(orders(&world), 0);
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    is_complete(&world, "back");
    ask(&mut world, "copy", &json!({ "tables": [{ "from": TABLE, "to": "shop.copy" }] }));
    world.until(|w| phase(w, "copy") == Some(RestorePhase::Loading));
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.pass(2);
    world.delete_cluster();
    world.settle();
    expect_said(&world, "copy", Reason::RestoreFailed, "was deleted while");
}

#[test]
fn a_restore_says_in_each_phase_what_it_is_at() {
    let mut world = backed_up();
    ask(&mut world, "back", &json!({}));
    let phases = [
        (RestorePhase::Comparing, Reason::RestoreComparing, "compares it with the ring"),
        (RestorePhase::Creating, Reason::RestoreCreating, "creates the tables"),
        (RestorePhase::Loading, Reason::RestoreLoading, "0 of 3 done"),
        (RestorePhase::Finishing, Reason::RestoreFinishing, "creates indexes and views"),
    ];
    for (at, reason, words) in phases {
        world.until(|w| phase(w, "back") == Some(at));
        expect_said(&world, "back", reason, words);
    }
    world.settle();
    is_complete(&world, "back");
    ask(&mut world, "copy", &json!({ "tables": [{ "from": TABLE, "to": "shop.copy" }] }));
    world.until(|w| phase(w, "copy") == Some(RestorePhase::Loading));
    patch(&mut world, "copy", &json!({ "abort": true }));
    world.until(|w| status(w, "copy").given_up.is_some());
    expect_said(&world, "copy", Reason::RestoreAbandoning, "get their own `gc_grace_seconds` back");
    world.settle();
    expect_said(&world, "copy", Reason::RestoreAborted, "rows that were loaded until then");
}

#[test]
fn another_manifest_than_the_one_that_is_asked_for_is_not_loaded() {
    let mut world = backed_up();
    let backup =
        world.store.get(&ObjectKey::new(kinds::BACKUP, NAMESPACE, "nightly")).unwrap().clone();
    let source = json!({
        "store": { "s3": { "bucket": "backups", "prefix": "demo" } },
        "repositoryID": backup["status"]["repositoryID"],
        "backupID": backup["status"]["id"],
        "manifestHash": "0".repeat(64),
    });
    ask(&mut world, "back", &json!({ "source": source }));
    world.settle();
    expect_said(&world, "back", Reason::RepositoryDamaged, "another one");
    is_left_alone(&world);
    let mut source = source;
    source["manifestHash"] = backup["status"]["manifestHash"].clone();
    ask(&mut world, "right", &json!({ "source": source }));
    world.settle();
    is_complete(&world, "right");
}
