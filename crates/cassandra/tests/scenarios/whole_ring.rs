//! A ring that begins with a backup: its members get the tokens and the files of the members of
//! the backup, and nobody is let in before all of it is there, whatever ends meanwhile.

use crate::every::{all_end_alike, before_each_write, in_flight, some};
use crate::restores::{expect_said, patch, phase};
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::restores::{OWN_GRACE, TABLE};
use crate::sim::transfers::Outcome;
use crate::sim::world::cluster_key;
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::restore::RestorePhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

/// The members of the backup: two in rack a, one in rack b.
const HOSTS: [(&str, &str); 3] = [("host-901", "a"), ("host-902", "a"), ("host-903", "b")];

fn key() -> ObjectKey {
    ObjectKey::new(kinds::RESTORE, NAMESPACE, "back")
}

fn cluster(racks: &[(&str, i32)]) -> Value {
    let mut cluster = a_cluster(racks);
    cluster["spec"]["backup"] = json!({
        "store": { "s3": { "bucket": "backups", "prefix": "demo" } }, "restore": "back",
    });
    cluster
}

/// A ring that waits for its restore, and a store with a backup of another one.
pub fn waiting(racks: &[(&str, i32)]) -> World {
    let mut world = World::new().with(&cluster(racks));
    let hosts = HOSTS.map(|(host, _)| HostId::new(host)).into_iter().collect();
    world.ring.store.outcomes.insert("old".into(), Outcome::Complete(hosts));
    for (host, rack) in HOSTS {
        world.ring.store.racks.insert(HostId::new(host), rack.into());
    }
    world.settle();
    world
}

