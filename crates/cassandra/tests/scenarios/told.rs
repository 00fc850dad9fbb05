//! Stories of what the status tells: that members do not see each other alike,
//! and since when something is waited for.

use crate::every::{a_ring, before_each_write, some};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, of_scylla};
use crate::sim::world::{Tick, cluster_key};
use jiff::SignedDuration;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const OTHER: &str = "demo-dc1-a-0";

fn rollout(world: &mut World) {
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
}

/// Reason and time of the waits about a member.
fn waits_about(world: &World, member: &str) -> BTreeSet<(String, String)> {
    let cluster = world.store.get(&cluster_key()).cloned().unwrap_or_default();
    let waits = cluster["status"]["waits"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let about = waits.iter().filter(|w| w["object"]["name"] == member);
    about.map(|w| (text(&w["reason"]), text(&w["since"]))).collect()
}

#[test]
fn a_wait_that_goes_on_keeps_its_time_while_the_ring_is_asked_again_and_again() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "config": { "hanging_setting": 1 } }));
    world.pass(300);
    // What waits is the restart of the first member, whose server hangs.
    world.cut_off("demo-dc1-b-0");
    world.pass(60);
    world.patch_spec(&json!({ "config": { "hanging_setting": null } }));
    world.pass(30);
    let writes = world.writes.len();
    let mut seen = BTreeSet::new();
    for _ in 0..60 {
        world.pass(1);
        seen.extend(waits_about(&world, OTHER));
    }
    assert!(world.writes.len() > writes + 10, "it is asked again\n{}", world.last_words());
    assert_eq!(seen.len(), 1, "{seen:?}\n{}", world.last_words());
}

#[test]
fn an_answer_from_the_future_counts_from_when_it_was_asked_for() {
    let mut world = a_ring(2, 1);
    world.set_clock("demo-dc1-b-0", SignedDuration::from_hours(6));
    rollout(&mut world);
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 2, 0) {
        world.delete(kinds::POD, "demo-dc1-a-1");
        world.pass(600);
        world.expect_ring(3);
        assert!(world.destructive.len() >= 2, "{:?}\n{}", world.destructive, world.last_words());
    }
}

#[test]
fn a_member_that_is_cut_off_is_told_at_once_and_no_more_when_it_is_back() {
    let mut world = spread(2, 1);
    world.cut_off(LAST);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, OTHER);
    world.until(|w| {
        w.store.get(&key).is_some_and(|m| m["status"]["ring"]["exceptions"] != Value::Null)
    });
    world.pass(10);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True MembersDisagree") && told.contains(LAST), "{told}");
    assert!(
        world.condition("Progressing").starts_with("True"),
        "{}",
        world.condition("Progressing")
    );
    assert_eq!(
        world.condition("Available"),
        "True Running: 3 of 3 members are ready, but at most 2 of them, still a quorum, see each other as up"
    );
    world.reconnect();
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.condition("Available"), "True Running: 3 of 3 members are ready");
}

#[test]
fn two_members_that_do_not_see_each_other_are_not_available() {
    let mut world = spread(1, 1);
    world.cut_off(OTHER);
    world.pass(60);
    let told = world.condition("Available");
    assert!(told.starts_with("False MembersDisagree"), "{told}\n{}", world.last_words());
    assert!(world.condition("Degraded").starts_with("True MembersDisagree"));
}

#[test]
fn an_address_that_is_not_the_recorded_one_is_told_and_the_member_comes_back_under_it() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, OTHER);
    let service = world.store.get(&key).expect("the Service should exist");
    let mut service = Value::clone(service);
    world.delete(kinds::SERVICE, OTHER);
    service["spec"]["clusterIP"] = json!("10.96.0.200");
    service["spec"]["clusterIPs"] = json!(["10.96.0.200"]);
    world.store.create(&key, &service).expect("somebody creates it with another address");
    world.pass(10);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AddressChanged") && told.contains("10.96.0.200"), "{told}");
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect_ring(3);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, OTHER);
    assert_eq!(world.store.get(&key).expect("the member")["spec"]["address"], "10.96.0.200");
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

