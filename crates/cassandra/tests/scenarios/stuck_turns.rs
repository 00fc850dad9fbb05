//! Members that have the turn and cannot go on with it: whatever holds them up, the turn ends, by
//! itself or by what a person wants of the member, and others go on.

use crate::maintenance::lose;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Phase;
use crate::sim::world::cluster_key;
use crate::tasks::host_of;
use crate::terminated::terminate;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

fn turn(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"]["turn"].clone()).unwrap_or_default()
}

fn restarting(world: &World) -> Option<String> {
    let turn = turn(world);
    let member = turn["member"].as_str().filter(|_| turn["step"] == "Restart")?;
    (!world.runs(member)).then(|| member.to_string())
}

fn spec(world: &World, member: &str, field: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
    world.store.get(&key).map(|m| m["spec"][field].clone()).unwrap_or_default()
}

/// A ring in which a member is just being restarted, with no server.
fn in_a_restart(config: &str) -> (World, String) {
    let mut world = spread(3, 1);
    world.patch_spec(&json!({ "config": { config: 8 } }));
    world.until(|w| restarting(w).is_some());
    let member = restarting(&world).expect("it restarts");
    (world, member)
}

#[test]
fn a_volume_that_is_lost_while_its_member_restarts_is_replaced() {
    let (mut world, member) = in_a_restart("concurrent_reads");
    world.wipe_volume(&member);
    world.settle();
    world.expect_ring(4);
}

/// Its agent starts nothing on what it finds, and nobody else will do so.
#[test]
fn a_member_whose_data_is_damaged_while_it_restarts_is_replaced_as_a_person_asks() {
    let (mut world, member) = in_a_restart("concurrent_reads");
    world.empty_partly(&member);
    world.pass(900);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.label(kinds::MEMBER, &member, labels::REPLACE);
    world.settle();
    world.expect_ring(4);
}

/// What is on its volume may be what its server ends by.
#[test]
fn a_member_that_does_not_come_back_from_its_restart_is_terminated_and_replaced() {
    for setting in ["broken_setting", "hanging_setting"] {
        let (mut world, member) = in_a_restart(setting);
        world.pass(900);
        terminate(&mut world, &member, "RingIsWell");
        world.pass(900);
        let terminated = spec(&world, &member, "terminated");
        assert!(!terminated.is_null(), "{setting}: {}", world.last_words());
        world.patch_spec(&json!({ "config": { setting: null } }));
        let host = host_of(&world, &member);
        world.given_up.insert(host);
        world.label(kinds::MEMBER, &member, labels::REPLACE);
        world.settle();
        world.expect_ring(4);
    }
}

/// What another one that is down has may be on its volume alone, whether or not a server runs there.
#[test]
fn a_member_that_does_not_come_back_is_not_terminated_while_another_one_is_down() {
    let (mut world, member) = in_a_restart("broken_setting");
    world.pass(600);
    let node = world.node_of("demo-dc1-b-0");
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    terminate(&mut world, &member, "RingIsWell");
    world.pass(900);
    assert!(spec(&world, &member, "terminated").is_null(), "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.pass(900);
    assert!(!spec(&world, &member, "terminated").is_null(), "{}", world.last_words());
}

/// Its agent starts nothing just now, and would on what the volume holds.
#[test]
fn a_member_that_would_come_back_is_not_replaced_in_its_restart() {
    let (mut world, member) = in_a_restart("broken_setting");
    world.pass(600);
    world.label(kinds::MEMBER, &member, labels::REPLACE);
    world.pass(600);
    assert!(spec(&world, &member, "replace").is_null(), "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(4);
}

/// The order to restart it is over with that; it is restarted with the others when it runs again.
#[test]
fn a_member_that_does_not_come_back_from_its_restart_is_stopped() {
    let (mut world, member) = in_a_restart("hanging_setting");
    world.pass(900);
    world.want(&member, &json!({ "run": "Stopped" }));
    world.pass(900);
    assert!(!world.runs(&member), "{}", world.last_words());
    assert!(turn(&world).is_null(), "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "hanging_setting": null } }));
    world.want(&member, &json!({ "run": "Running" }));
    world.settle();
    world.expect_ring(4);
}

/// Three members, and a fourth that has the turn to join; its pod is gone before it has a permit,
/// and the next one finds no machine.
fn without_a_place() -> World {
    let mut world = spread(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let joiner = "demo-dc1-a-2";
    world.until(|w| turn(w)["member"] == joiner && spec(w, joiner, "start").is_null());
    let machine = world.node_of(joiner);
    world.operators.clear();
    world.set_machine(&machine, Machine::Down);
    world.delete(kinds::POD, joiner);
    world.pass(30);
    assert_eq!(turn(&world)["member"], joiner, "{}", world.last_words());
    world
}

#[test]
fn a_joiner_without_a_place_gives_way_to_a_replacement() {
    let mut world = without_a_place();
    let node = world.node_of(LAST);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.lose_node(&node);
    world.register_node("n9", "z1");
    world.until(|w| w.normal() == 2);
    world.until(|w| w.normal() == 3);
    assert!(world.clock() < 1800, "{}", world.last_words());
    world.heal();
    world.settle();
    world.expect_ring(4);
}

#[test]
fn a_joiner_that_is_not_wanted_any_more_has_no_turn() {
    let mut world = without_a_place();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.pass(120);
    assert!(turn(&world).is_null(), "{}", world.last_words());
    world.heal();
    world.settle();
    world.expect_ring(3);
}

/// One of two that could say that it has left is lost, and its Node is gone: a majority of those
/// that there still are is enough, and its replacement waits for the end of the leave.
#[test]
fn a_leave_that_is_over_ends_where_another_member_is_given_up() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Left).is_some());
    let node = world.node_of("demo-dc1-b-0");
    world.lose_node(&node);
    world.register_node("n9", "z2");
    world.settle();
    world.expect_ring(2);
}

/// A proof asks for one schema: a turn that is taken all the same ends as soon as it is answered,
/// and would be taken again and again.
#[test]
fn a_replacement_that_a_schema_holds_up_takes_no_turn_until_members_agree() {
    let mut world = spread(3, 1);
    world.ring.odd_schemas.insert("demo-dc1-a-2".into());
    lose(&mut world, LAST);
    world.pass(300);
    let before = world.writes.len();
    world.pass(600);
    let written = &world.writes[before..];
    let turns = written.iter().filter(|write| write.contains("replace")).count();
    assert_eq!(turns, 0, "{written:?}");
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("SchemasDisagree"), "{degraded}");
    let progressing = world.condition("Progressing");
    assert!(progressing.contains("more than one schema version"), "{progressing}");
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(4);
}
