//! TLS between members: a ring that is made with it, one that is taken there while it runs and
//! back, and what disturbs that. That servers can speak to each other all the while, and take
//! what the others show, is an invariant of the simulation.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use jiff::SignedDuration;
use palladion_api::cluster::InternodeTlsMode as Mode;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn tls(mode: &str) -> Value {
    let internode = json!({ "mode": mode, "certificates": { "operator": {} } });
    json!({ "internode": internode, "client": { "mode": "Off" } })
}

fn an_encrypted_ring(a: i32, b: i32) -> World {
    let mut cluster = a_cluster(&[("a", a), ("b", b)]);
    cluster["spec"]["tls"] = tls("Require");
    let mut world = World::new().with(&cluster);
    world.settle();
    world.expect_ring(usize::try_from(a + b).unwrap());
    world
}

/// How the servers that run speak.
fn modes(world: &World) -> Vec<Mode> {
    world.ring.servers.values().map(|server| server.internode).collect()
}

fn told(world: &World) -> Value {
    world.status()["internodeTls"].clone()
}

/// A ring in the clear that is to take to TLS, when it has come to this step.
fn on_the_way(step: &str) -> World {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "tls": tls("Require") }));
    world.until(|world| told(world) == json!(step));
    world
}

#[test]
fn a_ring_that_is_made_with_it_never_speaks_in_the_clear() {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["tls"] = tls("Require");
    let mut world = World::new().with(&cluster);
    let clear = world.comes_to(|world| modes(world).iter().any(|mode| *mode != Mode::Require));
    assert!(!clear, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
    assert_eq!((modes(&world), told(&world)), (vec![Mode::Require; 3], json!("Require")));
    assert_eq!(world.internode_certificates().len(), 3);
    world.expect_rest();
}

#[test]
fn a_ring_that_runs_is_taken_there_step_by_step_wherever_the_operator_ends() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "tls": tls("Require") }));
    let mut undisturbed = world.clone();
    for step in ["Accept", "Prefer", "Require"] {
        undisturbed.until(|world| told(world) == json!(step));
    }
    let mut end = killed_at_every_write("members take to TLS", world, 20);
    end.expect_ring(3);
    assert_eq!((modes(&end), told(&end)), (vec![Mode::Require; 3], json!("Require")));
    end.expect_rest();
}

#[test]
fn the_next_step_waits_until_everybody_has_come_up_with_the_one_before() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "tls": tls("Require") }));
    for (step, before) in [("Prefer", Mode::Accept), ("Require", Mode::Prefer)] {
        world.until(|world| told(world) == json!(step));
        assert_eq!(modes(&world), vec![before; 3], "{step}: {}", world.last_words());
    }
}

#[test]
fn and_back_again() {
    let mut world = an_encrypted_ring(2, 1);
    world.patch_spec(&json!({ "tls": tls("Off") }));
    world.settle();
    world.expect_ring(3);
    assert_eq!((modes(&world), told(&world)), (vec![Mode::Off; 3], json!("Off")));
    world.expect_rest();
}

#[test]
fn a_change_of_mind_at_each_step_goes_back_from_there() {
    for step in ["Accept", "Prefer", "Require"] {
        let mut world = on_the_way(step);
        world.patch_spec(&json!({ "tls": tls("Off") }));
        world.settle();
        world.expect_ring(3);
        assert_eq!((modes(&world), told(&world)), (vec![Mode::Off; 3], json!("Off")), "{step}");
    }
}

#[test]
fn a_status_that_is_erased_on_the_way_changes_nothing() {
    for step in ["Accept", "Prefer", "Require"] {
        let mut world = on_the_way(step);
        world.erase_status();
        world.settle();
        world.expect_ring(3);
        assert_eq!(modes(&world), vec![Mode::Require; 3], "{step}");
    }
}

#[test]
fn members_join_are_replaced_and_leave_at_each_step() {
    for step in ["Accept", "Prefer", "Require"] {
        let mut world = on_the_way(step);
        world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
        world.settle();
        world.expect_ring(4);
        assert_eq!(modes(&world), vec![Mode::Require; 4], "{step}");
        world.delete(kinds::POD, "demo-dc1-a-0");
        world.wipe_volume("demo-dc1-a-0");
        world.settle();
        world.expect_ring(4);
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        world.settle();
        world.expect_ring(3);
        assert_eq!(world.internode_certificates().len(), 3, "who has left keeps no key");
    }
}

