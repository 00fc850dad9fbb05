//! Leavers to which something happens on their way.

use super::acts::pod;
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

/// Of two nodes the other one pauses when the pod of the leaver ends, and a node whose
/// application is to be stopped does not start again by itself.
#[test]
fn a_leaver_whose_pod_ends_at_any_time_leaves_all_the_same() {
    let mut tried = 0;
    for mut world in moments_of_a_shrink().into_iter().step_by(3) {
        let Some(last) = (1..3).rev().find(|o| world.exists(kinds::POD, &pod(*o))) else {
            continue;
        };
        tried += 1;
        world.delete(kinds::POD, &pod(last));
        world.settle();
        world.expect(1);
    }
    assert!(tried > 5, "{tried}");
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
