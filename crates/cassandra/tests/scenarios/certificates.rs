//! Certificates that the operator signs for clients: from nothing, on a ring of
//! today, renewed, paused, after disks and rings were made anew; and the operator
//! ended at every write of it.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::volume::Certificate;
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::{CertificateProblem, CertificateProblemKind};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn by_operator() -> Value {
    let client = json!({ "mode": "Require", "certificates": { "operator": {} } });
    json!({ "client": client, "internode": { "mode": "Off" } })
}

/// A ring that was created with it.
fn a_certified_ring() -> World {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["tls"] = by_operator();
    let mut world = World::new().with(&cluster);
    world.settle();
    world.expect_ring(3);
    world
}

fn kept(world: &World) -> BTreeMap<String, Certificate> {
    let with = |name: String| Some((name.clone(), world.certificate_of(&name)?));
    world.names(kinds::MEMBER).into_iter().filter_map(with).collect()
}

fn held(world: &World) -> BTreeMap<String, String> {
    let held = |kept: Certificate| kept.held.map(|(certificate, _)| certificate);
    kept(world).into_iter().filter_map(|(name, kept)| Some((name, held(kept)?))).collect()
}

fn requests(world: &World) -> BTreeMap<String, String> {
    kept(world).into_iter().map(|(name, kept)| (name, kept.request)).collect()
}

fn trusted_by_clients(world: &World) -> String {
    let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, "demo-client-ca");
    let map = world.store.get(&key).expect("clients should find what they trust");
    map["data"]["ca.crt"].as_str().unwrap_or_default().to_string()
}

fn later(world: &mut World, time: SignedDuration) {
    world.pass(time.as_secs());
}

#[test]
fn a_ring_made_from_name_and_members_has_a_certificate_for_each_before_any_server_starts() {
    let world = a_certified_ring();
    assert_eq!(held(&world).len(), 3, "{}", world.last_words());
    assert!(trusted_by_clients(&world).contains("CA "));
    // A member that has reported meanwhile is looked at once more.
    let is_done = |line: &&String| line.contains("sign the") && !line.contains("Conflict");
    let signed = |world: &World| world.story.iter().filter(is_done).count();
    assert_eq!(signed(&world), 3, "one each: {:?}", world.writes);
    for name in held(&world).keys() {
        let names = &held(&world)[name];
        assert!(names.contains("demo-client") && names.contains(name.as_str()), "{names}");
    }
}

#[test]
fn at_rest_nothing_is_written() {
    let mut world = a_certified_ring();
    world.expect_rest();
}

#[test]
fn the_operator_may_end_at_any_write_of_the_creation() {
    let mut cluster = a_cluster(&[("a", 1), ("b", 1)]);
    cluster["spec"]["tls"] = by_operator();
    let world = World::new().with(&cluster);
    let mut end = killed_at_every_write("a ring with certificates is created", world, 6);
    end.expect_ring(2);
    assert_eq!(held(&end).len(), 2);
}

#[test]
fn a_ring_of_today_gets_them_before_its_members_restart() {
    let mut world = a_ring(2, 1);
    assert!(kept(&world).is_empty(), "nobody has asked for it");
    world.patch_spec(&json!({ "tls": by_operator() }));
    let mut undisturbed = world.clone();
    let waited = undisturbed.comes_to(|world| {
        let mut members = world.store.list(kinds::MEMBER);
        members.any(|(_, m)| m["status"]["server"]["reason"] == "WaitingForCertificate")
    });
    assert!(!waited, "each has it before its restart: {}", undisturbed.last_words());
    let mut end = killed_at_every_write("tls is turned on", world, 6);
    end.expect_ring(3);
    assert_eq!(held(&end).len(), 3);
}

#[test]
fn agents_that_cannot_ask_are_restarted_and_their_successors_ask() {
    let mut world = a_ring(2, 1);
    world.set_protocol(5);
    world.patch_spec(&json!({ "tls": by_operator() }));
    world.until(|w| w.condition("Degraded").contains("AgentTooOld"));
    world.settle();
    world.expect_ring(3);
    assert_eq!(held(&world).len(), 3, "{}", world.last_words());
}

