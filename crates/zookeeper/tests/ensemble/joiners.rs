//! Joiners that vote by the configuration of the others and have not noted it: whatever else is
//! to be done waits for them.

use super::acts::pod;
use super::world::{World, cluster_key};
use palladion_plan::Subresource;
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

impl World {
    /// From now on agents report what they see at this moment, until somebody asks them.
    fn nobody_looks(&mut self) {
        let seen = self.kube.pods(&self.store).into_iter();
        let seen = seen.filter_map(|pod| Some((pod.key.name, self.view(pod.uid.as_str())?)));
        // What is known of one that is in touch with nobody changes all the time.
        self.looked = seen.filter(|(_, view)| view.mode.is_some()).collect();
    }

    /// The member that was ordered to let server 4 vote does it.
    fn the_order_is_carried_out(&mut self) {
        self.slow.clear();
        self.until(|w| w.voters().contains(&4));
    }

    /// Agents look at their servers, when another turn may have begun that was given before.
    fn has_looked_again(&mut self, is_forgotten: bool) {
        if is_forgotten {
            let no_turn = json!({ "status": { "turn": null } });
            self.store.merge(&cluster_key(), &no_turn, Subresource::Status).unwrap();
            self.until(|w| w.status()["turn"].is_object());
        }
        self.pass(5);
        self.looked.clear();
    }

    /// So long it takes at most, and not as many rounds as a history has.
    fn fourth_serves_soon(&mut self) {
        self.pass(240);
        let serves = self.uid(3).is_some_and(|uid| self.serves_as_member(&uid));
        assert!(serves, "{}", self.last_words());
    }
}

/// The others let it vote, and its pod ends, before anybody says so.
fn stranded() -> World {
    let mut world = ordered();
    world.nobody_looks();
    world.the_order_is_carried_out();
    world.delete(kinds::POD, &pod(3));
    world
}

/// The turn ends with its pod where somebody has taken it off the record, and goes to another
/// before anybody says that the first one votes. What that one waits for is the server that has
/// no turn.
#[test]
fn a_joiner_that_votes_goes_on_before_another_one_joins() {
    for is_forgotten in [false, true] {
        let mut world = stranded();
        world.has_looked_again(is_forgotten);
        world.fourth_serves_soon();
        world.settle();
        world.expect(5);
    }
}

/// So does a restart that has not begun.
#[test]
fn a_joiner_that_votes_goes_on_before_a_restart() {
    for is_forgotten in [false, true] {
        let mut world = stranded();
        world.cut_off.insert(pod(4));
        world.patch_spec(&json!({ "restartToken": "x" }));
        world.has_looked_again(is_forgotten);
        world.fourth_serves_soon();
        world.cut_off.clear();
        world.settle();
        world.expect(5);
        assert_eq!(world.member(0)["status"]["server"]["restartToken"], "x");
    }
}

/// A new leader puts the question anew while the order may be carried out yet.
#[test]
fn a_loss_ends_no_join_whose_change_was_ordered_by_an_earlier_leader() {
    let mut world = ordered();
    world.continue_all();
    world.operators.clear();
    world.wipe(2);
    world.until(|w| !w.member(2)["spec"]["replace"].is_null());
    world.pass(5);
    assert_eq!(world.status()["turn"]["step"], json!("Join"), "{}", world.last_words());
    world.slow.clear();
    world.settle();
    world.expect(5);
}

/// It votes and has failed; its next pod starts it, if it gets the turn.
#[test]
fn a_joiner_that_votes_goes_on_before_a_lost_member_is_replaced() {
    for ordinal in [1, 2] {
        let mut world = ordered();
        world.the_order_is_carried_out();
        world.unlucky.insert(pod(3));
        world.delete(kinds::POD, &pod(3));
        world.until(|w| w.status()["turn"].is_null());
        world.wipe(ordinal);
        world.until(|w| !w.member(ordinal)["spec"]["replace"].is_null());
        world.unlucky.clear();
        world.delete(kinds::POD, &pod(3));
        world.fourth_serves_soon();
        world.settle();
        world.expect(5);
    }
}

/// Also where that one has the turn, and has come as far as it can without an answer of this one.
#[test]
fn a_replacement_that_waits_for_a_joiner_that_votes_gives_way_to_it() {
    for is_forgotten in [false, true] {
        let mut world = stranded();
        world.wipe(2);
        world.has_looked_again(is_forgotten);
        world.fourth_serves_soon();
        world.settle();
        world.expect(5);
    }
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
