//! What a spec leaves out of authentication and TLS: a ring from name and members alone has
//! both, a ring that is older than these defaults has neither, and no operator changes that.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::two_racks;
use crate::sim::ring::Login;
use palladion_api::cluster::InternodeTlsMode as Mode;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};

/// A cluster with names and members alone.
fn plain() -> Value {
    let mut cluster = two_racks();
    let spec = cluster["spec"].as_object_mut().unwrap();
    spec.retain(|field, _| ["version", "datacenter"].contains(&field.as_str()));
    cluster
}

fn asking() -> World {
    let mut world = World::new();
    world.ring.login = Login::Accepted;
    world
}

fn by_default() -> World {
    let mut world = asking().with(&plain());
    world.settle();
    world.expect_ring(3);
    world
}

fn defaults(world: &World) -> Value {
    world.status()["security"]["defaults"].clone()
}

fn secure() -> Value {
    json!({ "auth": "Password", "clientTls": "Require", "internodeTls": "Require" })
}

/// All servers ask, and take nothing in the clear.
fn expect_secure(world: &World) {
    for server in world.ring.servers.values() {
        assert!(server.configuration.asks(), "{}", server.member);
        assert!(server.configuration.is_certified(), "{}", server.member);
        assert_eq!(server.internode, Mode::Require, "{}", server.member);
    }
}

/// None does.
fn expect_open(world: &World) {
    for server in world.ring.servers.values() {
        assert!(!server.configuration.asks(), "{}", server.member);
        assert!(!server.configuration.is_certified(), "{}", server.member);
        assert_eq!(server.internode, Mode::Off, "{}", server.member);
    }
}

/// A ring that was created before there were defaults: nothing of them is on record.
fn an_older_ring() -> World {
    let mut world = a_ring(2, 1);
    world.erase_status();
    world.strip_security_of_claims();
    world.patch_spec(&json!({ "auth": null, "tls": null }));
    world.settle();
    world
}

#[test]
fn a_ring_from_name_and_members_alone_asks_and_encrypts() {
    let world = by_default();
    expect_secure(&world);
    assert_eq!(defaults(&world), secure());
    let seals = world.story.iter().filter(|line| line.contains("sealed)")).count();
    assert_eq!(seals, 1, "{}", world.last_words());
}

