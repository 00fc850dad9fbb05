//! Members that are not well, and what people want of them: they can be stopped
//! and started, what one person has insisted on once counts once, and what the
//! volume forbids holds up nobody.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::{Force, Phase};
use crate::sim::world::cluster_key;
use crate::tasks::{ask, host_of, replace, volume_of};
use crate::terminated::{self, terminate_now};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

const OTHER: &str = "demo-dc1-b-0";
const LEAVER: &str = "demo-dc1-a-2";
const WARNING: &str = "without regard to other members";

fn turn(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"]["turn"].clone()).unwrap_or_default()
}

fn count(world: &World, words: &str) -> usize {
    world.story.iter().filter(|line| line.contains(words)).count()
}

/// Its server says that it is well, and all others see it down.
#[test]
fn a_member_that_is_cut_off_is_stopped_without_now() {
    for run in ["Stopped", "Terminated"] {
        let mut world = a_ring(2, 1);
        world.cut_off(LAST);
        world.pass(120);
        match run {
            "Terminated" => terminated::terminate(&mut world, LAST, "RingIsWell"),
            run => world.want(LAST, &json!({ "run": run })),
        }
        world.settle();
        assert!(!world.runs(LAST), "{}", world.last_words());
        assert_eq!(world.unmet(), Vec::<String>::new(), "{}", world.last_words());
        assert_eq!(count(&world, WARNING), 0, "the others were asked");
    }
}

/// It is the others that must be well, and they are asked.
#[test]
fn a_member_that_is_cut_off_is_not_stopped_while_another_one_is_down() {
    let mut world = spread(3, 1);
    world.cut_off(LAST);
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.pass(600);
    assert!(world.runs(LAST), "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
}

/// What was left in the spec by the last stop is no word about the next one.
#[test]
fn now_counts_for_one_stop() {
    let mut world = spread(2, 1);
    world.want(LAST, &json!({ "run": "Stopped", "when": "Now" }));
    world.settle();
    assert!(!world.runs(LAST) && count(&world, WARNING) == 1, "{}", world.last_words());
    world.want(LAST, &json!({ "run": "Running" }));
    world.settle();
    assert!(world.runs(LAST), "{}", world.last_words());
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.pass(600);
    assert!(world.runs(LAST), "{}", world.last_words());
    assert_eq!(count(&world, WARNING), 1, "{}", world.last_words());
    assert_eq!(world.unmet(), [format!("{LAST} run: Stopped MemberStopping")]);
    // Said anew, it counts anew.
    world.want(LAST, &json!({ "when": "RingIsWell" }));
    world.pass(60);
    world.want(LAST, &json!({ "when": "Now" }));
    world.pass(60);
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(count(&world, WARNING), 2, "{}", world.last_words());
}

/// A start that does not come up is taken back, by a person who insists once more.
#[test]
fn now_counts_again_when_it_was_taken_back_in_the_middle_of_a_start() {
    let mut world = spread(2, 1);
    world.want(LAST, &json!({ "run": "Stopped", "when": "Now" }));
    world.settle();
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    world.want(LAST, &json!({ "run": "Running", "when": null }));
    world.until(|w| turn(w)["step"] == "Start" && w.runs(LAST));
    world.want(LAST, &json!({ "run": "Stopped", "when": "Now" }));
    world.pass(120);
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(count(&world, WARNING), 2, "{}", world.last_words());
}

/// The wish stays when the member is replaced; what it was insisted on is over.
#[test]
fn now_says_nothing_of_a_successor() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.want(LAST, &json!({ "run": "Stopped", "when": "Now" }));
    world.settle();
    assert_eq!(count(&world, WARNING), 1, "{}", world.last_words());
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    assert_eq!(world.ring.full_members(), 3, "{}", world.last_words());
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(count(&world, WARNING), 1, "the successor is stopped with evidence");
}

