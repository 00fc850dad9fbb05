//! Rescues: a majority is lost, and a user lets the rest go on.

use super::acts::pod;
use super::world::World;
use serde_json::{Value, json};

impl World {
    /// The user allows what is asked for.
    fn allow_rescue(&mut self) {
        let ask = self.status()["ask"].clone();
        assert_eq!(ask["kind"], json!("Rescue"), "{}", self.last_words());
        let nonce = ask["nonce"].as_str().unwrap().to_string();
        self.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    }
}

/// Only with a user's word, which covers the volumes that it lists and no others.
#[test]
fn where_a_majority_is_wiped_a_user_may_let_the_rest_go_on() {
    let mut world = World::settled(3);
    world.wipe(0);
    world.wipe(1);
    world.settle();
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Rescue"), "{}", world.last_words());
    assert_eq!(ask["about"].as_array().unwrap().len(), 2);
    world.annotate_cluster("palladion.dev/allow-rescue", "another");
    world.settle();
    assert!(world.ensemble.leader().is_none());
    world.annotate_cluster("palladion.dev/allow-rescue", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(3);
    assert_eq!(world.ensemble.begun, 1);
    assert_eq!(world.voters(), [3, 4, 5], "{}", world.last_words());
    assert_eq!(world.status()["ask"], json!(null));
}

/// Of those that are left one lacks the last writes.
#[test]
fn the_one_that_knows_most_goes_on_and_the_others_start_over() {
    let mut world = World::settled(5);
    world.stop_process(3);
    world.pass(5);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.continue_all();
    world.settle();
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
    let nonce = world.status()["ask"]["nonce"].as_str().unwrap().to_string();
    world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    world.settle();
    world.expect(5);
    assert!(world.voters().contains(&5) && !world.voters().contains(&4), "{:?}", world.voters());
}

/// A rescue that was released before anybody went on alone has left nobody out.
#[test]
fn who_was_left_out_by_a_rescue_that_did_not_happen_comes_back() {
    let mut world = World::settled(5);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.settle();
    let nonce = world.status()["ask"]["nonce"].as_str().unwrap().to_string();
    world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    let is_left_out =
        |w: &World, ordinal| w.member(ordinal)["spec"]["replace"]["cause"] == json!("Rescue");
    world.until(|w| is_left_out(w, 3) || is_left_out(w, 4));
    // The user takes the word back: two of the volumes were found.
    world.annotate_cluster("palladion.dev/allow-rescue", "no");
    world.pass(30);
    assert_eq!(world.status()["turn"], Value::Null, "{}", world.last_words());
    for ordinal in 3..5 {
        assert!(!is_left_out(&world, ordinal), "{}", world.last_words());
    }
}

/// Nobody can be asked but a user, who is told how to go on.
#[test]
fn where_a_majority_belongs_to_no_member_a_user_may_let_the_rest_go_on() {
    let mut world = World::settled(1);
    world.add_stranger(98);
    world.add_stranger(99);
    world.settle();
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True MajorityLost") && said.contains("98 and 99"), "{said}");
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Rescue"), "{}", world.last_words());
    assert_eq!(ask["about"], json!(["98", "99"]));
    assert!(said.contains(ask["nonce"].as_str().unwrap()), "{said}");
    world.annotate_cluster("palladion.dev/allow-rescue", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(1);
    assert_eq!(world.voters(), [1]);
}

/// An agent that was cut off has reported less than its volume has meanwhile.
#[test]
fn who_knows_most_is_compared_again_when_all_have_stopped() {
    let mut world = World::settled(5);
    for ordinal in 2..5 {
        world.stop_process(ordinal);
    }
    world.pass(3);
    let reported = world.member(0)["status"]["volume"]["lastZxid"].clone();
    assert!(reported.is_string(), "{}", world.last_words());
    world.cut_off.insert(pod(0));
    world.continue_all();
    world.pass(3);
    // It goes on to acknowledge, and the second does not.
    world.stop_process(1);
    world.pass(3);
    for ordinal in 2..5 {
        world.wipe(ordinal);
    }
    world.continue_all();
    world.settle();
    assert_eq!(world.member(0)["status"]["volume"]["lastZxid"], reported);
    world.allow_rescue();
    world.pass(30);
    world.cut_off.clear();
    world.settle();
    world.expect(5);
    assert!(world.voters().contains(&1) && !world.voters().contains(&2), "{:?}", world.voters());
}

/// The configuration of the one that goes on has the version of that which names the lost.
#[test]
fn an_ensemble_that_was_rescued_is_the_one_that_serves() {
    let mut world = World::settled(3);
    world.wipe(1);
    world.wipe(2);
    world.settle();
    world.allow_rescue();
    // No server can be started in the place of the others.
    world.unlucky.extend([pod(1), pod(2)]);
    world.pass(60);
    assert_eq!(world.voters(), [1], "{}", world.last_words());
    let service = world.status()["service"].clone();
    assert_eq!(service["active"], json!(true), "{}", world.last_words());
    assert_eq!(service["nodes"].as_array().unwrap().len(), 1, "{service}");
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
}
