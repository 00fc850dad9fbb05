//! Leavers to which something happens on their way.

use super::acts::pod;
use super::volume::Kind;
use super::world::World;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// The members that are left of a cluster that shrinks, at each moment of it.
fn moments_of_a_shrink() -> Vec<World> {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    worlds
}

/// Whatever happens to the leaver at any moment.
fn it_leaves_all_the_same(what: impl Fn(&mut World, i32)) {
    let mut tried = 0;
    for mut world in moments_of_a_shrink().into_iter().step_by(2) {
        let Some(last) = (1..3).rev().find(|o| world.exists(kinds::POD, &pod(*o))) else {
            continue;
        };
        tried += 1;
        what(&mut world, last);
        world.settle();
        world.expect(1);
    }
    assert!(tried > 5, "{tried}");
}

/// Of two nodes the other one pauses when the pod of the leaver ends, and a node whose
/// application is to be stopped does not start again by itself.
#[test]
fn a_leaver_whose_pod_ends_at_any_time_leaves_all_the_same() {
    it_leaves_all_the_same(|world, last| world.delete(kinds::POD, &pod(last)));
}

/// Leavers whose agents have noted that the application is to be stopped, and have not
/// stopped it yet: the first of three, which leaves two, and the second, which leaves one.
fn leavers_that_stop_their_application() -> Vec<(World, i32)> {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    let is_open = |w: &World, ordinal: i32| {
        let (spec, said) = (w.member(ordinal)["spec"].clone(), w.member(ordinal)["status"].clone());
        spec["intent"]["kind"] == "StopApp"
            && said["intent"]["nonce"] == spec["intent"]["nonce"]
            && said["intent"]["state"] == "Running"
    };
    let leavers = [2, 1];
    let found = leavers.map(|ordinal| {
        world.until(|w| is_open(w, ordinal));
        (world.clone(), ordinal)
    });
    found.into()
}

/// What stops the application ends with the node that it works on.
#[test]
fn a_leaver_whose_node_or_pod_ends_while_its_application_is_being_stopped_leaves() {
    for (world, ordinal) in leavers_that_stop_their_application() {
        let mut killed = world.clone();
        killed.kill(ordinal);
        killed.settle();
        killed.expect(1);
        let mut evicted = world;
        evicted.delete(kinds::POD, &pod(ordinal));
        evicted.settle();
        evicted.expect(1);
    }
}

#[test]
fn a_leaver_of_two_whose_pod_ends_stays_if_it_is_wanted_again() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.member(1)["spec"]["intent"]["kind"] == "StopApp");
    world.delete(kinds::POD, &pod(1));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

/// It is copied for longer than an agent lives, or waits for one: the whole replica stays.
#[test]
fn a_stream_that_is_still_copied_when_its_move_is_asked_for_again_stays_whole() {
    let mut world = World::settled(3);
    world.declare_on("log", Kind::Stream, &[2]);
    world.pass(20);
    world.rabbit.slow = true;
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.replicas("log").len() == 2);
    world.restart_agent(2);
    // Others may have the turn for ten minutes between two tries.
    world.pass(2_000);
    let moves = |w: &World| w.story.iter().filter(|l| l.contains("move replicas off")).count();
    assert!(moves(&world) > 2, "{}", world.last_words());
    assert_eq!(world.replicas("log"), [0, 2], "one more, and only one: {}", world.last_words());
    world.rabbit.slow = false;
    world.settle();
    world.expect(1);
}

/// What an agent does is cut short at each moment: all of it may be done twice.
#[test]
fn a_leaver_whose_agent_ends_at_any_time_leaves_all_the_same() {
    it_leaves_all_the_same(World::restart_agent);
}
