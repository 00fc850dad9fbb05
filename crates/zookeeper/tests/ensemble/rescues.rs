//! Rescues: a majority is lost, and a user lets the rest go on.

use super::acts::pod;
use super::world::{NAMESPACE, World};
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::{Machine, Mount};
use palladion_zookeeper::resources as kinds;
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

/// Three of five are lost, and of the two that are left one cannot report: whether it has the only
/// copy of a write nobody knows.
fn one_of_two_is_away() -> (World, String) {
    let mut world = World::on_machines_of_their_own(5);
    let machine = world.node_of(4).unwrap();
    world.stop_process(3);
    world.pass(3);
    world.kube.set_machine(&mut world.store, &machine, Machine::Down);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.continue_all();
    world.pass(120);
    (world, machine)
}

impl World {
    /// By a person's word the rest is gone.
    fn only_what_this_one_has_is_left(&mut self, ordinal: i32) {
        let data = self.disk(ordinal).content.data.clone().unwrap();
        let acknowledged = &mut self.ensemble.acknowledged;
        let before = acknowledged.len();
        acknowledged.retain(|write| data.log.values().flatten().any(|has| has == write));
        assert!(acknowledged.len() < before, "there was something that only others had");
    }

    /// What a person runs where a machine is off for good.
    fn force_delete(&mut self, ordinal: i32) {
        self.tell(&format!("the pod of {} is deleted by force", pod(ordinal)));
        self.store.remove(&ObjectKey::new(kinds::POD, NAMESPACE, &pod(ordinal)));
    }
}

#[test]
fn a_rescue_that_waits_for_a_voter_says_for_whom_why_and_how_it_goes_on() {
    let (mut world, machine) = one_of_two_is_away();
    assert_eq!(world.status()["ask"], Value::Null, "{}", world.last_words());
    let said = world.condition("Degraded");
    let volume = world.member(4)["spec"]["volumeID"].as_str().unwrap().to_string();
    let why = format!("demo-zk-4 has not reported its last transaction, because Node {machine}");
    assert!(said.starts_with("True MajorityLost") && said.contains(&why), "{said}");
    let command = format!(
        "kubectl annotate -n {NAMESPACE} servicemember demo-zk-4 --overwrite palladion.dev/replace={volume}"
    );
    assert!(said.contains(&command), "{said}");
    // It is back with what the other has not.
    world.kube.set_machine(&mut world.store, &machine, Machine::Up);
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.contains("to let member demo-zk-4"), "{said}");
    world.allow_rescue();
    world.settle();
    world.expect(5);
    assert!(world.voters().contains(&5), "{:?}", world.voters());
}

/// Its machine never comes back, and a person says so by the name of the volume.
#[test]
fn a_rescue_goes_on_without_a_voter_whose_volume_a_person_names() {
    let (mut world, machine) = one_of_two_is_away();
    let said = world.condition("Degraded");
    assert!(said.contains("kubectl delete pod -n coordination demo-zk-4 --force"), "{said}");
    // By its last word it serves: it may be cut off from the API server alone.
    world.give_up_volume(4);
    world.pass(120);
    assert!(world.condition("Degraded").contains("ReplaceRefused"), "{}", world.last_words());
    assert_eq!(world.status()["ask"], Value::Null, "{}", world.last_words());
    world.force_delete(4);
    world.only_what_this_one_has_is_left(3);
    world.pass(120);
    world.allow_rescue();
    world.pass(300);
    assert!(world.voters().contains(&4), "{:?}: {}", world.voters(), world.last_words());
    world.kube.set_machine(&mut world.store, &machine, Machine::Up);
    world.settle();
    world.expect(5);
    assert!(!world.voters().contains(&5), "{:?}", world.voters());
}

/// Its agent says what is the matter with its volume.
#[test]
fn a_rescue_that_waits_for_a_volume_that_is_not_mounted_says_so() {
    let mut world = World::settled(5);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.disk(4).mount = Mount::Missing;
    let uid = world.uid(4).unwrap();
    world.ensemble.stop(&uid);
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(
        said.contains("demo-zk-4 has not reported") && said.contains("is not mounted"),
        "{said}"
    );
    world.disk(4).mount = Mount::Mounted;
    world.settle();
    world.allow_rescue();
    world.settle();
    world.expect(5);
}

/// The last one, by mistake: nobody would be left to go on.
#[test]
fn where_no_voter_is_left_that_is_said_and_a_volume_that_was_named_by_mistake_comes_back() {
    let mut world = World::on_machines_of_their_own(3);
    let machine = world.node_of(2).unwrap();
    world.kube.set_machine(&mut world.store, &machine, Machine::Down);
    world.wipe(0);
    world.wipe(1);
    world.pass(60);
    world.force_delete(2);
    world.give_up_volume(2);
    world.pass(60);
    let said = world.condition("Degraded");
    assert!(said.contains("no other server votes"), "{said}");
    let patch = json!({ "metadata": { "annotations": { "palladion.dev/replace": null } } });
    world.patch_member(&pod(2), &patch);
    world.kube.set_machine(&mut world.store, &machine, Machine::Up);
    world.settle();
    world.allow_rescue();
    world.settle();
    world.expect(3);
    assert_eq!(world.voters()[0], 3, "{:?}", world.voters());
}
