//! Repairs of everything: one call for each keyspace and member, in which a replica may end, or
//! which a server does not end when it is asked to.

use crate::every::a_ring;
use crate::jobs::{said, task, works};
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::tasks::{ask, entry, status};
use palladion_api::task::{MemberTaskState as State, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";
const OF_B: &str = "demo-dc1-b-0";

/// How often a member was begun.
fn begun(world: &World, member: &str) -> usize {
    world.ring.units.iter().filter(|(name, _)| name == member).count()
}

/// A replica that ends in its middle costs one try, and the next one waits until it is up.
#[test]
fn a_repair_in_which_a_replica_ends_is_tried_once_more_when_all_are_up() {
    let mut world = spread(2, 1);
    ask(&mut world, "work", &task("repair", &json!({})));
    world.until(|w| works(w, FIRST));
    world.ring.failing.insert(FIRST.into());
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.until(|w| entry(w, "work", FIRST).state == State::Interrupted);
    let after = said(&world, "work");
    assert!(after.contains("tried once more"), "{after}");
    world.pass(120);
    assert_eq!(begun(&world, FIRST), 1, "a replica is down: {}", world.last_words());
    assert_eq!(status(&world, "work").phase, Some(TaskPhase::Running), "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    let ended = status(&world, "work");
    assert_eq!(ended.phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(entry(&world, "work", FIRST).tries, 2);
    assert_eq!(entry(&world, "work", LAST).tries, 1);
    world.expect_ring(3);
}

/// What fails by itself fails again, and then the task has failed.
#[test]
fn a_repair_that_fails_twice_has_failed() {
    let mut world = a_ring(2, 1);
    ask(&mut world, "work", &task("repair", &json!({})));
    for tries in 1..=2 {
        world.ring.failing.insert(FIRST.into());
        world.until(|w| begun(w, FIRST) == tries);
        world.until(|w| !works(w, FIRST));
    }
    world.settle();
    let ended = status(&world, "work");
    assert_eq!(ended.phase, Some(TaskPhase::Failed), "{}", world.last_words());
    let first = entry(&world, "work", FIRST);
    assert_eq!((first.state, first.tries), (State::Failed, 2), "{first:?}");
    assert!(first.message.is_some_and(|why| why.contains("disk quota")), "the server's words");
    world.expect_ring(3);
}

/// A turn comes between, and the server of the member at work does not end its repair.
fn left_running() -> World {
    let mut world = a_ring(2, 1);
    world.ring.hanging.insert(FIRST.into());
    world.ring.headstrong.insert(FIRST.into());
    ask(&mut world, "work", &task("repair", &json!({})));
    world.until(|w| works(w, FIRST));
    world.want(OF_B, &json!({ "restartToken": "now" }));
    world.until(|w| {
        w.store.list(kinds::MEMBER).any(|(_, m)| m["status"]["job"]["cause"] == "LeftRunning")
    });
    // What goes on are sessions at those that have copies.
    world.ring.calls.clear();
    world.ring.hanging.clear();
    world.ring.headstrong.clear();
    world.until(|w| !w.end().status["turn"].is_null());
    world.until(|w| w.end().status["turn"].is_null());
    world.pass(300);
    world
}

#[test]
fn a_repair_that_a_server_has_not_ended_is_not_begun_again_beside_it() {
    let mut world = left_running();
    assert_eq!(entry(&world, "work", FIRST).state, State::Interrupted, "{}", world.last_words());
    let waits = said(&world, "work");
    assert!(waits.contains(FIRST) && waits.contains("left running"), "{waits}");
    world.pass(900);
    assert_eq!(begun(&world, FIRST), 1, "{}", world.last_words());
    // The restart of its server ends it.
    world.kill_server(FIRST);
    world.settle();
    assert_eq!(status(&world, "work").phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

/// Neither by the next member, nor by another task, whatever its scope is.
#[test]
fn nothing_is_repaired_beside_what_a_server_has_not_ended() {
    let mut world = left_running();
    for (name, options) in [("other", json!({})), ("due", json!({ "scope": "Due" }))] {
        ask(&mut world, name, &task("repair", &options));
    }
    let mut flush = task("flush", &json!({}));
    flush["members"] = json!([OF_B]);
    ask(&mut world, "flush", &flush);
    world.pass(1500);
    // Who has a part of what is due has asked for a grant, and has none.
    assert!(world.ring.repaired.is_empty(), "{}", world.last_words());
    assert_eq!(begun(&world, FIRST), 1, "{}", world.last_words());
    let other = status(&world, "other").members;
    assert!(other.iter().all(|entry| entry.tries == 0), "{other:?}: {}", world.last_words());
    assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.last_words());
    // Nobody waits for longer than an hour for what may never end.
    for _ in 0..5 {
        world.pass(600);
    }
    world.settle();
    for name in ["work", "other"] {
        assert_eq!(
            status(&world, name).phase,
            Some(TaskPhase::Done),
            "{name}: {}",
            world.last_words()
        );
    }
    world.expect_ring(3);
}

/// A person's flush of that member would take the place of its part, which says so.
#[test]
fn what_says_that_a_server_repairs_still_is_not_overwritten() {
    let mut world = left_running();
    let mut flush = task("flush", &json!({}));
    flush["members"] = json!([FIRST]);
    ask(&mut world, "flush", &flush);
    ask(&mut world, "other", &task("repair", &json!({})));
    world.pass(900);
    assert_eq!(begun(&world, FIRST), 1, "{}", world.last_words());
    let waits = said(&world, "flush");
    assert!(waits.contains("left running"), "{waits}");
    world.kill_server(FIRST);
    world.settle();
    for name in ["work", "flush", "other"] {
        let phase = status(&world, name).phase;
        assert_eq!(phase, Some(TaskPhase::Done), "{name}: {}", world.last_words());
    }
    world.expect_ring(3);
}
