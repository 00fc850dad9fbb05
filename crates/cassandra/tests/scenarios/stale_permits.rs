//! Permits that nobody uses any more: of members whose machines have died, and of turns
//! that are over.

use crate::addresses::{address_of, created_again, give_up, host_of, member, moved_by_hand};
use crate::every::{a_ring, in_flight};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::{Phase, Server};
use crate::sim::world::{Link, Tick, cluster_key};
use jiff::{SignedDuration, Timestamp};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const OTHER: &str = "demo-dc1-b-0";
const NEW: &str = "demo-dc1-a-2";
/// A permit whose turn is not on record any more is seen and withdrawn within this time.
const SOON: SignedDuration = SignedDuration::from_secs(5);

/// Has the first member a permit to come back under another address that it has not used?
fn has_unused_permit(world: &World) -> bool {
    let member = member(world, FIRST);
    let (start, answer) = (&member["spec"]["start"], &member["status"]["permit"]);
    start["kind"] == "Readdress" && answer["nonce"] != start["nonce"]
}

fn turn(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"]["turn"].clone()).unwrap_or_default()
}

/// Go on for so many seconds; a permit stands without a turn for so long at most.
fn watch(world: &mut World, seconds: i64, most: SignedDuration) {
    let end = world.now() + SignedDuration::from_secs(seconds);
    let mut alone: Option<Timestamp> = None;
    while world.now() < end {
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        let stands_alone = has_unused_permit(world) && turn(world).is_null();
        let since = *alone.get_or_insert(world.now());
        if !stands_alone {
            alone = None;
        } else if world.now().duration_since(since) > most || most.is_zero() {
            panic!("an unused permit has no turn since {since}\n{}", world.last_words());
        }
        if tick == Tick::Rest {
            return;
        }
    }
}

/// A member has a permit to come back under another address, and its agent does not
/// reach the API server.
fn with_an_unread_permit() -> (World, Vec<String>) {
    let (mut world, taken, hosts) = created_again(&[FIRST]);
    give_up(&mut world, &taken);
    world.until(has_unused_permit);
    world.agent_is_cut(FIRST, Link::Cut);
    (world, hosts)
}

fn comes_back(mut world: World, hosts: &[String]) {
    world.heal();
    world.agents_are_back();
    world.settle();
    world.expect_ring(3);
    assert_eq!(host_of(&world, FIRST), hosts[0], "{}", world.last_words());
}

#[test]
fn a_permit_for_another_address_that_nobody_has_used_goes_with_its_turn() {
    let (mut world, hosts) = with_an_unread_permit();
    watch(&mut world, 1500, SignedDuration::ZERO);
    assert!(!world.runs(FIRST), "{}", world.last_words());
    comes_back(world, &hosts);
}

#[test]
fn an_unused_permit_outlives_its_turn_by_moments_whatever_disturbs() {
    let (mut world, hosts) = with_an_unread_permit();
    let mut worlds = Vec::new();
    let end = world.now() + SignedDuration::from_secs(700);
    while world.now() < end {
        let before = world.clone();
        world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        if world.faults.writes() > before.faults.writes() {
            worlds.push(before);
        }
    }
    assert!(worlds.len() > 4, "the turn ends and is taken again");
    let disturbances: [fn(&mut World); 5] = [
        |w| w.faults.plan(w.faults.writes(), Fault::DieBefore),
        |w| w.faults.plan(w.faults.writes(), Fault::DieAfter),
        |w| w.faults.plan(w.faults.writes(), Fault::AnswerLost),
        World::erase_status,
        in_flight,
    ];
    for before in worlds {
        for disturb in disturbances {
            let mut world = before.clone();
            disturb(&mut world);
            watch(&mut world, 60, SOON);
            comes_back(world, &hosts);
        }
    }
}

/// What the ring was asked about was another address. Its turn ends, and the member gets
/// an address by which the ring knows somebody else, before its agent reads the permit.
fn starts_nobody_under_the_next_address(its_turn_ends: impl Fn(&mut World)) {
    let mut world = a_ring(2, 1);
    let of_other = address_of(&world, OTHER);
    moved_by_hand(&mut world, FIRST, "10.96.0.200");
    world.until(has_unused_permit);
    world.agent_is_cut(FIRST, Link::Cut);
    moved_by_hand(&mut world, OTHER, "10.96.0.201");
    moved_by_hand(&mut world, FIRST, &of_other);
    its_turn_ends(&mut world);
    assert_eq!(address_of(&world, FIRST), of_other, "{}", world.last_words());
    world.agents_are_back();
    world.pass(60);
    let started = world.story.iter().any(|l| l.contains("starts its server (Readdress)"));
    assert!(!started, "{}", world.last_words());
    world.delete(kinds::POD, OTHER);
    world.settle();
    world.expect_ring(3);
    assert_eq!(address_of(&world, FIRST), of_other);
}

#[test]
fn a_permit_for_one_address_starts_nobody_under_the_next_when_nobody_waits_for_it_any_more() {
    starts_nobody_under_the_next_address(|world| world.pass(700));
}

#[test]
fn a_permit_for_one_address_starts_nobody_under_the_next_when_its_turn_was_lost() {
    starts_nobody_under_the_next_address(|world| {
        world.erase_status();
        world.pass(60);
    });
}