#[test]
fn without_the_policies_nothing_is_signed_and_nobody_restarts() {
    let mut world = a_ring(2, 1);
    let pods = world.names(kinds::POD);
    world.set_policies(false);
    world.patch_spec(&json!({ "tls": by_operator() }));
    world.until(|w| w.condition("Degraded").contains("SigningOff"));
    world.settle();
    assert_eq!((kept(&world), world.names(kinds::POD)), (BTreeMap::new(), pods));
    world.set_policies(true);
    world.settle();
    world.expect_ring(3);
    assert_eq!(held(&world).len(), 3, "{}", world.last_words());
}

#[test]
fn a_member_that_does_not_take_its_certificate_is_named_until_it_does() {
    let mut world = a_certified_ring();
    let problem = CertificateProblem { kind: CertificateProblemKind::NotStored, message: None };
    world.set_certificate_problem("demo-dc1-a-0", Some(problem));
    world.until(|w| w.condition("Degraded").contains("CertificateUnusable"));
    assert!(world.condition("Degraded").contains("demo-dc1-a-0"), "{}", world.last_words());
    world.set_certificate_problem("demo-dc1-a-0", None);
    world.until(|w| !w.condition("Degraded").contains("CertificateUnusable"));
    world.expect_ring(3);
}

#[test]
fn a_certificate_is_renewed_in_time_with_the_same_key_and_without_a_restart() {
    let mut world = a_certified_ring();
    let (before, asked) = (held(&world), requests(&world));
    let pods = world.names(kinds::POD);
    later(&mut world, DAY * 240);
    world.settle();
    assert_eq!(held(&world), before, "two thirds are not over");
    later(&mut world, DAY * 5);
    world.settle();
    let after = held(&world);
    assert!(after.iter().all(|(name, cert)| before[name] != *cert), "{}", world.last_words());
    assert_eq!((requests(&world), world.names(kinds::POD)), (asked, pods));
    world.expect_rest();
}

#[test]
fn while_a_ring_is_paused_nothing_is_signed_and_afterwards_it_is() {
    let mut world = a_certified_ring();
    let before = held(&world);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    later(&mut world, DAY * 300);
    world.settle();
    assert_eq!(held(&world), before);
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    assert!(held(&world).iter().all(|(name, cert)| before[name] != *cert));
}

#[test]
fn that_certificates_run_out_is_told_while_a_ring_is_paused_or_its_spec_is_refused() {
    let paused = (json!({ "paused": true }), json!({ "paused": false }), "`spec.paused`");
    let refused = (json!({ "version": "9.9.9" }), json!({ "version": "5.0.5" }), "`Accepted`");
    for (hold, release, next) in [paused, refused] {
        let mut world = a_certified_ring();
        world.patch_spec(&hold);
        world.settle();
        later(&mut world, DAY * 300);
        world.settle();
        let told = world.condition("Degraded");
        assert!(!told.contains("CertificateExpiring"), "65 days are left: {told}");
        later(&mut world, DAY * 7);
        world.settle();
        let told = world.condition("Degraded");
        assert!(told.contains("CertificateExpiring") && told.contains(next), "{told}");
        let first = kept(&world).into_values().filter_map(|kept| kept.not_after);
        let first = first.map(|time| time.0.as_second()).min().unwrap();
        let first = Timestamp::from_second(first).unwrap();
        assert!(told.contains("demo-dc1-a-0") && told.contains(&first.to_string()), "{told}");
        world.expect_rest();
        later(&mut world, DAY * 60);
        world.settle();
        let told = world.condition("Degraded");
        assert!(told.contains("CertificateExpiring") && told.contains("expired"), "{told}");
        world.patch_spec(&release);
        world.settle();
        let told = world.condition("Degraded");
        assert!(!told.contains("CertificateExpiring"), "{told}");
        world.expect_ring(3);
    }
}

