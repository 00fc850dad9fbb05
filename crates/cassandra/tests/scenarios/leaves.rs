//! Leaves that do not come to their end at once: that fail halfway, are begun
//! again, or whose agent is restarted meanwhile.

use crate::every::{a_ring, killed_at_every_write};
use crate::nodes::spread;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::{Force, Phase};
use crate::tasks::host_of;
use jiff::SignedDuration;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

const LEAVER: &str = "demo-dc1-a-2";

fn racks(a: i32, b: i32) -> Value {
    a_cluster(&[("a", a), ("b", b)])
}

#[test]
fn a_leave_that_failed_halfway_goes_on_wherever_the_operator_dies() {
    let mut world = a_ring(3, 1);
    world.ring.failing.insert(LEAVER.into());
    world.set_racks(&racks(2, 1));
    let mut end = killed_at_every_write("a leave that fails halfway", world, 6);
    end.expect_ring(3);
}

/// Back to three members while a leave that failed halfway stands.
fn wanted_again_after_a_failed_leave() -> World {
    let mut world = a_ring(3, 1);
    world.ring.failing.insert(LEAVER.into());
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.set_racks(&racks(3, 1));
    world
}

#[test]
fn a_member_that_is_wanted_again_after_its_leave_failed_leaves_and_joins_anew() {
    let mut world = wanted_again_after_a_failed_leave();
    let host = host_of(&world, LEAVER);
    world.settle();
    world.expect_ring(4);
    assert_ne!(host_of(&world, LEAVER), host);
}

#[test]
fn a_member_that_is_wanted_again_after_its_leave_failed_stays_if_its_pod_is_deleted() {
    let mut world = wanted_again_after_a_failed_leave();
    let host = host_of(&world, LEAVER);
    world.pass(5);
    world.delete(kinds::POD, LEAVER);
    world.settle();
    world.expect_ring(4);
    assert_eq!(host_of(&world, LEAVER), host);
}

/// What is left of the leave cannot be done while another member is down, and
/// that one cannot be replaced while the ring sees a member leaving.
#[test]
fn a_leave_that_failed_and_a_lost_disk_wait_for_a_person() {
    for copies in [2, 3] {
        let mut world = World::new();
        world.ring.copies = copies;
        let mut world = world.with(&racks(3, 2));
        world.settle();
        assert_eq!(world.write(20), 20);
        world.ring.failing.insert(LEAVER.into());
        world.set_racks(&racks(2, 2));
        world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
        let lost = "demo-dc1-b-1";
        world.delete(kinds::POD, lost);
        world.wipe_volume(lost);
        world.pass(1200);
        let said = world.condition("Degraded");
        let both = "True LeaveRefused: the decommission of member demo-dc1-a-2 failed and cannot";
        assert!(said.starts_with(both), "{said}");
        assert!(said.contains(". Also: member demo-dc1-b-1: "), "{said}");
        world.writes.clear();
        world.pass(600);
        assert_eq!(world.writes, Vec::<String>::new());
        // What the message says.
        world.delete(kinds::POD, LEAVER);
        world.settle();
        world.expect_ring(4);
    }
}

/// A ring of this version whose last member of rack a has begun to leave.
fn leaving(version: &str) -> World {
    let mut cluster = racks(3, 1);
    cluster["spec"]["version"] = json!(version);
    let mut world = World::new().with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world
}

