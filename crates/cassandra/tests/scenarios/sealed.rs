//! The sealed start (safety rule 7.15): a ring that asks for passwords, from its beginning or
//! later, serves nobody by a password before it has roles of its own, whoever ends at whatever
//! time. The invariant is checked after every step.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::{a_cluster, two_racks};
use crate::sim::ring::{Login, Phase};
use palladion_agent::render::Door;
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";

/// A ring that is to ask for passwords, just created.
fn asking(login: Login) -> World {
    let mut cluster = two_racks();
    cluster["spec"]["auth"] = json!({ "mode": "Password" });
    let mut world = World::new();
    world.ring.login = login;
    world.with(&cluster)
}

/// Its first server is a full member behind its seal.
fn sealed() -> World {
    let mut world = asking(Login::PendingWhereAsked);
    world.until(is_sealed);
    world
}

fn is_sealed(world: &World) -> bool {
    let mut servers = world.ring.servers.values();
    servers.any(|s| s.door == Door::Sealed && s.phase == Phase::Normal)
}

/// Starts behind a seal.
fn seals(world: &World) -> usize {
    world.story.iter().filter(|line| line.contains("sealed)")).count()
}

fn goes_on(mut world: World) -> World {
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(3);
    world
}

#[test]
fn a_ring_that_asks_for_passwords_is_started_sealed_once() {
    let mut world = goes_on(asking(Login::Accepted));
    assert_eq!(seals(&world), 1, "{}", world.last_words());
    // From then on everybody starts as usual.
    world.patch_spec(&json!({ "annotations": { "example.com/team": "data" } }));
    world.settle();
    world.power_cut();
    world.settle();
    world.expect_ring(3);
    assert_eq!(seals(&world), 1, "{}", world.last_words());
}

#[test]
fn whenever_the_operator_ends_a_ring_that_asks_is_initialized_sealed() {
    let world = asking(Login::Accepted);
    let mut end = killed_at_every_write("a sealed start", world, 6);
    end.expect_ring(3);
    assert_eq!(seals(&end), 1);
}

#[test]
fn a_sealed_server_is_ready_for_nobody_and_lets_nobody_join() {
    let mut world = sealed();
    world.pass(300);
    assert!(is_sealed(&world), "{}", world.last_words());
    assert_eq!(world.normal(), 1, "nobody joins behind a seal\n{}", world.last_words());
    let available = world.condition("Available");
    assert!(available.starts_with("False"), "{available}");
    goes_on(world);
}

#[test]
fn an_agent_that_is_started_again_has_no_keys_and_seals_again() {
    let mut world = sealed();
    world.restart_agent(FIRST);
    world.pass(60);
    let world = goes_on(world);
    assert_eq!(seals(&world), 2, "{}", world.last_words());
}

#[test]
fn a_server_that_ends_behind_its_seal_is_sealed_again() {
    let mut world = sealed();
    world.kill_server(FIRST);
    world.pass(120);
    let world = goes_on(world);
    assert_eq!(seals(&world), 2, "{}", world.last_words());
}

#[test]
fn a_server_that_ends_before_it_is_a_member_is_sealed_again() {
    let mut world = asking(Login::PendingWhereAsked);
    world.until(|world| world.ring.servers.values().any(|s| s.phase == Phase::Initializing));
    world.kill_server(FIRST);
    let world = goes_on(world);
    assert_eq!(seals(&world), 2, "{}", world.last_words());
}

#[test]
fn a_power_cut_behind_the_seal_is_survived_without_operator_and_api_server() {
    let mut world = sealed();
    world.pass(2);
    world.power_cut();
    world.ring.login = Login::Accepted;
    world.pass(300);
    assert_eq!(seals(&world), 2, "by itself\n{}", world.last_words());
    assert_eq!(world.normal(), 1, "and opened by itself\n{}", world.last_words());
    assert!(!is_sealed(&world), "{}", world.last_words());
    world.api_returns();
    goes_on(world);
}

#[test]
fn a_ring_without_its_secrets_starts_nobody_and_says_so() {
    let mut world = asking(Login::MissingWhereAsked);
    world.pass(300);
    assert!(world.ring.servers.is_empty(), "{}", world.last_words());
    let told = format!("{}\n{}", world.condition("Progressing"), world.waits());
    assert!(told.contains("the Secret with the user of the agents"), "{told}");
    let world = goes_on(world);
    assert_eq!(seals(&world), 1, "{}", world.last_words());
}

/// A ring that asks nobody, and is to.
fn turned_on(login: Login) -> World {
    let mut world = a_ring(2, 1);
    world.ring.login = login;
    world.patch_spec(&json!({ "auth": { "mode": "Password" } }));
    world
}

fn turned_off(mut world: World) -> World {
    world.patch_spec(&json!({ "auth": { "mode": "Off" } }));
    world.settle();
    world.expect_ring(3);
    world
}

#[test]
fn each_member_of_a_ring_that_asked_nobody_is_started_sealed_once() {
    let world = goes_on(turned_on(Login::Accepted));
    assert_eq!(seals(&world), 3, "{}", world.last_words());
    // While nobody is asked, anybody may open that user again.
    let mut world = turned_off(world);
    assert_eq!(seals(&world), 3, "{}", world.last_words());
    world.patch_spec(&json!({ "auth": { "mode": "Password" } }));
    let mut world = goes_on(world);
    assert_eq!(seals(&world), 6, "{}", world.last_words());
    world.power_cut();
    world.settle();
    world.expect_ring(3);
    assert_eq!(seals(&world), 6, "{}", world.last_words());
}

#[test]
fn whenever_the_operator_ends_a_ring_that_is_to_ask_is_never_open() {
    let mut end = killed_at_every_write("asking", turned_on(Login::Accepted), 6);
    end.expect_ring(3);
    assert_eq!(seals(&end), 3);
}

#[test]
fn a_member_that_is_to_ask_waits_for_its_users_behind_its_seal() {
    let mut world = turned_on(Login::MissingWhereAsked);
    world.pass(900);
    assert!(is_sealed(&world), "{}", world.last_words());
    assert_eq!(world.normal(), 3, "others read and write what it has\n{}", world.last_words());
    assert_eq!(seals(&world), 1, "nobody else is restarted\n{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("the rollout stopped at member"), "{degraded}");
    let world = turned_off(world);
    assert!(!is_sealed(&world), "{}", world.last_words());
}

/// Who starts first cannot log in before the others are there: roles are read from most of them.
#[test]
fn a_ring_that_is_stopped_and_is_to_ask_when_it_starts_comes_up() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "auth": { "mode": "Password" }, "run": "Running" }));
    let world = goes_on(world);
    assert_eq!(seals(&world), 3, "{}", world.last_words());
}

/// It would read that everybody knows `cassandra`, and ask for nothing else.
#[test]
fn nobody_joins_before_a_member_has_closed_the_user_that_everybody_knows() {
    let mut world = turned_on(Login::MissingWhereAsked);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(900);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(seals(&world), 1, "the rollout comes first\n{}", world.last_words());
    world.ring.login = Login::Accepted;
    world.settle();
    world.expect_ring(4);
}

/// Whoever restarts its agent takes the keys away.
#[test]
fn a_sealed_member_without_keys_is_restarted_in_its_turn() {
    let mut world = turned_on(Login::MissingWhereAsked);
    world.until(is_sealed);
    let server = world.ring.servers.values().find(|s| s.door == Door::Sealed);
    let member = server.expect("one is").member.clone();
    world.restart_agent(&member);
    world.pass(60);
    let world = goes_on(world);
    assert_eq!(seals(&world), 4, "{}", world.last_words());
}