#[test]
fn an_object_of_another_with_the_name_of_ours_keeps_nothing_from_being_signed_or_created() {
    let mut world = World::new();
    let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, "demo-client-ca");
    let meta = json!({ "name": key.name, "namespace": NAMESPACE });
    let foreign = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {} });
    world.store.create(&key, &foreign).unwrap();
    let schedule = json!({
        "metadata": { "name": "often", "namespace": NAMESPACE },
        "spec": { "cluster": "demo", "schedule": "* * * * *", "taskTemplate": { "spec": { "flush": {} } } },
    });
    let often = ObjectKey::new(kinds::SCHEDULE, NAMESPACE, "often");
    world.store.create(&often, &schedule).unwrap();
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["tls"] = by_operator();
    let mut world = world.with(&cluster);
    world.pass(1800);
    let told = world.condition("Degraded");
    assert!(told.contains("ForeignObject") && told.contains("demo-client-ca"), "{told}");
    assert_eq!(held(&world).len(), 3, "{}", world.last_words());
    assert!(!world.names(kinds::TASK).is_empty(), "{}", world.last_words());
    assert_eq!(world.store.get(&key).unwrap()["data"], json!({}), "it is not touched");
    world.delete(kinds::CONFIG_MAP, "demo-client-ca");
    world.pass(120);
    assert!(trusted_by_clients(&world).contains("CA "), "{}", world.last_words());
}

#[test]
fn what_is_refused_of_the_ring_keeps_no_certificate_from_being_renewed() {
    let mut world = a_certified_ring();
    let before = held(&world);
    later(&mut world, DAY * 243);
    world.settle();
    assert_eq!(held(&world), before, "two thirds are not over");
    world.store.refuse("exceeded quota: pods", |key, _| key.resource == kinds::STATEFUL_SET);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1), ("c", 1)]));
    world.pass(600);
    let told = world.condition("Degraded");
    assert!(told.contains("exceeded quota"), "{told}");
    world.pass(12 * 3600);
    let after = held(&world);
    assert!(after.iter().all(|(name, cert)| before[name] != *cert), "{}", world.last_words());
}

#[test]
fn a_member_on_a_new_volume_has_a_key_of_its_own() {
    let mut world = a_certified_ring();
    let before = requests(&world);
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
    let after = requests(&world);
    assert_ne!(after["demo-dc1-a-0"], before["demo-dc1-a-0"]);
    assert_eq!(after["demo-dc1-a-1"], before["demo-dc1-a-1"]);
    assert_eq!(held(&world).len(), 3);
}

#[test]
fn who_leaves_keeps_no_key() {
    let mut world = a_certified_ring();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    world.expect_ring(2);
    assert_eq!(world.certificates_on_disks(), 2, "{}", world.last_words());
}

#[test]
fn who_joins_again_on_the_volume_that_it_left_has_a_certificate_before_it_starts() {
    let mut world = a_certified_ring();
    let before = requests(&world);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    world.expect_ring(2);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let waits = world.comes_to(|world| {
        let mut members = world.store.list(kinds::MEMBER);
        members.any(|(_, m)| m["status"]["server"]["reason"] == "WaitingForCertificate")
    });
    assert!(waits, "no server starts without one: {}", world.last_words());
    world.settle();
    world.expect_ring(3);
    assert_eq!((held(&world).len(), requests(&world)), (3, before), "{}", world.last_words());
}

#[test]
fn a_status_that_was_erased_gets_the_same_authority_again() {
    let mut world = a_certified_ring();
    let (before, trusted) = (held(&world), trusted_by_clients(&world));
    world.erase_status();
    world.settle();
    assert_eq!((held(&world), trusted_by_clients(&world)), (before, trusted));
}

#[test]
fn a_ring_made_anew_on_kept_volumes_serves_with_nothing_of_the_former_authority() {
    let mut world = a_certified_ring();
    let (before, trusted) = (kept(&world), trusted_by_clients(&world));
    world.delete_cluster();
    world.settle();
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["tls"] = by_operator();
    world.apply(&cluster);
    world.settle();
    world.expect_ring(3);
    let after = kept(&world);
    assert_eq!(after.len(), 3);
    for (name, kept) in &after {
        assert_ne!(kept.authority, before[name].authority, "{name}");
        assert_eq!(kept.held.as_ref().map(|(_, by)| by), Some(&kept.authority), "{name}");
    }
    assert_ne!(trusted_by_clients(&world), trusted);
}

#[test]
fn turned_off_again_nothing_more_is_signed() {
    let mut world = a_certified_ring();
    world.patch_spec(&json!({ "tls": { "client": { "mode": "Off" } } }));
    world.settle();
    world.expect_ring(3);
    let before = held(&world);
    later(&mut world, DAY * 300);
    world.settle();
    assert_eq!(held(&world), before);
}