/// Goes on to the end; the members' views never count as a disagreement.
fn nothing_is_told_of(what: &str, mut world: World) {
    for _ in 0..20_000 {
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        let told = world.condition("Degraded");
        assert!(!told.contains("MembersDisagree"), "{what}: {told}\n{}", world.last_words());
        let told = world.condition("Available");
        assert!(!told.contains("see each other"), "{what}: {told}\n{}", world.last_words());
        if tick == Tick::Rest {
            return;
        }
    }
    panic!("{what}: no rest\n{}", world.last_words());
}

#[test]
fn what_the_operator_does_is_never_taken_for_a_disagreement() {
    let mut world = a_ring(2, 1);
    rollout(&mut world);
    nothing_is_told_of("a rollout", world);
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 2)]));
    nothing_is_told_of("a growth", world);
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    nothing_is_told_of("a shrink", world);
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    nothing_is_told_of("a replacement", world);
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    nothing_is_told_of("a pod that is deleted", world);
    let mut world = a_ring(2, 1);
    world.power_cut();
    world.pass(60);
    world.api_returns();
    nothing_is_told_of("a power cut", world);
}

#[test]
fn a_machine_that_dies_is_told_as_such_in_the_end() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True NodeUnreachable") && told.contains(LAST), "{told}");
}

/// An agent reports this besides, as it would if its server said so.
fn reports(world: &mut World, member: &str, status: &Value) {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
    let patch = json!({ "status": status });
    world.store.merge(&key, &patch, Subresource::Status).expect("the member should exist");
    world.pass(2);
}

#[test]
fn a_member_that_one_other_sees_down_is_not_called_cut_off() {
    let mut world = spread(2, 1);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
    let seen = world.store.get(&key).expect("the member should exist").clone();
    let (host_id, address) = (&seen["spec"]["hostID"], &seen["spec"]["address"]);
    let down = json!({
        "hostID": host_id, "address": address, "liveness": "Down", "state": "Normal",
    });
    reports(&mut world, OTHER, &json!({ "ring": { "exceptions": [down] } }));
    world.pass(40);
    let told = world.condition("Degraded");
    let expected = format!(
        "True MembersDisagree: member {LAST} is serving requests, but is down according to {OTHER}"
    );
    assert!(told.starts_with(&expected), "{told}\n{}", world.last_words());
    let mut world = spread(2, 1);
    world.cut_off(LAST);
    world.pass(60);
    let told = world.condition("Degraded");
    let expected = format!("True MembersDisagree: member {LAST} is cut off");
    assert!(told.starts_with(&expected), "{told}\n{}", world.last_words());
}

#[test]
fn a_member_that_sees_another_number_of_members_is_told_when_its_view_has_settled() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.settle();
    world.delete(kinds::POD, LAST);
    world.until(|w| w.normal() == 2);
    world.until(|w| w.normal() == 3 && w.condition("Available").contains("3 of 3"));
    reports(&mut world, OTHER, &json!({ "ring": { "members": 4 } }));
    let waits = world.waits();
    let expected = "sees 4 members in the ring, but the operator has recorded 3; waiting";
    assert!(waits.contains(expected), "{waits}");
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
    world.pass(60);
    let told = world.condition("Degraded");
    let expected = format!("True MembersDisagree: member {OTHER} sees 4 members");
    assert!(told.starts_with(&expected), "{told}\n{}", world.last_words());
}

#[test]
fn members_that_disagree_are_told_ten_seconds_after_a_start() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.settle();
    world.delete(kinds::POD, LAST);
    world.until(|w| w.normal() == 2);
    world.until(|w| w.normal() == 3 && w.condition("Available").contains("3 of 3"));
    world.cut_off(LAST);
    reports(&mut world, OTHER, &json!({ "ring": { "members": 4 } }));
    world.pass(10);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True MembersDisagree"), "{told}\n{}", world.last_words());
}