#[test]
fn without_the_policies_nobody_takes_a_step() {
    let mut world = a_ring(2, 1);
    world.set_policies(false);
    world.patch_spec(&json!({ "tls": tls("Require") }));
    world.until(|w| w.condition("Degraded").contains("SigningOff"));
    world.settle();
    assert_eq!(modes(&world), vec![Mode::Off; 3]);
    let told = world.condition("Progressing");
    assert!(told.contains("InternodeTlsChanging") && told.contains("`Require`"), "{told}");
    world.set_policies(true);
    world.settle();
    assert_eq!(modes(&world), vec![Mode::Require; 3], "{}", world.last_words());
}

#[test]
fn certificates_are_renewed_and_the_authority_is_succeeded_without_a_restart() {
    let mut world = an_encrypted_ring(2, 1);
    let pods = world.names(kinds::POD);
    let before = world.internode_certificates();
    later(&mut world, 245);
    let renewed = world.internode_certificates();
    assert!(renewed.iter().all(|kept| !before.contains(kept)), "{}", world.last_words());
    // Ten years, less two; and thirty days until the successor signs.
    for _ in 0..30 {
        later(&mut world, 100);
    }
    let last = shown(&world);
    assert!(last.iter().all(|by| *by != before[0].authority), "{}", world.last_words());
    assert_eq!(world.names(kinds::POD), pods);
    world.expect_ring(3);
}

/// Days pass, and what has become due is done.
fn later(world: &mut World, days: i32) {
    for _ in 0..days / 5 {
        world.pass((DAY * 5).as_secs());
        world.settle();
    }
}

/// Who signed what members have.
fn shown(world: &World) -> Vec<String> {
    let all = world.internode_certificates().into_iter();
    all.map(|kept| kept.held.expect("each should have one").1).collect()
}

fn expect_another_authority(world: &World, former: &[String]) {
    let now = shown(world);
    assert!(now.iter().all(|by| !former.contains(by)), "{}", world.last_words());
    let trusts: Vec<usize> =
        world.internode_certificates().iter().map(|kept| kept.trust.lines().count()).collect();
    assert!(trusts.iter().all(|count| *count == 1), "the former one is trusted: {trusts:?}");
}

#[test]
fn an_authority_whose_key_is_lost_is_followed_by_another_that_all_trust_before_it_signs() {
    let mut world = an_encrypted_ring(2, 1);
    let (before, pods) = (shown(&world), world.names(kinds::POD));
    world.new_authorities();
    world.settle();
    world.expect_ring(3);
    expect_another_authority(&world, &before);
    assert_eq!(world.names(kinds::POD), pods);
}

#[test]
fn an_authority_that_is_lost_while_the_ring_is_stopped_is_followed_when_it_runs() {
    let mut world = an_encrypted_ring(2, 1);
    let before = shown(&world);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.new_authorities();
    world.settle();
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    world.expect_ring(3);
    expect_another_authority(&world, &before);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    world.settle();
    world.expect_ring(4);
}

#[test]
fn a_ring_made_anew_on_kept_volumes_gets_certificates_of_its_own() {
    for first in ["Require", "Off"] {
        let mut world = an_encrypted_ring(2, 1);
        let before = shown(&world);
        world.delete_cluster();
        world.settle();
        let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
        cluster["spec"]["tls"] = tls(first);
        world.apply(&cluster);
        world.settle();
        world.expect_ring(3);
        world.patch_spec(&json!({ "tls": tls("Require") }));
        world.settle();
        world.expect_ring(3);
        assert_eq!(modes(&world), vec![Mode::Require; 3], "{first}: {}", world.last_words());
        expect_another_authority(&world, &before);
    }
}

#[test]
fn who_keeps_another_authority_from_signing_is_named() {
    let mut world = an_encrypted_ring(2, 1);
    world.new_authorities();
    world.until(|world| {
        let waits = world.status()["waits"].to_string();
        waits.contains("trusts the new certificate authority")
    });
    world.settle();
    world.expect_rest();
}

#[test]
fn where_nothing_is_signed_a_lost_pod_comes_back_as_it_was() {
    let mut world = a_ring(2, 1);
    world.set_policies(false);
    world.patch_spec(&json!({ "tls": tls("Require") }));
    world.until(|w| w.condition("Degraded").contains("SigningOff"));
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.settle();
    assert_eq!(modes(&world), vec![Mode::Off; 3], "{}", world.last_words());
}