/// A joiner whose machine has died in the middle, and that nobody wants any more.
fn with_a_dead_joiner() -> (World, String) {
    let mut world = spread(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    let node = world.node_of(NEW);
    world.set_machine(&node, Machine::Down);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    (world, node)
}

/// Its server may run where nobody hears it: nothing is done, and a person is told what it
/// waits for, since when, and what to do.
fn is_told(world: &mut World, work: &str, member: &str, node: &str) {
    world.pass(900);
    let since = turn(world)["since"].as_str().unwrap_or_default().to_string();
    let told = world.condition("Degraded");
    assert!(told.starts_with("True NodeUnreachable"), "{told}");
    let what = format!("the {work} of member {member}, begun at {since}, has not ended");
    let step = format!("delete the Node (`kubectl delete node {node}`)");
    for words in [&what, "no other member joins", &step] {
        assert!(told.contains(words), "{words}: {told}\n{}", world.last_words());
    }
    world.writes.clear();
    world.pass(900);
    assert_eq!(world.writes, Vec::<String>::new(), "{}", world.last_words());
}

fn join_is_told(world: &mut World, node: &str) {
    is_told(world, "join", NEW, node);
    assert!(!has_gone(world), "{}", world.last_words());
}

fn has_gone(world: &World) -> bool {
    let gone = format!("operator: record that member {NEW} will not join");
    world.story.iter().any(|line| line.contains(&gone))
}

#[test]
fn a_shrink_that_waits_for_a_dead_joiner_says_so_and_goes_on_when_the_machine_is_back() {
    let (mut world, node) = with_a_dead_joiner();
    join_is_told(&mut world, &node);
    // Kubernetes evicts the pod, which cannot end there.
    world.delete(kinds::POD, NEW);
    join_is_told(&mut world, &node);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_shrink_over_a_dead_joiner_goes_on_when_its_node_is_deleted() {
    let (mut world, node) = with_a_dead_joiner();
    join_is_told(&mut world, &node);
    world.lose_node(&node);
    world.settle();
    assert!(has_gone(&world), "{}", world.last_words());
    world.expect_ring(3);
}

/// As Kubernetes does where a person says that the Node is out of service.
#[test]
fn a_shrink_over_a_dead_joiner_goes_on_when_its_pod_is_removed_by_force() {
    let (mut world, node) = with_a_dead_joiner();
    join_is_told(&mut world, &node);
    world.tell("the pod is removed by force");
    world.store.remove(&ObjectKey::new(kinds::POD, NAMESPACE, NEW));
    world.until(has_gone);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
}

/// Its permit was withdrawn, and what is heard of it last is that it has used it.
#[test]
fn a_withdrawn_permit_that_a_dead_machine_has_used_is_told() {
    let mut world = spread(2, 1);
    world.ring.unlucky.insert(NEW.into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.story.iter().any(|l| l.contains("starts its server (Join)")));
    world.pass(900);
    world.agent_is_cut(NEW, Link::Mute);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| member(w, NEW)["spec"]["start"].is_null());
    let node = world.node_of(NEW);
    world.set_machine(&node, Machine::Down);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, NEW);
    let used = json!({ "status": {
        "permit": { "state": "Used" }, "server": { "state": "Starting", "reason": "Starting" },
    }});
    world.store.merge(&key, &used, Subresource::Status).expect("its agent has said so");
    is_told(&mut world, "decommission", NEW, &node);
    assert!(!has_gone(&world), "{}", world.last_words());
    world.lose_node(&node);
    world.settle();
    assert!(has_gone(&world), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_leaver_whose_machine_has_died_is_told_with_what_waits_for_it() {
    let mut world = spread(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    let node = world.node_of(NEW);
    world.set_machine(&node, Machine::Down);
    is_told(&mut world, "decommission", NEW, &node);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_replacement_whose_machine_has_died_is_told_with_what_waits_for_it() {
    let mut world = spread(2, 1);
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    let streams = |s: &Server| matches!(s.phase, Phase::Joining { replaces: Some(_) });
    world.until(|w| w.ring.servers.values().any(streams));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    is_told(&mut world, "replacement", LAST, &node);
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
}

/// The pod of a restart cannot end where its machine has died, and nobody can replace the
/// member meanwhile but by its turn: a user's word ends that.
#[test]
fn a_restart_whose_machine_has_died_is_told_and_its_member_can_be_replaced() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let is_ending = |w: &World| {
        let turn = turn(w);
        let key =
            ObjectKey::new(kinds::POD, NAMESPACE, turn["member"].as_str().unwrap_or_default());
        turn["step"] == "Restart"
            && w.store.get(&key).is_some_and(|p| p["metadata"]["deletionTimestamp"].is_string())
    };
    world.until(is_ending);
    let member = turn(&world)["member"].as_str().unwrap_or_default().to_string();
    let node = world.node_of(&member);
    world.set_machine(&node, Machine::Down);
    is_told(&mut world, "restart", &member, &node);
    world.label(kinds::MEMBER, &member, palladion_api::labels::REPLACE);
    world.lose_node(&node);
    world.settle();
    world.expect_ring(3);
}
