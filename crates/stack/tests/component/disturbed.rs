//! Every write may be the last one of a process, or be lost, refused or late: the end
//! is the same, and no service starts too early on the way.

mod groups;
mod stacks;

use crate::world::{World, a_spec, with};
use palladion_plan::Mind;
use palladion_plan::sim::faults::Fault;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What becomes of a write, and of the process that sends it.
const FAULTS: [Fault; 6] = [
    Fault::DieBefore,
    Fault::DieAfter,
    Fault::AnswerLost,
    Fault::Unavailable,
    Fault::Freeze,
    Fault::FreezeInFlight,
];

/// What counts of an end for whoever runs pods.
type End = (BTreeMap<String, String>, Vec<[String; 3]>, Value, String);

fn end<M: Mind + Clone + Default>(world: &World<M>) -> End {
    let pod = |name: &String| {
        let labels = ["status", "palladion.dev/config"].map(|key| world.label(name, key));
        let [status, config] = labels;
        [name.clone(), status, config]
    };
    let pods = world.uids().keys().map(pod).collect();
    (world.texts(), pods, world.status()["service"].clone(), world.says("Progressing"))
}

/// Run a story without a fault, then with each fault at each of its writes. How many
/// processes died or stood still on the way.
fn each_write<M: Mind + Clone + Default, E: PartialEq + std::fmt::Debug>(
    begin: impl Fn() -> World<M>,
    story: impl Fn(&mut World<M>),
    end: impl Fn(&World<M>) -> E,
    look: impl Fn(&World<M>, &str),
) -> usize {
    let mut calm = begin();
    let before = calm.faults.writes();
    story(&mut calm);
    let writes = calm.faults.writes();
    let wanted = end(&calm);
    assert!(writes > before, "the story should write something");
    assert!(calm.is_at_rest(), "{}", calm.status());
    let mut ended = 0;
    for fault in FAULTS {
        for at in before..writes {
            let what = format!("{fault:?} at write {at}");
            let mut world = begin();
            world.faults.plan(at, fault);
            story(&mut world);
            assert!(world.faults.is_over(), "{what} did not happen");
            for _ in 0..3 {
                world.recover();
                world.pass(65);
            }
            assert_eq!(end(&world), wanted, "{what}: {}", world.status());
            look(&world, &what);
            ended += world.ended;
        }
    }
    ended
}

/// The same of what runs pods: their services start no more often than this.
fn disturbed<M: Mind + Clone + Default>(
    begin: impl Fn() -> World<M>,
    story: impl Fn(&mut World<M>),
    most_starts: usize,
) {
    let ended = each_write(begin, story, end, |world, what| {
        let starts = world.kubelet.starts.len();
        assert!(starts <= most_starts, "{what}: {starts} starts");
    });
    assert!(ended > 0, "no process ended in its work");
}

/// A process that was frozen wakes up when another has taken over.
fn overtaken<M: Mind + Clone + Default>(
    begin: impl Fn() -> World<M>,
    story: impl Fn(&mut World<M>),
) {
    overtaken_to(begin, story, end);
}

fn overtaken_to<M: Mind + Clone + Default, E: PartialEq + std::fmt::Debug>(
    begin: impl Fn() -> World<M>,
    story: impl Fn(&mut World<M>),
    end: impl Fn(&World<M>) -> E,
) {
    let mut calm = begin();
    let before = calm.faults.writes();
    story(&mut calm);
    let (writes, wanted) = (calm.faults.writes(), end(&calm));
    assert!(writes > before, "the story should write something");
    for fault in [Fault::Freeze, Fault::FreezeInFlight] {
        for at in before..writes {
            let mut world = begin();
            world.faults.plan(at, fault);
            story(&mut world);
            assert!(world.faults.is_over(), "{fault:?} at write {at} did not happen");
            let mut old = world.succeed();
            world.pass(30);
            old.thaw();
            for _ in 0..20 {
                old.step(&mut world.store, &mut world.faults);
            }
            world.pass(130);
            assert_eq!(end(&world), wanted, "{fault:?} at write {at}");
        }
    }
}

fn created(world: &mut World) {
    world.ring(3, 3);
    world.pass(10);
}

fn with_policy(policy: &str) -> Value {
    match policy {
        "Signal" => with(
            a_spec(),
            "/reload",
            json!({ "policy": "Signal", "process": "api", "container": "api" }),
        ),
        policy => with(a_spec(), "/reload", json!({ "policy": policy })),
    }
}

fn grown(world: &mut World) {
    world.ring(4, 4);
    world.pass(25);
}

#[test]
fn creation() {
    disturbed(|| World::new(a_spec()), created, 2);
    overtaken(|| World::new(a_spec()), created);
}

#[test]
fn a_sandbox_restarts() {
    let story = |world: &mut World| {
        world.ring(3, 1);
        world.restart_sandbox("web-0");
        world.pass(10);
        world.ring(3, 3);
        world.pass(10);
    };
    disturbed(|| World::settled(a_spec()), story, 3);
    overtaken(|| World::settled(a_spec()), story);
}

#[test]
fn a_ring_grows_under_restarts() {
    disturbed(|| World::settled(with_policy("Restart")), grown, 4);
    overtaken(|| World::settled(with_policy("Restart")), grown);
}

#[test]
fn a_ring_grows_under_signals() {
    disturbed(|| World::settled(with_policy("Signal")), grown, 2);
    overtaken(|| World::settled(with_policy("Signal")), grown);
}

#[test]
fn a_ring_grows_under_recreation() {
    disturbed(|| World::settled(with_policy("Recreate")), grown, 4);
    overtaken(|| World::settled(with_policy("Recreate")), grown);
}

#[test]
fn a_parameter_of_one_text() {
    let story = |world: &mut World| {
        world.set_spec(with(a_spec(), "/config/parameters/second", json!("b")));
        world.pass(20);
    };
    disturbed(|| World::settled(a_spec()), story, 3);
}

#[test]
fn it_grows_and_shrinks() {
    let story = |world: &mut World| {
        world.set_spec(with(with_policy("Signal"), "/replicas", json!(3)));
        world.pass(15);
        world.set_spec(with(with_policy("Signal"), "/replicas", json!(1)));
        world.pass(15);
    };
    disturbed(|| World::settled(with_policy("Signal")), story, 3);
}
