//! Members that are at the repair of what is due when they stop serving, or are cut off:
//! what they were granted is taken back, and all that has no copy there is repaired.

use crate::cover::{cover, times, without};
use crate::nodes::spread;
use crate::not_ready::live;
use crate::sim::World;
use crate::sim::rows::RANGES;
use crate::sim::world::Link;
use crate::tasks::{ask, status};
use palladion_api::task::{MemberTaskState as State, TaskMember, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::Subresource;
use serde_json::json;
use std::collections::BTreeSet;

pub const DUE: &str = "due";
/// Its repairs do not end by themselves.
pub const MEMBER: &str = "demo-dc1-a-1";

/// A ring of four, of which a member is at a range that takes long.
pub fn at_work() -> (World, String) {
    let mut world = spread(2, 2);
    world.writes.clear();
    world.ring.hanging.insert(MEMBER.into());
    let due = json!({ "cluster": "demo", "repair": { "scope": "Due" }, "onFailure": "Continue" });
    ask(&mut world, DUE, &due);
    world.until(hangs);
    let left = without(&world, MEMBER);
    assert!(!repaired(&world).is_superset(&left), "others have something left to do");
    (world, MEMBER.to_string())
}

pub fn hangs(world: &World) -> bool {
    let servers = &world.ring.servers;
    world.ring.calls.keys().any(|pod| servers.get(pod).is_some_and(|s| s.member == MEMBER))
}

pub fn entry(world: &World, member: &str) -> TaskMember {
    crate::tasks::entry(world, DUE, member)
}

pub fn repaired(world: &World) -> BTreeSet<u32> {
    world.ring.repaired.iter().map(|one| one.range).collect()
}

fn questions(world: &World, member: &str) -> usize {
    let asked = |write: &&String| write.contains(&format!("ask member {member} for its view"));
    world.writes.iter().filter(asked).count()
}

/// `nodetool disablebinary`, `disablegossip`: its server runs, and is nobody's replica.
#[test]
fn whoever_stops_serving_in_a_repair_gives_its_part_back_after_ten_minutes() {
    let (mut world, member) = at_work();
    world.ring.closed.insert(member.clone());
    world.pass(300);
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    world.pass(600);
    let given_back = entry(&world, &member);
    assert_eq!(given_back.state, State::Interrupted, "{}", world.last_words());
    assert_eq!((given_back.tries, given_back.reason.as_deref()), (0, Some("Interrupted")));
    world.pass(3600);
    assert!(repaired(&world).is_superset(&without(&world, &member)), "{}", world.last_words());
    world.ring.closed.clear();
    world.ring.hanging.clear();
    world.settle();
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(repaired(&world), (0..RANGES).collect());
    world.expect_ring(4);
}

/// Its pod and its Node are Ready, and what its agent said last is that it repairs.
#[test]
fn whoever_is_cut_off_in_a_repair_is_asked_and_holds_up_nobody() {
    let (mut world, member) = at_work();
    world.cut_off(&member);
    world.agent_is_cut(&member, Link::Cut);
    world.pass(300);
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    assert_eq!(questions(&world, &member), 1, "{}", world.last_words());
    world.pass(900);
    let given_back = entry(&world, &member);
    assert_eq!(given_back.state, State::Interrupted, "{}", world.last_words());
    assert_eq!((given_back.tries, given_back.reason.as_deref()), (0, Some("Interrupted")));
    world.pass(3600);
    assert!(repaired(&world).is_superset(&without(&world, &member)), "{}", world.last_words());
    world.ring.hanging.clear();
    world.reconnect();
    world.agents_are_back();
    world.settle();
    // What others have left out for want of its copies waits for the next task.
    assert!(status(&world, DUE).phase.is_some_and(TaskPhase::is_final), "{}", world.last_words());
    assert_eq!(entry(&world, &member).state, State::Succeeded, "{}", world.last_words());
    ask(&mut world, "next", &json!({ "cluster": "demo", "repair": { "scope": "Due" } }));
    world.settle();
    assert_eq!(status(&world, "next").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(repaired(&world), (0..RANGES).collect());
    world.expect_ring(4);
}

/// Its server serves, and nobody sees it down. Nothing tells of it but its silence.
#[test]
fn whoever_loses_the_api_server_alone_in_a_repair_gives_its_part_back_an_hour_after_it_was_asked() {
    let (mut world, member) = at_work();
    world.agent_is_cut(&member, Link::Cut);
    world.ring.hanging.clear();
    world.pass(3000);
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    world.pass(1500);
    assert_eq!(questions(&world, &member), 1, "{}", world.last_words());
    // Others see its server up: nobody repairs with its copies before its agent has ended.
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    live(&mut world, 3000);
    assert_eq!(questions(&world, &member), 1, "{}", world.last_words());
    assert_eq!(entry(&world, &member).state, State::Interrupted, "{}", world.last_words());
    for _ in 0..12 {
        world.pass(600);
    }
    // All but what it would have to repair itself.
    let own: BTreeSet<u32> =
        (0..RANGES).filter(|range| !repaired(&world).contains(range)).collect();
    assert!(own.len() < RANGES as usize / 2, "{own:?}: {}", world.last_words());
    world.agents_are_back();
    world.settle();
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(repaired(&world), (0..RANGES).collect());
    world.expect_ring(4);
}

/// It answers, so that what it says of its part counts, also if that is nothing.
#[test]
fn whoever_is_seen_down_and_answers_is_not_interrupted() {
    let (mut world, member) = at_work();
    world.cut_off(&member);
    for _ in 0..4 {
        world.pass(400);
        assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    }
    assert!((2..=4).contains(&questions(&world, &member)), "{}", questions(&world, &member));
    // Its agent is lost after it has answered: that is noticed, too.
    world.agent_is_cut(&member, Link::Cut);
    world.pass(1300);
    assert_eq!(entry(&world, &member).state, State::Interrupted, "{}", world.last_words());
}

/// A segment may take half an hour.
#[test]
fn a_repair_that_stands_still_is_not_interrupted_while_its_member_serves() {
    let (mut world, member) = at_work();
    world.pass(1700);
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    assert_eq!(questions(&world, &member), 0, "nobody doubts it");
    assert!(entry(&world, &member).silent_since.is_none());
}

/// Neither that task is kept from its end, nor the next one from its work, by what a member
/// said that nobody hears.
#[test]
fn the_next_repair_of_a_schedule_goes_on_without_whoever_was_cut_off() {
    let mut world = spread(2, 2);
    world.ring.hanging.insert(MEMBER.into());
    cover(&mut world, "always", &json!({}));
    world.until(hangs);
    world.cut_off(MEMBER);
    world.agent_is_cut(MEMBER, Link::Cut);
    let task = world.names(kinds::TASK)[0].clone();
    world.pass(2 * 3600);
    let ended = status(&world, &task);
    assert_eq!(ended.phase, Some(TaskPhase::Partial), "{}", world.last_words());
    let of_it = ended.members.iter().find(|entry| entry.name.as_str() == MEMBER);
    assert_eq!(of_it.map(|entry| entry.state), Some(State::Skipped), "{}", world.last_words());
    for _ in 0..7 * 24 {
        world.pass(3600);
    }
    let often = times(&world.ring.repaired);
    for range in without(&world, MEMBER) {
        assert!(often.get(&range).is_some_and(|often| *often >= 2), "{range}: {often:?}");
    }
}

/// Its agent gives up a range after half an hour, and its server does not end the repair of it
/// within five minutes: sessions may run on at those that have copies.
fn left_running() -> (World, String) {
    let (mut world, member) = at_work();
    world.ring.headstrong.insert(member.clone());
    world.pass(1810);
    assert_eq!(entry(&world, &member).state, State::Running, "{}", world.last_words());
    world.pass(310);
    world.pass(10);
    let left = entry(&world, &member);
    assert_eq!(left.state, State::Failed, "{}", world.last_words());
    assert_eq!(left.reason.as_deref(), Some("LeftRunning"));
    (world, member)
}

#[test]
fn what_a_server_has_not_ended_is_held_until_the_server_is_restarted() {
    let (mut world, member) = left_running();
    let before = repaired(&world);
    world.pass(1200);
    assert_eq!(repaired(&world), before, "{}", world.last_words());
    world.kill_server(&member);
    world.ring.hanging.clear();
    world.pass(600);
    assert!(repaired(&world).len() > before.len(), "{}", world.last_words());
    world.settle();
    assert!(status(&world, DUE).phase.is_some_and(TaskPhase::is_final), "{}", world.last_words());
    world.expect_ring(4);
}

/// Nor does the operator begin a repair of its own beside it.
#[test]
fn what_a_server_has_not_ended_holds_up_the_pending_repair_of_another_member() {
    let (mut world, member) = left_running();
    let other = palladion_plan::ObjectKey::new(kinds::MEMBER, "default", "demo-dc1-b-0");
    let pending = json!([{ "kind": "Repair", "reason": "an outage" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&other, &spec, Subresource::None).expect("the member should exist");
    let repairs = |w: &World| w.writes.iter().any(|w| w.contains("start the pending repair"));
    world.pass(1200);
    assert!(!repairs(&world), "{}", world.last_words());
    let waits = world.last_words();
    assert!(waits.contains("left running on the server"), "{waits}");
    world.kill_server(&member);
    world.ring.hanging.clear();
    world.until(repairs);
    world.settle();
    world.expect_ring(4);
}

/// Nobody restarts it. An agent that is lost is not waited for any longer either.
#[test]
fn what_a_server_has_not_ended_is_held_for_an_hour_at_the_most() {
    let (mut world, _) = left_running();
    let before = repaired(&world);
    for _ in 0..5 {
        world.pass(600);
    }
    assert_eq!(repaired(&world), before, "{}", world.last_words());
    // Its sessions end by now.
    world.ring.calls.clear();
    world.pass(900);
    assert!(repaired(&world).len() > before.len(), "{}", world.last_words());
    world.settle();
    assert!(status(&world, DUE).phase.is_some_and(TaskPhase::is_final), "{}", world.last_words());
    world.expect_ring(4);
}

/// What the task says while nobody repairs.
fn names_what_is_held(world: &World, member: &str) {
    let said = crate::jobs::said(world, DUE);
    let is_named = said.contains(member) && said.contains("left running");
    assert!(is_named && !said.contains("is running"), "{said}\n{}", world.last_words());
}

/// Whoever was given a part and is granted nothing does not repair.
#[test]
fn what_a_server_has_not_ended_is_named_while_others_wait_for_it() {
    let (mut world, member) = left_running();
    world.pass(60);
    names_what_is_held(&world, &member);
}

/// A turn comes between; its member does not end what it was stopped at either.
#[test]
fn what_a_server_has_not_ended_is_named_after_a_turn() {
    let (mut world, member) = at_work();
    world.ring.headstrong.insert(member.clone());
    world.want("demo-dc1-b-0", &json!({ "restartToken": "now" }));
    let has_turn = |w: &World| !w.end().status["turn"].is_null();
    world.until(|w| {
        w.store.list(kinds::MEMBER).any(|(_, m)| m["status"]["job"]["cause"] == "LeftRunning")
    });
    // What goes on are sessions at those that have copies.
    world.ring.calls.clear();
    world.until(has_turn);
    world.until(|w| !has_turn(w));
    world.pass(300);
    assert_eq!(entry(&world, &member).state, State::Interrupted, "{}", world.last_words());
    names_what_is_held(&world, &member);
}