#[test]
fn a_leave_that_fails_after_its_agent_was_restarted_is_begun_again() {
    for version in ["4.1.9", "5.0.5"] {
        let mut world = leaving(version);
        world.restart_agent(LEAVER);
        world.ring.failing.insert(LEAVER.into());
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn a_leave_that_failed_unheard_is_reported() {
    let mut world = leaving("5.0.5");
    world.ring.failing.insert(LEAVER.into());
    world.restart_agent(LEAVER);
    world.pass(20);
    let told = world.condition("Degraded");
    assert!(told.contains(LEAVER) && told.starts_with("True"), "{told}\n{}", world.last_words());
}

#[test]
fn a_leave_that_is_tried_again_streams_what_was_written_since() {
    let mut world = World::new();
    // One copy: what the leaver does not stream is nowhere else.
    world.ring.copies = 1;
    let mut world = world.with(&racks(3, 3));
    world.settle();
    world.ring.failing.insert(LEAVER.into());
    world.set_racks(&racks(2, 3));
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    assert!(world.noted_streams(LEAVER) > 0, "one stream failed, the others did not");
    // It comes back as a full member, and nobody sends writes elsewhere for it.
    world.delete(kinds::POD, LEAVER);
    world.until(|w| w.normal() == 6);
    world.pass(5);
    assert_eq!(world.write(60), 60);
    world.settle();
    world.expect_ring(5);
}

/// A decommission by hand that succeeds where the operator's has failed: the
/// server ends, and nobody says DECOMMISSIONED any more.
#[test]
fn a_leave_that_failed_and_is_completed_by_hand_is_completed() {
    for after in [2, 20, 50] {
        let mut world = a_ring(3, 1);
        world.ring.failing.insert(LEAVER.into());
        world.set_racks(&racks(2, 1));
        world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
        world.pass(after);
        world.nodetool_decommission(LEAVER, Force::Yes);
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn a_member_that_left_by_hand_is_reported_after_its_pod_was_recreated_too() {
    let mut world = a_ring(3, 1);
    world.nodetool_decommission(LEAVER, Force::Yes);
    world.pass(60);
    world.delete(kinds::POD, LEAVER);
    world.pass(300);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True LeftByHand") && told.contains(LEAVER), "{told}");
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn who_left_by_hand_goes_before_a_leave_that_failed() {
    let mut world = a_ring(3, 2);
    world.ring.failing.insert(LEAVER.into());
    world.set_racks(&racks(2, 2));
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.nodetool_decommission("demo-dc1-b-1", Force::Yes);
    world.pass(30);
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_leave_that_failed_goes_on_before_an_upgrade_that_has_not_begun() {
    let mut world = leaving("4.1.9");
    world.ring.failing.insert(LEAVER.into());
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.settle();
    world.expect_ring(3);
    let upgraded = world.store.list(kinds::MEMBER).filter(|(_, m)| {
        m["status"]["server"]["version"] == "5.0.5" && m["spec"]["run"] != "Terminated"
    });
    assert_eq!(upgraded.count(), 3, "{}", world.last_words());
}

#[test]
fn a_member_that_left_by_hand_and_is_not_wanted_any_more_is_gone() {
    let mut world = a_ring(3, 1);
    world.nodetool_decommission(LEAVER, Force::Yes);
    world.pass(120);
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
    world.set_racks(&racks(3, 1));
    world.settle();
    world.expect_ring(4);
}

/// Nobody looks at the disks more often than every other minute, and a rollout
/// does not wait for them; whatever the clock of the one that is full says.
#[test]
fn a_leave_that_waits_for_room_holds_up_no_rollout() {
    for hours in [0, 6] {
        let mut world = a_ring(3, 1);
        world.ring.free.insert("demo-dc1-a-1".into(), 7 << 30);
        world.set_clock("demo-dc1-a-1", SignedDuration::from_hours(hours));
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        world.pass(300);
        world.destructive.clear();
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.pass(900);
        assert_eq!(world.destructive.len(), 4, "{}", world.last_words());
        // With room it goes on by itself, also where a clock is ahead.
        world.ring.free.clear();
        world.pass(600);
        assert_eq!(world.normal(), 3, "{}", world.last_words());
    }
}

/// What was lowered for it is not raised again while it waits.
#[test]
fn a_leave_that_waits_for_room_keeps_the_system_keyspaces_lowered() {
    let mut world = a_ring(2, 1);
    world.ring.free.insert("demo-dc1-a-0".into(), 7 << 30);
    world.set_racks(&racks(1, 1));
    world.pass(900);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    let changes = |w: &&String| w.contains("keyspaces is being changed");
    assert_eq!(world.writes.iter().filter(changes).count(), 1, "{}", world.last_words());
    world.ring.free.clear();
    world.settle();
    world.expect_ring(2);
}

/// The machine of a leaver dies when the others have taken its leave, and comes back
/// after deletions were forgotten.
fn back_long_after_its_leave(wanted: i32) -> World {
    let mut world = spread(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Left).is_some());
    let node = world.node_of(LEAVER);
    world.set_machine(&node, Machine::Down);
    world.pass(crate::maintenance::TOO_LONG);
    world.set_racks(&racks(wanted, 1));
    world.set_machine(&node, Machine::Up);
    world.story.clear();
    world
}

#[test]
fn a_leaver_that_comes_back_long_after_its_leave_is_settled_without_a_person() {
    let mut world = back_long_after_its_leave(2);
    world.settle();
    let started = world.story.iter().any(|l| l.contains(&format!("{LEAVER} starts its server")));
    assert!(!started, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_leaver_that_comes_back_long_after_its_leave_and_is_wanted_again_joins_anew() {
    let mut world = back_long_after_its_leave(3);
    world.settle();
    let resumed = world.story.iter().any(|l| l.contains("(ResumeLeave)"));
    assert!(!resumed, "{}", world.last_words());
    world.expect_ring(4);
}

/// The others have it: it would stream deleted rows to them, and only a person can say
/// that it may. Meanwhile nobody asks about it without end.
#[test]
fn a_leaver_that_comes_back_too_late_to_leave_again_waits_for_a_person() {
    let mut world = spread(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    let node = world.node_of(LEAVER);
    world.set_machine(&node, Machine::Down);
    world.pass(crate::maintenance::TOO_LONG);
    world.set_machine(&node, Machine::Up);
    world.pass(900);
    assert!(!world.runs(LEAVER), "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.contains("DataTooOld") && told.contains(LEAVER), "{told}");
    world.writes.clear();
    world.pass(900);
    assert_eq!(world.writes, Vec::<String>::new());
    crate::maintenance::allow(&mut world, LEAVER);
    world.settle();
    world.expect_ring(3);
}
