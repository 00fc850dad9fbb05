//! Active and passive pods.

use crate::world::{World, a_spec, with};
use palladion_plan::Reason;
use palladion_plan::Verdict::{Failing, Passing};
use palladion_plan::sim::faults::Fault;
use serde_json::{Value, json};

fn probed() -> Value {
    with(
        a_spec(),
        "/activePassiveProbes",
        json!({ "c": { "exec": { "command": ["/active"] }, "periodSeconds": 1 } }),
    )
}

fn world() -> World {
    let mut world = World::settled(probed());
    assert!(world.active().is_empty(), "nobody is active before a probe has passed");
    for pod in ["web-z0-0", "web-z0-1", "web-z1-0", "web-z1-1"] {
        world.answer(pod, Passing);
    }
    world
}

#[test]
fn exactly_one_pod_is_active_and_stays_so() {
    let mut world = world();
    assert_eq!(world.active(), ["web-z0-0"]);
    assert_eq!(world.status()["activePods"], "web-z0-0");
    assert!(world.shows(Reason::ActivePod), "{:?}", world.reasons());
    world.answer("web-z1-0", Failing);
    world.answer("web-z1-0", Passing);
    assert_eq!(world.active(), ["web-z0-0"]);
    assert_eq!(world.most_active, 1);
}

#[test]
fn the_next_takes_over_when_the_probe_fails_and_there_are_never_two() {
    let mut world = world();
    world.answer("web-z0-0", Failing);
    assert_eq!(world.active(), ["web-z0-1"]);
    world.answer("web-z0-0", Passing);
    assert_eq!(world.active(), ["web-z0-1"], "it is not given back");
    assert_eq!(world.most_active, 1);
}

#[test]
fn the_next_takes_over_when_the_active_pod_is_gone() {
    let mut world = world();
    world.remove_pod("web-z0-0");
    world.answers.lock().unwrap().remove("web-z0-0");
    world.settle();
    assert_eq!(world.active(), ["web-z0-1"]);
    assert_eq!(world.most_active, 1);
}

#[test]
fn a_fresh_process_leaves_the_label_as_it_was() {
    let mut world = world();
    world.answers.lock().unwrap().clear();
    world.pass(600);
    assert_eq!(world.active(), ["web-z0-0"]);
}

#[test]
fn a_probe_that_cannot_be_asked_moves_no_label_and_is_told() {
    let mut world = world();
    world.answer("web-z0-0", None);
    assert_eq!(world.active(), ["web-z0-0"]);
    assert_eq!(world.condition("Degraded")["reason"], "ProbeUnanswered");
    let message = world.condition("Degraded")["message"].to_string();
    assert!(message.contains("web-z0-0: no right to ask"), "{message}");
}

#[test]
fn while_nobody_passes_nobody_is_active_and_it_is_said() {
    let mut world = world();
    for pod in ["web-z0-0", "web-z0-1", "web-z1-0", "web-z1-1"] {
        world.answer(pod, Failing);
    }
    assert!(world.active().is_empty());
    assert_eq!(world.condition("Degraded")["reason"], "NoActivePod");
    world.answer("web-z1-1", Passing);
    assert_eq!(world.active(), ["web-z1-1"]);
}

#[test]
fn with_all_passing_every_passing_pod_is_active() {
    let mut world = World::settled(with(probed(), "/activePassiveMode", json!("AllPassing")));
    for pod in ["web-z0-0", "web-z1-1"] {
        world.answer(pod, Passing);
    }
    assert_eq!(world.active(), ["web-z0-0", "web-z1-1"]);
    world.answer("web-z0-0", Failing);
    assert_eq!(world.active(), ["web-z1-1"]);
}

#[test]
fn without_probes_the_label_is_taken_away() {
    let mut world = world();
    world.set_spec(a_spec());
    world.settle();
    assert!(world.active().is_empty());
}

#[test]
fn a_label_that_a_person_gives_is_taken_away_again() {
    let mut world = world();
    world.answer("web-z0-0", Failing);
    world.answer("web-z0-0", Passing);
    assert_eq!(world.active(), ["web-z0-1"]);
    world.label_active("web-z0-0");
    world.settle();
    assert_eq!(world.active(), ["web-z0-1"]);
}

#[test]
fn a_leader_that_was_frozen_labels_nobody_beside_its_successor() {
    for at in 0..40 {
        let mut world = World::settled(probed());
        let first = world.faults.writes() + at;
        world.faults.plan(first, Fault::Freeze);
        world.answer("web-z0-0", Passing);
        if !world.faults.is_over() {
            assert!(at > 2, "the story should have some writes");
            return;
        }
        let mut frozen = world.succeed();
        world.answer("web-z0-0", Failing);
        world.answer("web-z1-0", Passing);
        std::mem::swap(&mut world.operator, &mut frozen);
        world.operator.thaw();
        world.finish_writes();
        assert!(world.most_active <= 1, "two were active, frozen at write {at}");
        std::mem::swap(&mut world.operator, &mut frozen);
        world.pass(61);
        assert_eq!(world.active(), ["web-z1-0"], "frozen at write {at}");
    }
    panic!("the story does not end");
}
