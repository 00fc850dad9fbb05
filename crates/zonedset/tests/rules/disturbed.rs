//! Every write may be the last one of a process, or be lost: the end is the same.

use crate::world::{World, a_spec, with, with_image};
use palladion_plan::Verdict::{Failing, Passing};
use palladion_plan::sim::faults::Fault;
use serde_json::{Value, json};

/// What counts of an end.
fn end(world: &World) -> (Vec<String>, Vec<String>, Value, Value, Vec<String>) {
    let status = world.status();
    (
        world.sets(),
        world.images(),
        status["rollout"].clone(),
        status["ready"].clone(),
        world.active(),
    )
}

/// Run a story without a fault, then with each fault at each of its writes.
fn disturbed(begin: impl Fn() -> World, story: impl Fn(&mut World)) {
    let mut calm = begin();
    let before = calm.faults.writes();
    story(&mut calm);
    let writes = calm.faults.writes();
    let wanted = end(&calm);
    assert!(writes > before, "the story should write something");
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost, Fault::Unavailable] {
        for at in before..writes {
            let mut world = begin();
            world.faults.plan(at, fault);
            story(&mut world);
            assert!(world.faults.is_over(), "{fault:?} at write {at} did not happen");
            for _ in 0..5 {
                world.recover();
                world.pass(61);
            }
            assert_eq!(end(&world), wanted, "{fault:?} at write {at}");
            assert!(world.most_active <= 1, "{fault:?} at write {at}: two were active");
        }
    }
}

#[test]
fn creation() {
    disturbed(|| World::new(a_spec()), World::settle);
}

/// A rollout of a settled set to another image.
fn a_rollout(spec: impl Fn() -> Value) {
    disturbed(
        || World::settled(spec()),
        |world| {
            world.set_spec(with_image(spec(), "good:2"));
            world.settle();
        },
    );
}

#[test]
fn a_partitioned_rollout() {
    a_rollout(a_spec);
}

#[test]
fn a_versioned_rollout() {
    a_rollout(|| with(a_spec(), "/rollout", json!("Versioned")));
}

#[test]
fn a_recreation() {
    a_rollout(|| with(a_spec(), "/rollout", json!("Recreate")));
}

#[test]
fn a_fail_over() {
    let spec = || {
        with(
            a_spec(),
            "/activePassiveProbes",
            json!({ "c": { "exec": { "command": ["/active"] } } }),
        )
    };
    disturbed(
        || World::settled(spec()),
        |world| {
            world.answer("web-z0-0", Passing);
            world.recover();
            world.answer("web-z0-0", Failing);
            world.answer("web-z1-0", Passing);
            for _ in 0..3 {
                world.recover();
                world.pass(61);
            }
        },
    );
}

#[test]
fn another_service_name() {
    disturbed(
        || World::settled(a_spec()),
        |world| {
            world.set_spec(with(a_spec(), "/template/spec/serviceName", json!("other")));
            world.settle();
        },
    );
}
