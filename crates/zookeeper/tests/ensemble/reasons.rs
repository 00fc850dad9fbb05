//! The reasons of this mind that no other has, each seen in a story.

use super::acts::pod;
use super::world::World;
use palladion_api::Reason;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

fn shows(world: &World, reason: Reason) {
    let said: Vec<String> =
        ["Available", "Progressing", "Degraded"].iter().map(|c| world.condition(c)).collect();
    let is_said = said.iter().any(|s| s.contains(reason.as_str()));
    assert!(
        is_said || world.reasons.contains(reason.as_str()),
        "{reason}: {said:?} {:?}",
        world.reasons
    );
}

#[test]
fn a_join_that_waits_for_a_server_says_so() {
    let mut world = World::settled(3);
    world.stop_process(1);
    world.patch_spec(&json!({ "servers": 5 }));
    world.pass(60);
    shows(&world, Reason::WaitingForEnsemble);
    world.continue_all();
    world.settle();
    world.expect(5);
}

#[test]
fn a_lost_quorum_a_lost_majority_and_a_rolled_back_volume_have_reasons() {
    let mut world = World::settled(3);
    let copy = world.disk(0).content.clone();
    world.delete(kinds::POD, &pod(0));
    world.settle();
    world.disk(0).content = copy;
    world.delete(kinds::POD, &pod(0));
    world.settle();
    shows(&world, Reason::VolumeRolledBack);
    world.give_up_volume(0);
    world.settle();
    world.expect(3);
    world.wipe(0);
    world.wipe(1);
    world.settle();
    shows(&world, Reason::QuorumLost);
    shows(&world, Reason::MajorityLost);
}
