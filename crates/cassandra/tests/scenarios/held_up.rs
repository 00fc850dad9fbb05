//! Tasks of a ring for which nothing is decided: it is paused, or its spec is refused. They
//! say so, and what a user takes back ends.

use crate::copies_elsewhere;
use crate::jobs::{abort, said, task};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::far::HERE;
use crate::tasks::{ask, replace, status};
use palladion_api::reasons::Reason;
use palladion_api::task::{MemberTaskState, TaskPhase};
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";

/// What keeps the operator from deciding anything, and a word of what tasks say then.
fn ways() -> [(Value, &'static str); 2] {
    [(json!({ "paused": true }), "paused"), (json!({ "version": "9.9.9" }), "not accepted")]
}

fn ended(world: &World, name: &str) -> bool {
    status(world, name).phase.is_some_and(TaskPhase::is_final)
}

/// A cleanup, or a repair, of which a member is at a call that does not end by itself.
fn at_work(body: &str, more: &Value) -> World {
    let mut world = spread(2, 1);
    world.ring.hanging.insert(FIRST.into());
    let mut spec = task(body, &json!({}));
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    ask(&mut world, "work", &spec);
    world.until(|w| !w.ring.calls.is_empty());
    world.pass(10);
    world
}

#[test]
fn a_task_that_is_created_while_nothing_is_decided_says_what_it_waits_for_and_is_aborted() {
    for (patch, word) in ways() {
        let mut world = spread(2, 1);
        world.patch_spec(&patch);
        world.pass(10);
        for name in ["first", "second"] {
            ask(&mut world, name, &task("flush", &json!({})));
            world.pass(10);
            assert_eq!(status(&world, name).phase, Some(TaskPhase::Waiting), "{word}");
            assert!(said(&world, name).contains(word), "{}", said(&world, name));
        }
        world.expect_rest();
        abort(&mut world, "first");
        world.until(|w| ended(w, "first"));
        assert_eq!(status(&world, "first").phase, Some(TaskPhase::Aborted));
        assert!(world.ring.units.is_empty(), "nobody has begun");
        world.patch_spec(&json!({ "paused": null, "version": "5.0.5" }));
        world.settle();
        assert_eq!(status(&world, "second").phase, Some(TaskPhase::Done), "{}", world.last_words());
        world.expect_ring(3);
    }
}

#[test]
fn a_task_at_work_goes_on_with_its_member_while_nothing_is_decided_and_then_waits() {
    for (patch, word) in ways() {
        let mut world = spread(2, 1);
        ask(&mut world, "work", &task("compact", &json!({})));
        world.until(|w| !w.ring.calls.is_empty());
        world.patch_spec(&patch);
        world.pass(10);
        let running = format!("compaction of member {FIRST} is running");
        assert!(said(&world, "work").contains(&running), "{}", said(&world, "work"));
        world.pass(300);
        let states: Vec<_> = status(&world, "work").members.iter().map(|m| m.state).collect();
        use MemberTaskState::{Succeeded, Waiting};
        assert_eq!(states, [Succeeded, Waiting, Waiting], "{}", world.last_words());
        assert!(said(&world, "work").contains(word), "{}", said(&world, "work"));
        world.expect_rest();
        world.patch_spec(&json!({ "paused": null, "version": "5.0.5" }));
        world.settle();
        assert_eq!(status(&world, "work").phase, Some(TaskPhase::Done), "{}", world.last_words());
        world.expect_ring(3);
    }
}

#[test]
fn work_is_aborted_while_nothing_is_decided() {
    for (patch, word) in ways() {
        for body in ["cleanup", "repair"] {
            let mut world = at_work(body, &json!({}));
            world.patch_spec(&patch);
            world.pass(10);
            abort(&mut world, "work");
            assert!(world.comes_to(|w| ended(w, "work")), "{word}: {}", world.last_words());
            assert_eq!(status(&world, "work").phase, Some(TaskPhase::Aborted), "{body}, {word}");
            assert!(world.ring.calls.is_empty(), "{body}, {word}: {}", world.last_words());
            assert_eq!(world.ring.units.len(), 1, "nobody else has begun");
            world.ring.hanging.clear();
            world.patch_spec(&json!({ "paused": null, "version": "5.0.5" }));
            world.settle();
            world.expect_ring(3);
        }
    }
}

#[test]
fn the_time_of_a_task_passes_while_nothing_is_decided() {
    for (patch, word) in ways() {
        let mut world = at_work("cleanup", &json!({ "activeDeadlineSeconds": 600 }));
        world.patch_spec(&patch);
        world.pass(900);
        assert!(ended(&world, "work"), "{word}: {}", world.last_words());
        let failed = status(&world, "work");
        assert_eq!(failed.phase, Some(TaskPhase::Failed), "{word}: {}", world.last_words());
        assert!(said(&world, "work").starts_with(&Reason::DeadlineExceeded.to_string()));
        assert!(world.ring.calls.is_empty(), "{word}: {}", world.last_words());
    }
}

/// Nobody would say later that copies lack rows.
#[test]
fn copies_that_a_task_has_set_while_nothing_is_decided_are_repaired_afterwards() {
    for (patch, word) in ways() {
        let mut world = copies_elsewhere::ring(2, 1);
        world.writes.clear();
        ask(&mut world, "here", &copies_elsewhere::change(&["shop"], HERE, 3));
        world.until(|w| !w.ring.units.is_empty());
        world.patch_spec(&patch);
        world.pass(300);
        assert_eq!(status(&world, "here").phase, Some(TaskPhase::Done), "{word}");
        assert_eq!(copies_elsewhere::repairs(&world), 0, "nothing is begun: {word}");
        world.patch_spec(&json!({ "paused": null, "version": "5.0.5" }));
        world.settle();
        assert_eq!(copies_elsewhere::repairs(&world), 3, "{word}: {}", world.last_words());
    }
}

/// A replacement takes a record and turns: it waits, and is taken back where it has none yet.
#[test]
fn a_replacement_waits_while_nothing_is_decided() {
    for (patch, word) in ways() {
        let mut world = spread(2, 1);
        world.break_volume(LAST);
        world.pass(60);
        world.patch_spec(&patch);
        world.pass(10);
        ask(&mut world, "replace-it", &replace(LAST));
        world.pass(10);
        assert_eq!(status(&world, "replace-it").phase, Some(TaskPhase::Waiting), "{word}");
        assert!(said(&world, "replace-it").contains(word), "{}", said(&world, "replace-it"));
        abort(&mut world, "replace-it");
        world.pass(10);
        assert_eq!(status(&world, "replace-it").phase, Some(TaskPhase::Aborted), "{word}");
        assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    }
}