/// The record of the member is lost, and with it that its volume was terminated:
/// the volume knows.
#[test]
fn a_start_that_the_volume_forbids_holds_no_turn() {
    let mut world = a_ring(2, 1);
    terminate_now(&mut world, LAST);
    world.settle();
    world.delete(kinds::MEMBER, LAST);
    world.settle();
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    world.want(LAST, &json!({ "run": "Running" }));
    world.pass(900);
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(turn(&world), Value::Null, "{}", world.last_words());
    assert_eq!(world.unmet(), [format!("{LAST} run: Running MemberTerminated")]);
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("MemberTerminated"), "{degraded}");
    // What the message says.
    let volume = volume_of(&world, LAST);
    world.want(LAST, &json!({ "run": "Terminated", "volumeID": volume }));
    world.settle();
    terminated::replaced_by_task(&mut world);
    world.expect_ring(3);
}

/// A ring with a leave that has failed halfway, in which another member is stopped.
fn halfway_and_stopped() -> World {
    let mut world = a_ring(3, 1);
    world.ring.failing.insert(LEAVER.into());
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.delete(kinds::POD, OTHER);
    world.want(OTHER, &json!({ "run": "Stopped", "when": "Now" }));
    world.settle();
    assert!(!world.runs(OTHER), "{}", world.last_words());
    assert!(world.ring.in_phase(&Phase::LeaveFailed).is_some(), "{}", world.last_words());
    world
}

#[test]
fn a_member_is_started_beside_a_leave_that_failed_halfway() {
    let mut world = halfway_and_stopped();
    world.want(OTHER, &json!({ "run": "Running", "when": null }));
    world.settle();
    world.expect_ring(3);
}

/// Somebody has called it to leave by hand, and that has failed: a restart ends it.
#[test]
fn a_member_that_the_others_see_leaving_is_started_again() {
    let mut world = a_ring(3, 1);
    world.ring.failing.insert(LAST.into());
    world.nodetool_decommission(LAST, Force::Yes);
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.want(LAST, &json!({ "run": "Stopped", "when": "Now" }));
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    world.want(LAST, &json!({ "run": "Running", "when": null }));
    world.settle();
    world.expect_ring(4);
}

/// Lowered and replaced at once: the terminated member is taken out of the ring,
/// and its claim is kept.
fn removed_after_termination() -> World {
    let mut world = a_ring(2, 1);
    terminate_now(&mut world, LAST);
    world.settle();
    let mut spec = replace(LAST);
    spec["replace"]["volumeID"] = json!(volume_of(&world, LAST));
    let host = host_of(&world, LAST);
    world.ring.called_lost.insert(host.clone());
    world.given_up.insert(host);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    ask(&mut world, "remove-it", &spec);
    world.settle();
    world.expect_ring(2);
    assert!(world.exists(kinds::CLAIM, &format!("data-{LAST}")), "{}", world.last_words());
    world
}

#[test]
fn a_terminated_volume_is_not_used_by_a_member_that_is_wanted_again() {
    let mut world = removed_after_termination();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True MemberTerminated"), "{degraded}\n{}", world.last_words());
    assert!(degraded.contains(&format!("data-{LAST}")), "{degraded}");
    world.expect_rest();
    // What the message says.
    world.delete(kinds::CLAIM, &format!("data-{LAST}"));
    world.delete(kinds::POD, LAST);
    world.settle();
    world.expect_ring(3);
}

/// The claim has lost its annotations: the ledger on the volume still knows.
#[test]
fn a_terminated_volume_is_banned_by_its_ledger_alone() {
    let mut world = removed_after_termination();
    let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{LAST}"));
    let patch = json!({ "metadata": { "annotations": { "palladion.dev/terminated": null } } });
    world.store.merge(&key, &patch, Subresource::None).expect("the claim is kept");
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(turn(&world), Value::Null, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("MemberTerminated"), "{degraded}\n{}", world.last_words());
}
