//! Members that other clusters describe have authorities of their own: what they sign is taken
//! once it is named, without a restart, and no more when it is not; an authority of this cluster
//! is rotated only when others are said to trust the new one.

use crate::rotations::{
    TASK, a_secure_ring, asked, authorities, fingerprint, message, patch_task, phase, shown, taken,
};
use crate::sim::World;
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::Purpose;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_authority::Authority;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

const LIFE: SignedDuration = SignedDuration::from_hours(24 * 3650);

/// The authority of another datacenter: certificate and fingerprint.
fn elsewhere() -> (&'static str, &'static str) {
    static MADE: OnceLock<Authority> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let now = Timestamp::constant(1_767_225_600, 0);
        Authority::make("internode-1", now, LIFE).expect("an authority can be made")
    });
    (&made.certificate, &made.fingerprint)
}

fn trust(world: &mut World, all: &[(&str, &str)]) {
    let all: Vec<Value> = all
        .iter()
        .map(|(name, certificate)| json!({ "name": name, "certificate": certificate }))
        .collect();
    world.patch_spec(&json!({ "tls": { "internode": { "additionalTrust": all } } }));
}

/// Everybody takes the own authority and these.
fn expect_taken(world: &World, own: &str, others: &[&str]) {
    let own = fingerprint(world, own);
    let all = others.iter().map(ToString::to_string).chain([own.clone()]);
    assert_eq!(taken(world, Purpose::Internode), all.collect(), "{}", world.last_words());
    assert_eq!(shown(world, Purpose::Internode), BTreeSet::from([own]), "{}", world.last_words());
}

fn ready(world: &World) -> (String, String) {
    let conditions = world.status()["conditions"].as_array().cloned().unwrap_or_default();
    let word = |c: &Value, of: &str| c[of].as_str().unwrap_or_default().to_string();
    let ready = conditions.iter().find(|c| c["reason"] == json!(Reason::InvalidSpec));
    ready.map(|c| (word(c, "reason"), word(c, "message"))).unwrap_or_default()
}

#[test]
fn what_is_named_is_taken_and_what_is_not_is_dropped_and_nobody_restarts() {
    let (certificate, other) = elsewhere();
    let mut world = a_secure_ring(2, 1);
    let pods: Vec<_> = world.ring.servers.keys().cloned().collect();
    trust(&mut world, &[("west", certificate)]);
    world.settle();
    world.pass(700);
    world.settle();
    expect_taken(&world, "internode-1", &[other]);
    world.expect_rest();
    trust(&mut world, &[]);
    world.settle();
    world.pass(700);
    world.settle();
    expect_taken(&world, "internode-1", &[]);
    assert_eq!(world.ring.servers.keys().cloned().collect::<Vec<_>>(), pods);
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    world.expect_ring(3);
    world.expect_rest();
}

#[test]
fn what_is_no_authority_is_refused_and_what_runs_goes_on() {
    let (certificate, other) = elsewhere();
    let mut world = a_secure_ring(2, 1);
    trust(&mut world, &[("west", certificate)]);
    world.settle();
    // Its first byte is no sequence any more.
    let garbled = certificate.replacen("MII", "AII", 1);
    assert_ne!(garbled, certificate);
    let twice = format!("{certificate}{certificate}");
    let refused: [(&[(&str, &str)], &str); 5] = [
        (&[("west", "west")], "not one certificate in PEM format"),
        (&[("west", &twice)], "not one certificate in PEM format"),
        (&[("west", &garbled)], "cannot be read"),
        (&[("west", certificate), ("west", certificate)], "twice"),
        (&[("west", certificate), ("south", certificate)], "twice"),
    ];
    for (entries, why) in refused {
        trust(&mut world, entries);
        world.settle();
        let (reason, said) = ready(&world);
        assert!(said.contains(why), "{reason} {said}: {}", world.last_words());
        // Nothing is changed by a spec that is refused.
        world.pass(700);
        world.settle();
        expect_taken(&world, "internode-1", &[other]);
    }
    trust(&mut world, &[("west", certificate)]);
    world.settle();
    assert_eq!(ready(&world), Default::default());
    world.expect_ring(3);
}

#[test]
fn a_new_authority_signs_when_others_are_said_to_trust_it() {
    let (certificate, other) = elsewhere();
    let mut world = asked(Purpose::Internode);
    trust(&mut world, &[("west", certificate)]);
    world.settle();
    let new = fingerprint(&world, "internode-2");
    let held = ["internode-1".to_string(), "internode-2 Trust".to_string()];
    assert_eq!(authorities(&world, Purpose::Internode), held, "{}", world.last_words());
    let said = message(&world, TASK);
    assert!(said.contains("trustedElsewhere") && said.contains(&new), "{said}");
    world.expect_rest();
    // A word about another authority is none about this one.
    patch_task(&mut world, &json!({ "rotateAuthority": { "trustedElsewhere": other } }));
    world.settle();
    world.pass(86_400);
    world.settle();
    assert_eq!(authorities(&world, Purpose::Internode), held, "{}", world.last_words());
    patch_task(&mut world, &json!({ "rotateAuthority": { "trustedElsewhere": new } }));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
    expect_taken(&world, "internode-2", &[other]);
    world.expect_ring(3);
    world.expect_rest();
}