#[test]
fn its_secrets_are_created_once_and_before_anybody_starts() {
    let mut world = asking().with(&plain());
    world.until(|world| !world.ring.servers.is_empty());
    let secrets = world.names(kinds::SECRET);
    assert_eq!(secrets, ["demo-agents", "demo-superuser"]);
    world.settle();
    // What a user deletes is not created again: its password would fit no role.
    world.delete(kinds::SECRET, "demo-superuser");
    world.patch_spec(&json!({ "annotations": { "example.com/team": "data" } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.names(kinds::SECRET), ["demo-agents"]);
}

#[test]
fn a_secret_that_exists_is_used_as_it_is() {
    let mut world = asking();
    world.secret("demo-superuser", &json!({ "username": "b3duZXI=" }));
    let mut world = world.with(&plain());
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.secret_data("demo-superuser"), json!({ "username": "b3duZXI=" }));
}

#[test]
fn a_ring_is_as_secure_wherever_the_operator_ends_while_it_is_created() {
    let mut end = killed_at_every_write("a ring by default", asking().with(&plain()), 8);
    end.expect_ring(3);
    expect_secure(&end);
}

#[test]
fn what_the_spec_says_goes_before_what_is_settled() {
    let mut world = by_default();
    world.patch_spec(&json!({ "tls": { "client": { "mode": "Off" } } }));
    world.settle();
    world.expect_ring(3);
    let servers = || world.ring.servers.values();
    assert!(servers().all(|s| s.configuration.asks() && !s.configuration.is_certified()));
    assert_eq!(defaults(&world), secure());
}

#[test]
fn a_lost_status_and_a_recreated_cluster_change_nothing() {
    let mut world = by_default();
    world.erase_status();
    world.settle();
    world.expect_ring(3);
    expect_secure(&world);
    assert_eq!(defaults(&world), secure());
    world.delete_cluster();
    world.settle();
    world.apply(&plain());
    world.settle();
    world.expect_ring(3);
    expect_secure(&world);
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    assert_eq!(defaults(&world), secure());
}

#[test]
fn an_older_ring_stays_as_it_is() {
    let mut world = an_older_ring();
    world.expect_ring(3);
    expect_open(&world);
    assert_eq!(defaults(&world), Value::Null);
    world.patch_spec(&json!({ "annotations": { "example.com/team": "data" } }));
    world.settle();
    world.expect_ring(3);
    expect_open(&world);
    assert!(world.names(kinds::SECRET).is_empty());
}

/// Nothing is turned on because a line is removed.
#[test]
fn what_a_spec_said_at_creation_is_settled() {
    let mut world = asking().with(&two_racks());
    world.settle();
    world.expect_ring(3);
    let off = json!({ "auth": "Off", "clientTls": "Off", "internodeTls": "Off" });
    assert_eq!(defaults(&world), off);
    world.patch_spec(&json!({ "auth": null, "tls": null }));
    world.settle();
    world.expect_ring(3);
    expect_open(&world);
    assert!(world.names(kinds::SECRET).is_empty());
}

/// By whoever may write the status, or by a restored backup.
#[test]
fn a_record_that_is_weaker_than_the_claims_lowers_nothing() {
    let mut world = by_default();
    let weaker =
        json!({ "defaults": { "auth": "Off", "clientTls": "Off", "internodeTls": "Off" } });
    world.set_security(&weaker);
    world.settle();
    world.expect_ring(3);
    expect_secure(&world);
    assert_eq!(defaults(&world), secure());
}

#[test]
fn encryption_by_hand_is_a_choice_of_the_user() {
    let mut cluster = plain();
    cluster["spec"]["auth"] = json!({ "mode": "Off" });
    cluster["spec"]["config"] = json!({
        "client_encryption_options": { "enabled": false },
        "server_encryption_options": { "internode_encryption": "none" },
    });
    let mut world = asking().with(&cluster);
    world.settle();
    world.expect_ring(3);
    expect_open(&world);
    assert!(world.names(kinds::SECRET).is_empty(), "nobody is asked");
}

/// Nobody would have a role, and on a ring that runs one setting would take all guards away.
#[test]
fn authentication_by_hand_is_refused_on_rings_that_have_it_settled() {
    let by_hand = json!({ "authorizer": "AllowAllAuthorizer" });
    let mut cluster = plain();
    cluster["spec"]["config"] = by_hand.clone();
    let mut world = asking().with(&cluster);
    world.settle();
    let accepted = world.condition("Accepted");
    assert!(accepted.starts_with("False") && accepted.contains("authorizer"), "{accepted}");
    assert!(world.ring.servers.is_empty());
    let mut world = by_default();
    for config in [by_hand, json!({ "server_encryption_options": {} })] {
        world.patch_spec(&json!({ "config": null }));
        world.patch_spec(&json!({ "config": config }));
        world.settle();
        assert!(world.condition("Accepted").starts_with("False"), "{config}");
        expect_secure(&world);
    }
}

/// Before its first server has ever run: what is there is no older ring.
#[test]
fn a_ring_that_is_created_again_before_it_was_initialized_is_as_secure() {
    let mut world = asking().with(&plain());
    world.ring.login = Login::MissingWhereAsked;
    world.pass(60);
    world.delete_cluster();
    world.pass(60);
    world.apply(&plain());
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
    expect_secure(&world);
    let mut erased = asking().with(&plain());
    erased.until(|world| !world.ring.servers.is_empty());
    erased.erase_status();
    erased.settle();
    erased.expect_ring(3);
    expect_secure(&erased);
}

#[test]
fn a_superuser_that_was_to_be_brought_is_created_after_all() {
    let mut cluster = plain();
    cluster["spec"]["auth"] = json!({ "mode": "Password", "superuserSecretName": "peple" });
    let mut world = asking().with(&cluster);
    world.ring.login = Login::MissingWhereAsked;
    world.pass(60);
    assert_eq!(world.names(kinds::SECRET), ["demo-agents"]);
    world.patch_spec(&json!({ "auth": { "superuserSecretName": null } }));
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.names(kinds::SECRET), ["demo-agents", "demo-superuser"]);
}

fn floors(world: &World) -> Vec<Value> {
    world.store.list(kinds::MEMBER).map(|(_, m)| m["status"]["securityFloor"].clone()).collect()
}

#[test]
fn what_everybody_runs_with_is_noted_on_each_volume() {
    let mut world = by_default();
    assert_eq!(floors(&world), vec![json!(["Password", "ClientTls", "InternodeTls"]); 3]);
    world.patch_spec(&json!({ "auth": { "mode": "Off" }, "tls": { "client": { "mode": "Off" } } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(floors(&world), vec![json!(["InternodeTls"]); 3]);
    assert_eq!(floors(&an_older_ring()), vec![Value::Null; 3], "nobody has said anything");
}

/// Neither the status nor the claims say what was settled, as to an operator that does not know
/// of it: nobody is started without, and what the volumes say is settled again.
#[test]
fn an_operator_that_has_lost_all_records_opens_no_ring() {
    let mut world = by_default();
    world.delete_cluster();
    world.settle();
    world.strip_security_of_claims();
    world.apply(&plain());
    let opened = world.comes_to(|world| {
        let mut servers = world.ring.servers.values();
        servers.any(|s| !s.configuration.asks() || s.internode != Mode::Require)
    });
    assert!(!opened, "{}", world.last_words());
    world.settle();
    expect_secure(&world);
    world.expect_ring(3);
    assert_eq!(defaults(&world), secure());
}

#[test]
fn leaving_out_what_was_said_lowers_nothing() {
    let mut world = an_older_ring();
    let internode = json!({ "mode": "Require", "certificates": { "operator": {} } });
    world.patch_spec(&json!({ "tls": { "internode": internode } }));
    world.settle();
    world.expect_ring(3);
    world.patch_spec(&json!({ "tls": null }));
    world.settle();
    world.expect_ring(3);
    let modes: Vec<Mode> = world.ring.servers.values().map(|s| s.internode).collect();
    assert_eq!(modes, [Mode::Require; 3]);
    assert!(world.ring.servers.values().all(|s| !s.configuration.asks()));
}
