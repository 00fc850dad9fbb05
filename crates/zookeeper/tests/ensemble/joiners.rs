//! Joiners that vote by the configuration of the others and have not noted it.

use super::acts::pod;
use super::world::World;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

/// The order to let server 4 vote is given, and the joiner hears nothing of the change.
fn ordered() -> World {
    let mut world = World::settled(3);
    world.slow.insert(pod(0));
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| !w.member(0)["spec"]["operation"].is_null());
    world.stop_process(3);
    world
}

#[test]
fn a_joiner_that_votes_and_has_failed_starts_in_its_next_pod() {
    let mut world = ordered();
    world.slow.clear();
    world.until(|w| w.voters().contains(&4));
    world.unlucky.insert(pod(3));
    world.delete(kinds::POD, &pod(3));
    world.settle();
    assert_eq!(world.status()["turn"], json!(null), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True JoinFailed"), "{said}");
    world.unlucky.clear();
    world.delete(kinds::POD, &pod(3));
    world.settle();
    world.expect(5);
}

#[test]
fn a_joiner_that_votes_and_has_failed_may_leave() {
    let mut world = ordered();
    world.slow.clear();
    world.until(|w| w.voters().contains(&4));
    world.unlucky.insert(pod(3));
    world.delete(kinds::POD, &pod(3));
    world.settle();
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
}

/// Whoever has the order may carry it out at any time.
#[test]
fn a_loss_ends_no_join_whose_change_is_ordered() {
    let mut world = ordered();
    world.continue_all();
    world.wipe(2);
    world.until(|w| !w.member(2)["spec"]["replace"].is_null());
    world.pass(5);
    assert_eq!(world.status()["turn"]["step"], json!("Join"), "{}", world.last_words());
    world.slow.clear();
    world.settle();
    world.expect(5);
}