pub fn ask(world: &mut World, more: &Value) {
    world.tell(&format!("a person asks for the ring to be restored: {more}"));
    let store = json!({ "s3": { "bucket": "backups", "prefix": "old" } });
    let source = json!({ "store": store, "repositoryID": "r-old", "backupID": "old" });
    let mut spec = json!({ "cluster": "demo", "mode": "WholeRing", "source": source });
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let restore = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraRestore",
        "metadata": { "name": "back", "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(), &restore).expect("the restore should be accepted");
}

fn begun() -> World {
    let mut world = waiting(&[("a", 2), ("b", 1)]);
    ask(&mut world, &json!({}));
    world
}

pub fn of_cluster(world: &World) -> Value {
    (*world.store.get(&cluster_key()).cloned().expect("the cluster should exist")).clone()
}

/// The reason and the words of a condition of the cluster.
pub fn condition(world: &World, type_: &str) -> String {
    let cluster = of_cluster(world);
    let all = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = all.iter().find(|c| c["type"] == type_).cloned().unwrap_or_default();
    format!("{} {}: {}", found["status"], found["reason"], found["message"])
}

pub fn starts(world: &World) -> usize {
    world.story.iter().filter(|line| line.contains("starts its server")).count()
}

pub fn closed(world: &World) -> usize {
    let all = world.store.list(kinds::MEMBER);
    all.filter(|(_, member)| member["status"]["server"]["closed"] == true).count()
}

/// Why the ring is not what the backup was, with nothing left of the restore.
pub fn amiss(world: &World) -> Option<String> {
    let words = |what: &str| Some(format!("{what}: {}", of_cluster(world)["status"]));
    if phase(world, "back") != Some(RestorePhase::Complete) {
        return words(&format!("it is {:?}", phase(world, "back")));
    }
    let Some(table) = world.ring.tables.get(TABLE) else { return words("no table") };
    if (table.loaded.len(), table.grace) != (3, OWN_GRACE) {
        return Some(format!("{table:?}"));
    }
    if !of_cluster(world)["status"]["restore"].is_null() || closed(world) > 0 {
        return words("it is not released, or somebody is closed");
    }
    let had: std::collections::BTreeSet<&Vec<String>> = world.ring.restored.values().collect();
    if had.len() != 3 {
        return Some(format!("each has the tokens of another one: {had:?}"));
    }
    let is_left = |m: &Value| {
        let pending = m["spec"]["pendingMaintenance"].as_array();
        pending.is_some_and(|all| !all.is_empty()) || m["spec"]["transfer"].is_object()
    };
    if world.store.list(kinds::MEMBER).any(|(_, m)| is_left(m)) {
        return words("an order, or maintenance, is left");
    }
    let is_well = condition(world, "Available").starts_with("\"True\"")
        && condition(world, "Degraded").starts_with("\"False\"");
    (!is_well).then(|| words("it is not well")).flatten()
}

#[track_caller]
pub fn is_restored(world: &World) {
    assert_eq!(amiss(world), None, "{}", world.last_words());
}

fn repairs(world: &World) -> usize {
    world.story.iter().filter(|line| line.contains("start the pending repair on")).count()
}

#[test]
fn a_ring_begins_with_a_backup_closed_until_all_of_it_is_there() {
    let mut world = waiting(&[("a", 2), ("b", 1)]);
    assert_eq!(starts(&world), 0, "nobody starts before the restore is there");
    let waits = condition(&world, "Progressing");
    assert!(
        waits.contains(Reason::WaitingForRestore.as_str()) && waits.contains("back"),
        "{waits}"
    );
    ask(&mut world, &json!({}));
    world.settle();
    is_restored(&world);
    expect_said(&world, "back", Reason::RestoreComplete, "3 members, 12 SSTables, 1200 bytes");
    assert_eq!(starts(&world), 6, "each starts once, and once more to let clients in");
    assert_eq!(world.write(20), 20);
    world.expect_ring(3);
}

#[test]
fn each_phase_says_what_happens() {
    let mut world = begun();
    for (phase_of, reason) in [
        (RestorePhase::Starting, Reason::RestoreStarting),
        (RestorePhase::Loading, Reason::RestoreLoading),
        (RestorePhase::LoadingRoles, Reason::RestoreLoading),
        (RestorePhase::Opening, Reason::RestoreOpening),
        (RestorePhase::Repairing, Reason::RestoreRepairing),
    ] {
        assert!(world.comes_to(|w| phase(w, "back") == Some(phase_of)), "{}", world.last_words());
        expect_said(&world, "back", reason, "");
        if phase_of == RestorePhase::Loading {
            assert_eq!(closed(&world), 3);
            let restoring = Reason::Restoring.as_str();
            let says = |m: &Value| m["status"]["server"]["reason"] == restoring;
            assert!(world.store.list(kinds::MEMBER).all(|(_, m)| says(m)));
            let available = condition(&world, "Available");
            assert!(available.starts_with("\"False\""), "{available}");
            let progress = condition(&world, "Progressing");
            assert!(progress.contains(Reason::RestoreStarting.as_str()), "{progress}");
        }
    }
    world.settle();
    is_restored(&world);
}

#[test]
fn without_roles_and_repair_neither_comes() {
    let mut world = waiting(&[("a", 2), ("b", 1)]);
    ask(&mut world, &json!({ "auth": "Keep", "repair": "None" }));
    world.settle();
    expect_said(&world, "back", Reason::RestoreComplete, "until `nodetool repair --full` has run");
    assert!(world.ring.roles_of.is_empty());
    assert_eq!(repairs(&world), 0);
    // Nobody knows when a user has repaired: deletions are kept until that user says otherwise.
    let table = &world.ring.tables[TABLE];
    assert!(table.grace > OWN_GRACE, "{table:?}");
    let words = format!("`gc_grace_seconds` of {TABLE} has to stay at {}", table.grace);
    expect_said(&world, "back", Reason::RestoreComplete, &words);
    world.ring.tables.entry(TABLE.into()).and_modify(|table| table.grace = OWN_GRACE);
    is_restored(&world);
}

#[test]
fn of_a_backup_of_some_keyspaces_no_ring_begins() {
    for (has, keep, lacking) in
        [(vec!["users", "system_auth"], "Keep", "shop"), (vec!["shop"], "Restore", "system_auth")]
    {
        let mut world = waiting(&[("a", 2), ("b", 1)]);
        let has = has.into_iter().map(str::to_string).collect();
        world.ring.store.keyspaces.insert("old".into(), has);
        ask(&mut world, &json!({ "auth": keep }));
        world.settle();
        assert_eq!(phase(&world, "back"), Some(RestorePhase::Failed), "{}", world.last_words());
        expect_said(&world, "back", Reason::RestoreFailed, &format!("without {lacking}"));
        assert_eq!(starts(&world), 0);
    }
    // Its own roles are all that such a ring has.
    let mut world = waiting(&[("a", 2), ("b", 1)]);
    world.ring.store.keyspaces.insert("old".into(), vec!["shop".into()]);
    ask(&mut world, &json!({ "auth": "Keep" }));
    world.settle();
    is_restored(&world);
}

#[test]
fn a_ring_of_another_shape_starts_nobody_and_can_be_restored_when_it_is_created_right() {
    let mut world = waiting(&[("a", 1), ("b", 1)]);
    ask(&mut world, &json!({}));
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Failed));
    expect_said(&world, "back", Reason::TopologyDiffers, "2 members in rack a, and the ring has 1");
    assert_eq!(starts(&world), 0);
    assert!(of_cluster(&world)["status"]["restore"].is_null());
    world.delete(kinds::RESTORE, "back");
    world
        .patch_spec(&json!({ "datacenter": cluster(&[("a", 2), ("b", 1)])["spec"]["datacenter"] }));
    world.settle();
    ask(&mut world, &json!({}));
    world.settle();
    is_restored(&world);
}