#[test]
fn members_that_do_not_agree_on_the_schema_for_long_are_told_by_name() {
    let mut world = a_ring(2, 1);
    world.ring.odd_schemas.insert(LAST.into());
    world.pass(60);
    let told = world.condition("Degraded");
    assert!(told.starts_with("False"), "it may pass: {told}");
    world.pass(300);
    let told = world.condition("Degraded");
    let is_told = told.starts_with("True SchemasDisagree") && told.contains(LAST);
    assert!(is_told && told.contains(OTHER), "{told}\n{}", world.last_words());
    world.ring.odd_schemas.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn an_announced_address_that_is_not_the_recorded_one_is_told() {
    let mut world = a_ring(2, 1);
    reports(&mut world, OTHER, &json!({ "address": "10.96.0.200" }));
    let told = world.condition("Degraded");
    let expected = format!("True AddressChanged: member {OTHER} advertises address 10.96.0.200");
    assert!(told.starts_with(&expected), "{told}\n{}", world.last_words());
}

/// From three members to six.
fn grows_and_stays_available(mut world: World) {
    world.set_racks(&a_cluster(&[("a", 4), ("b", 2)]));
    for _ in 0..20_000 {
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        let told = world.condition("Available");
        assert!(told.starts_with("True"), "{told}\n{}", world.last_words());
        if tick == Tick::Rest {
            return assert_eq!(told, "True Running: 6 of 6 members are ready");
        }
    }
    panic!("no rest\n{}", world.last_words());
}

#[test]
fn a_ring_that_grows_is_available_all_the_while() {
    grows_and_stays_available(a_ring(2, 1));
}

/// A ring of ScyllaDB, racks `a` and `b` of two members and one, that is made now.
pub fn a_ring_of_scylla() -> World {
    World::new().with(&of_scylla(a_cluster(&[("a", 2), ("b", 1)])))
}

#[test]
fn a_ring_of_scylla_that_grows_is_available_all_the_while() {
    let mut world = a_ring_of_scylla();
    world.pass(20);
    let told = world.condition("Available");
    assert!(told.starts_with("False MembersDown: ") && told.contains(" of 3"), "{told}");
    world.settle();
    grows_and_stays_available(world);
}

#[test]
fn a_ring_that_shrinks_is_not_available_while_most_of_it_is_down() {
    let mut world = a_ring(4, 2);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    for member in [OTHER, LAST, "demo-dc1-a-2", "demo-dc1-b-0"] {
        world.delete(kinds::POD, member);
    }
    world.pass(2);
    let told = world.condition("Available");
    assert!(told.starts_with("False MembersDown: 2 of 6"), "{told}\n{}", world.last_words());
}

/// Nothing is done for a ring whose spec is refused; what becomes of it is told all the same.
#[test]
fn what_happens_to_a_ring_is_told_also_while_its_spec_is_refused() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "version": "4.1.9" }));
    world.settle();
    let told = world.condition("Degraded");
    assert!(told.starts_with("True InvalidSpec") && told.contains("4.1.9"), "{told}");
    assert!(world.condition("Available").starts_with("True"), "{}", world.condition("Available"));
    for member in [OTHER, LAST] {
        let node = world.node_of(member);
        world.set_machine(&node, Machine::Down);
        // So it is evicted after a while.
        world.delete(kinds::POD, member);
    }
    world.pass(120);
    let (available, degraded) = (world.condition("Available"), world.condition("Degraded"));
    assert!(available.starts_with("False"), "{available}");
    assert!(degraded.contains("4.1.9") && degraded.contains(OTHER), "{degraded}");
    world.heal();
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.settle();
    world.expect_ring(3);
}
