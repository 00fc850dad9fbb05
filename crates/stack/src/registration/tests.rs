//! A service that is called, loses answers, is away and forgets, and the entries
//! that are kept of it. It takes every call that registers for a new one, so that
//! whoever is registered twice is seen.

mod disturbed;
mod world;

use super::*;
use palladion_api::registration::{Cause, EntryState};
use world::{World, pod, three};

#[test]
fn all_wait_for_the_service_and_are_registered_once_it_is_there() {
    let mut world = World::new(&three());
    world.target = Target::Nowhere;
    world.pass(10);
    assert!(world.calls.is_empty());
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Queued));
    world.target = Target::Active;
    world.pass(2);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
    world.pass(600);
    assert_eq!(world.calls.len(), 3, "at rest nobody is called");
}

#[test]
fn a_call_is_recorded_before_it_is_sent_and_sent_until_it_is_answered() {
    let mut world = World::new(&three()[..1]);
    world.record();
    assert_eq!(world.calls, [], "nothing is sent that is not recorded");
    assert_eq!(world.entries[0].state, EntryState::Registering);
    let call = world.entries[0].call.clone().expect("a call is under way");
    world.silent = true;
    for _ in 0..3 {
        // A new operator each time, which knows no more than what is recorded.
        world.restart();
        world.decide();
        assert_eq!(world.entries[0].call.as_ref(), Some(&call), "it is the same call");
    }
    assert_eq!(world.calls.len(), 3);
    world.wanted.clear();
    world.decide();
    assert_eq!(world.entries[0].call.as_ref(), Some(&call), "its end is waited for");
}

#[test]
fn a_lost_answer_is_asked_again_and_nobody_is_lost() {
    let mut world = World::new(&three());
    world.lose = 2;
    world.pass(10);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
    assert_eq!(world.doubles(), ["a", "b"], "without lookup a call that was lost is repeated");
}

#[test]
fn nobody_is_registered_twice_by_a_service_that_can_be_asked() {
    let mut world = World::looking(&three());
    world.lose = 7;
    world.pass(30);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert_eq!(world.doubles(), [] as [&str; 0]);
    let asks: Vec<CallKind> = world.of("a").collect();
    assert_eq!(asks[0], CallKind::Lookup, "the service is asked first: {asks:?}");
}

#[test]
fn who_is_there_already_is_not_registered_again() {
    let mut world = World::looking(&three());
    world.register("b");
    world.pass(2);
    assert_eq!(world.of("b").collect::<Vec<_>>(), [CallKind::Lookup]);
    assert_eq!(world.states()[1], ("b", EntryState::Registered));
    assert_eq!(world.names(), ["a", "b", "c"]);
}

#[test]
fn a_new_operator_asks_what_became_of_the_last_ones_calls() {
    let mut world = World::looking(&three()[..1]);
    world.decide();
    world.decide();
    assert_eq!(world.of("a").last(), Some(CallKind::Lookup));
    // The registration is recorded; the operator sends it and dies.
    world.silent = true;
    world.send_open();
    assert_eq!(world.names(), ["a"]);
    world.silent = false;
    world.restart();
    world.pass(2);
    assert_eq!(world.states(), [("a", EntryState::Registered)]);
    assert_eq!(world.doubles(), [] as [&str; 0]);
}

#[test]
fn what_is_given_up_is_asked_for_again() {
    let mut world = World::looking(&three()[..1]);
    world.decide();
    world.decide();
    world.silent = true;
    world.send_open();
    world.silent = false;
    world.target = Target::Nowhere;
    world.decide();
    assert_eq!(world.entries[0].call, None);
    world.target = Target::Active;
    world.pass(2);
    assert_eq!(world.states(), [("a", EntryState::Registered)]);
    assert_eq!(world.doubles(), [] as [&str; 0]);
}

#[test]
fn questions_that_are_open_when_lookup_is_taken_out_stop_nobody() {
    let mut all: Vec<Wanted> = (0..4).map(|n| pod(&format!("q{n}"), "10.1.0.1")).collect();
    let mut world = World::looking(&all);
    world.resync = Some(SignedDuration::from_secs(60));
    world.pass(2);
    world.now += SignedDuration::from_secs(61);
    world.silent = true;
    world.decide();
    let questions = world.entries.iter().filter(|entry| entry.call.is_some()).count();
    assert_eq!(questions, AT_ONCE, "all that may be under way are questions");
    (world.lookup, world.silent) = (Lookup::Impossible, false);
    all.push(pod("new", "10.1.0.9"));
    world.wanted = all;
    world.pass(5);
    assert!(world.entries.iter().all(|entry| entry.call.is_none()));
    assert!(world.names().contains(&"new"), "{:?}", world.entries);
    assert_eq!(world.doubles(), [] as [&str; 0]);
}

#[test]
fn a_pod_that_restarts_is_the_same_and_one_that_is_gone_is_taken_out_later() {
    let mut world = World::new(&three());
    world.pass(2);
    world.wanted.remove(1);
    world.pass(30);
    world.wanted = three();
    world.pass(60);
    assert_eq!(world.count(CallKind::Deregister), 0, "it came back in time");
    world.wanted.remove(1);
    world.pass(59);
    assert_eq!(world.names(), ["a", "b", "c"]);
    world.pass(3);
    assert_eq!(world.names(), ["a", "c"]);
    assert_eq!(world.entries.len(), 2);
}

#[test]
fn one_that_nobody_has_called_for_is_forgotten() {
    let mut world = World::new(&three());
    world.target = Target::Away;
    world.pass(2);
    world.wanted.clear();
    world.pass(1);
    assert!(world.entries.is_empty());
}