#[test]
fn a_ring_that_exists_is_not_restored_as_a_whole() {
    let mut world = crate::backups::a_ring();
    ask(&mut world, &json!({}));
    world.settle();
    expect_said(&world, "back", Reason::RestoreRefused, "exists");
    world.expect_ring(3);
}

#[test]
fn a_restore_that_the_ring_does_not_begin_with_waits() {
    let mut other = a_cluster(&[("a", 1)]);
    other["spec"]["backup"] = json!({
        "store": { "s3": { "bucket": "backups" } }, "restore": "another",
    });
    let mut world = World::new().with(&other);
    world.settle();
    ask(&mut world, &json!({}));
    world.settle();
    expect_said(&world, "back", Reason::RestorePending, "`spec.backup.restore: back`");
    assert_eq!(starts(&world), 0);
}

#[test]
fn one_that_is_aborted_before_anybody_has_started_leaves_the_ring_waiting() {
    let mut world = begun();
    world.ring.store.is_away = true;
    world.pass(120);
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Starting));
    expect_said(&world, "back", Reason::StoreUnreachable, "does not answer");
    patch(&mut world, "back", &json!({ "abort": true }));
    world.settle();
    assert_eq!((phase(&world, "back"), starts(&world)), (Some(RestorePhase::Aborted), 0));
    assert!(of_cluster(&world)["status"]["restore"].is_null());
    assert!(condition(&world, "Progressing").contains(Reason::WaitingForRestore.as_str()));
    world.ring.store.is_away = false;
    world.delete(kinds::RESTORE, "back");
    ask(&mut world, &json!({}));
    world.settle();
    is_restored(&world);
}

#[track_caller]
pub fn stays_closed(world: &World) {
    let degraded = condition(world, "Degraded");
    assert!(degraded.contains(Reason::RingNotRestored.as_str()), "{degraded}");
    assert!(degraded.starts_with("\"True\"") && degraded.contains("delete"), "{degraded}");
    assert!(condition(world, "Available").starts_with("\"False\""));
    let open =
        world.ring.servers.values().filter(|s| s.door == palladion_agent::render::Door::Open);
    assert_eq!(open.count(), 0);
}

#[test]
fn one_that_is_taken_back_halfway_leaves_a_ring_that_takes_no_clients() {
    for at in [RestorePhase::Starting, RestorePhase::Loading, RestorePhase::LoadingRoles] {
        for deleted in [false, true] {
            let mut world = begun();
            let is_there = |w: &World| phase(w, "back") == Some(at) && !w.ring.servers.is_empty();
            assert!(world.comes_to(is_there), "{at:?}");
            match deleted {
                true => world.delete(kinds::RESTORE, "back"),
                false => patch(&mut world, "back", &json!({ "abort": true })),
            }
            world.settle();
            stays_closed(&world);
            if !deleted {
                assert_eq!(phase(&world, "back"), Some(RestorePhase::Aborted));
            }
            // Whatever is restarted stays so.
            world.delete_all_pods();
            world.settle();
            stays_closed(&world);
        }
    }
}

#[test]
fn a_ring_whose_record_is_lost_takes_no_clients_either() {
    let mut world = begun();
    assert!(world.comes_to(|w| closed(w) == 3));
    let erased = json!({ "status": { "restore": null } });
    world.store.merge(&cluster_key(), &erased, Subresource::Status).expect("the cluster");
    world.settle();
    stays_closed(&world);
    assert!(condition(&world, "Degraded").contains("no record of a restore"));
}

#[test]
fn a_volume_that_is_lost_meanwhile_ends_it() {
    let mut world = begun();
    assert!(world.comes_to(|w| phase(w, "back") == Some(RestorePhase::Loading)));
    world.wipe_volume("demo-dc1-b-0");
    world.delete_all_pods();
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Failed), "{}", world.last_words());
    stays_closed(&world);
}