#[test]
fn another_address_of_a_name_comes_after_the_removal_of_the_old_one() {
    let mut world = World::new(&three());
    world.pass(2);
    world.wanted[0].address = "10.0.0.9".into();
    world.pass(5);
    let of_a: Vec<CallKind> = world.of("a").collect();
    assert_eq!(of_a, [CallKind::Register, CallKind::Deregister, CallKind::Register]);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert_eq!(world.entries.len(), 3);
}

#[test]
fn another_call_takes_a_pod_out_and_in_again() {
    for mut world in [World::new(&three()[..1]), World::looking(&three()[..1])] {
        world.pass(2);
        world.wanted[0].hash = Some("h2".into());
        world.pass(5);
        assert_eq!((world.count(CallKind::Deregister), world.count(CallKind::Register)), (1, 2));
        assert_eq!(world.entries[0].hash.as_deref(), Some("h2"));
        let calls = world.calls.len();
        world.pass(500);
        assert_eq!(world.calls.len(), calls);
        assert_eq!(world.doubles(), [] as [&str; 0]);
    }
}

#[test]
fn a_removal_that_fails_is_tried_again_before_the_pod_is_registered_otherwise() {
    let mut world = World::looking(&three()[..1]);
    world.pass(2);
    world.wanted[0].hash = Some("h2".into());
    world.broken = vec!["a".into()];
    world.pass(5);
    assert_eq!(world.states(), [("a", EntryState::Deregistering)]);
    assert_eq!(world.entries[0].cause, Some(Cause::Refused));
    assert_eq!(world.entries[0].hash.as_deref(), Some("h1"), "as it is registered");
    world.broken.clear();
    world.pass(61);
    assert_eq!(world.count(CallKind::Register), 2);
    assert_eq!(world.entries[0].hash.as_deref(), Some("h2"));
    assert_eq!(world.entries[0].cause, None);
}

#[test]
fn one_whose_call_cannot_be_made_yet_waits() {
    let mut world = World::new(&three());
    world.wanted[0].hash = None;
    world.pass(5);
    assert_eq!(world.names(), ["b", "c"]);
    world.wanted[0].hash = Some("h1".into());
    world.pass(2);
    assert_eq!(world.names(), ["a", "b", "c"]);
    // A restart takes its address away for a moment: it stays what it is.
    world.wanted[0].hash = None;
    world.pass(5);
    assert_eq!(world.calls.len(), 3);
}

#[test]
fn one_that_fails_is_tried_less_and_less_and_blocks_nobody() {
    let mut all: Vec<Wanted> = (0..8).map(|n| pod(&format!("bad{n}"), "10.1.0.1")).collect();
    all.extend(three());
    let mut world = World::new(&all);
    world.broken = (0..8).map(|n| format!("bad{n}")).collect();
    world.pass(10);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert!(world.most <= AT_ONCE, "{} at once", world.most);
    world.pass(600);
    let of_one = world.of("bad0").count();
    assert!((10..=18).contains(&of_one), "{of_one} calls in ten minutes");
    let failed = world.entries.iter().find(|e| e.name == "bad0").expect("is there");
    assert_eq!(failed.message.as_deref(), Some("it answered 500"));
    world.broken.clear();
    world.pass(61);
    assert_eq!(world.names().len(), 11);
    assert!(world.entries.iter().all(|e| e.message.is_none() && e.attempts == 0));
}

#[test]
fn a_service_that_has_forgotten_is_told_again_where_it_can_be_asked() {
    let mut world = World::looking(&three());
    world.resync = Some(SignedDuration::from_secs(600));
    world.pass(2);
    world.forget();
    world.pass(590);
    assert!(world.names().is_empty());
    world.pass(20);
    assert_eq!(world.names(), ["a", "b", "c"]);
    let before = world.calls.len();
    world.broken = vec!["a".into()];
    world.pass(610);
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
    assert_eq!(world.calls.len(), before + 3, "a question that fails puts nobody in doubt");
}

#[test]
fn a_removal_waits_while_the_service_is_away() {
    let mut world = World::new(&three()[..1]);
    world.pass(2);
    (world.target, world.wanted) = (Target::Away, Vec::new());
    world.pass(200);
    assert_eq!(world.entries.len(), 1, "it is not forgotten");
    world.target = Target::Active;
    world.pass(2);
    assert!(world.entries.is_empty() && world.names().is_empty());
}

#[test]
fn a_value_that_the_removal_needs_is_asked_for() {
    let mut world = World::looking(&three()[..1]);
    world.lookup = Lookup::Possible(["id".to_string()].into());
    world.brings_no_id = true;
    world.pass(2);
    let asked = [CallKind::Lookup, CallKind::Register, CallKind::Lookup];
    assert_eq!(world.of("a").collect::<Vec<_>>(), asked);
    assert_eq!(world.entries[0].captured["id"], "1", "the answer to the registration had none");
    // Its registration was lost, and so was what it is called there.
    world.entries[0].captured.clear();
    world.entries[0].state = EntryState::Failed;
    world.wanted.clear();
    world.pass(62);
    let last: Vec<CallKind> = world.of("a").skip(3).collect();
    assert_eq!(last, [CallKind::Lookup, CallKind::Deregister]);
}

#[test]
fn no_more_are_held_than_a_status_can_hold() {
    let all: Vec<Wanted> = (0..1005).map(|n| pod(&format!("p{n}"), "10.1.0.1")).collect();
    let mut world = World::new(&all);
    world.target = Target::Away;
    assert_eq!(world.record().left_out, 5);
    assert_eq!(world.entries.len(), 1000);
}