/// Clients may have written by then: nobody is advised to delete such a ring, and nothing that a
/// user does to the restore leaves a member of it closed.
#[test]
fn a_ring_that_lets_clients_in_is_one_like_any_other() {
    let opens = |w: &World| of_cluster(w)["status"]["restore"]["wholeRing"]["open"] == true;
    for what in 0..4 {
        let mut world = begun();
        assert!(world.comes_to(opens));
        assert_eq!(closed(&world), 3, "that is on record first");
        match what {
            0 => patch(&mut world, "back", &json!({ "abort": true })),
            1 => world.delete(kinds::RESTORE, "back"),
            2 => {
                let store = json!({ "spec": { "backup": null } });
                world.store.merge(&cluster_key(), &store, Subresource::None).expect("accepted");
            }
            _ => {
                world.wipe_volume("demo-dc1-b-0");
                world.delete_all_pods();
            }
        }
        world.settle();
        assert_eq!(closed(&world), 0, "{what}: {}", world.last_words());
        let degraded = condition(&world, "Degraded");
        assert!(!degraded.contains(Reason::RingNotRestored.as_str()), "{what}: {degraded}");
        let table = world.ring.tables.get(TABLE).expect("the table");
        let is_raised = table.grace != OWN_GRACE;
        // A lost member may be replaced, or be waited for; until it is repaired nothing is over.
        let is_over = repairs(&world) >= 3;
        assert_eq!(is_raised, !is_over, "{what}: {}", world.last_words());
        assert!(is_over || what == 3, "{what}: {}", world.last_words());
        let ended = Some(if is_over { RestorePhase::Complete } else { RestorePhase::Repairing });
        assert!(what == 1 || phase(&world, "back") == ended, "{what}: {}", world.last_words());
    }
}

#[test]
fn servers_that_end_meanwhile_come_back_closed_and_the_restore_goes_on() {
    for at in [
        RestorePhase::Starting,
        RestorePhase::Creating,
        RestorePhase::Loading,
        RestorePhase::Opening,
    ] {
        let mut world = begun();
        assert!(world.comes_to(|w| phase(w, "back") == Some(at) && !w.ring.servers.is_empty()));
        world.delete_all_pods();
        world.settle();
        is_restored(&world);
    }
}

#[test]
fn a_member_that_is_asked_for_meanwhile_joins_when_the_ring_is_open() {
    let mut world = begun();
    assert!(world.comes_to(|w| phase(w, "back") == Some(RestorePhase::Loading)));
    world
        .patch_spec(&json!({ "datacenter": cluster(&[("a", 2), ("b", 2)])["spec"]["datacenter"] }));
    assert!(world.comes_to(|w| phase(w, "back") == Some(RestorePhase::Opening)));
    assert_eq!(world.ring.servers.len(), 3, "nobody joins before");
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Complete), "{}", world.last_words());
    world.expect_ring(4);
}

/// Whatever the leader of a moment does not get to do, the next one does; and what one that was
/// frozen writes late changes nothing.
#[test]
fn a_leader_that_ends_or_wakes_up_late_at_any_write_changes_nothing() {
    let (worlds, end) = before_each_write(begun());
    is_restored(&end);
    assert!(worlds.len() > 60, "{}", worlds.len());
    let expected = end.end();
    let whole = |world: &mut World, _: &End| amiss(world).map_or(Ok(()), Err);
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 4, 1), &expected, disturb, whole);
    }
    all_end_alike("a leader is frozen", some(worlds, 4, 2), &expected, in_flight, whole);
}

/// Nobody starts by a restore that is not there any more: the ring would be an empty one.
#[test]
fn a_restore_that_goes_while_the_ring_is_paused_starts_nobody() {
    let mut world = begun();
    let is_noted = |w: &World| {
        let mut all = w.store.list(kinds::MEMBER);
        all.any(|(_, m)| m["spec"]["transfer"]["tokens"].is_object())
    };
    assert!(world.comes_to(is_noted));
    world.patch_spec(&json!({ "paused": true }));
    world.pass(30);
    assert_eq!(starts(&world), 0);
    world.delete(kinds::RESTORE, "back");
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    assert_eq!(starts(&world), 0, "{}", world.last_words());
    let waits = condition(&world, "Progressing");
    assert!(waits.contains(Reason::WaitingForRestore.as_str()), "{waits}");
    ask(&mut world, &json!({}));
    world.settle();
    is_restored(&world);
}

#[test]
fn a_rack_that_is_made_smaller_meanwhile_is_restored_first() {
    let mut world = begun();
    assert!(world.comes_to(|w| closed(w) == 1));
    world
        .patch_spec(&json!({ "datacenter": cluster(&[("a", 1), ("b", 1)])["spec"]["datacenter"] }));
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Complete), "{}", world.last_words());
    world.expect_ring(2);
}

/// Who asks for fewer members meanwhile has the ring of the backup first, and then the smaller one.
#[test]
fn a_ring_that_is_to_be_smaller_becomes_what_the_backup_was_first() {
    let mut world = begun();
    world.until(|w| starts(w) == 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.until(|w| starts(w) >= 3);
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Complete), "{}", world.last_words());
    world.expect_ring(2);
}
