//! A ring grows, shrinks and rolls, undisturbed and disturbed at every write.

use crate::every::{
    a_ring, all_end_alike, before_each_write, killed_at_every_write, same_but, same_end, some,
};
use crate::sim::World;
use crate::sim::compare::{Allowed, Differs};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Phase;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use serde_json::json;

#[test]
fn a_ring_grows_by_one_member_in_each_rack() {
    let mut world = a_ring(1, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    let mut end = killed_at_every_write("a ring grows", world, 6);
    end.expect_ring(4);
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_ring_shrinks_by_one_member() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let mut end = killed_at_every_write("a ring shrinks", world, 6);
    end.expect_ring(3);
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_member_that_was_not_wanted_any_more_before_it_joined_may_be_wanted_again() {
    let mut world = a_ring(2, 1);
    for joined_before in [false, true] {
        if joined_before {
            world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
            world.settle();
            world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
            world.settle();
        }
        for _ in 0..2 {
            world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
            let has_volume = |w: &World| {
                let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-2");
                let member = w.store.get(&key);
                member.is_some_and(|m| m["status"]["volume"]["state"].is_string())
            };
            world.until(has_volume);
            world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
            world.settle();
            world.expect_ring(3);
        }
    }
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let mut end = killed_at_every_write("a member is wanted again", world, 6);
    end.expect_ring(4);
}

#[test]
fn nobody_leaves_to_disks_that_cannot_take_the_data() {
    let mut world = a_ring(3, 1);
    // 10 GiB go to two members of the rack: 5 GiB each, and half as much to compact.
    world.ring.free.insert("demo-dc1-a-1".into(), 7 << 30);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.pass(600);
    assert_eq!(world.normal(), 4, "{}", world.last_words());
    let said = world.condition("Degraded");
    let expected = "True LeaveRefused: member demo-dc1-a-2 cannot leave: member demo-dc1-a-1 would receive about 5.0 GiB and needs 1.5 times as much free space to compact it, but has only 7.0 GiB free";
    assert!(said.starts_with(expected), "{said}");
    let turns = world.writes.iter().filter(|w| w.contains("begin the decommission"));
    assert!(turns.count() <= 6, "it is asked every other minute");
    // Set back, nothing has happened.
    let mut kept = world.clone();
    kept.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    kept.settle();
    kept.expect_ring(4);
    // With room it goes on by itself.
    world.ring.free.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_configuration_change_restarts_one_member_after_the_other() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let mut end = killed_at_every_write("a configuration is rolled out", world, 6);
    end.expect_ring(3);
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_lost_volume_is_replaced() {
    let mut world = a_ring(2, 1);
    world.delete(palladion_cassandra::resources::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let mut end = killed_at_every_write("a lost volume is replaced", world, 6);
    end.expect_ring(3);
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_member_that_left_may_come_back_to_its_kept_claim() {
    let mut world = a_ring(3, 1);
    for members in [2, 3, 2, 3] {
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.settle();
        world.expect_ring(usize::try_from(members).unwrap() + 1);
    }
}

#[test]
fn the_address_of_a_member_that_left_is_kept_for_three_days() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.pass(71 * 3600);
    assert!(world.exists(kinds::SERVICE, "demo-dc1-a-2"), "{}", world.last_words());
    world.pass(2 * 3600);
    // Nothing else happens: the operator looks again at that time by itself.
    assert!(!world.exists(kinds::SERVICE, "demo-dc1-a-2"), "{}", world.last_words());
}

#[test]
fn the_address_of_a_member_that_leaves_again_is_kept_for_three_days_more() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.pass(60 * 3600);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    world.pass(20 * 3600);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.pass(60);
    assert!(world.exists(kinds::SERVICE, "demo-dc1-a-2"), "{}", world.last_words());
    world.pass(73 * 3600);
    assert!(!world.exists(kinds::SERVICE, "demo-dc1-a-2"), "{}", world.last_words());
}

const GOES_AND_COMES: Allowed = Allowed {
    what: Differs::More(
        "pod demo-dc1-a-2: demo-dc1-a should have fewer (no member of the ring)",
        1,
    ),
    why: "who was on its way by then goes all the way: a leave and a join are not cancelled",
};
const KEPT_CLAIM: Allowed = Allowed {
    what: Differs::Object("PersistentVolumeClaim data-demo-dc1-a-2"),
    why: "the claim of a member that has left is kept",
};
const KEPT_ADDRESS: Allowed = Allowed {
    what: Differs::Object("Service demo-dc1-a-2"),
    why: "the address of a member that has left is reserved for three days",
};

/// Rack a goes to another number of members and back, at any write in between.
fn taken_back(what: &str, from: i32, to: i32, allowed: &[Allowed]) {
    let back = a_cluster(&[("a", from), ("b", 1)]);
    let mut world = a_ring(from, 1);
    let expected = world.end();
    world.set_racks(&a_cluster(&[("a", to), ("b", 1)]));
    let (worlds, _) = before_each_write(world);
    all_end_alike(what, some(worlds, 5, 1), &expected, |w| w.set_racks(&back), same_but(allowed));
}

#[test]
fn the_wanted_members_may_change_back_at_any_write_of_a_shrink() {
    taken_back("a shrink is taken back", 3, 2, &[GOES_AND_COMES]);
}

#[test]
fn the_wanted_members_may_change_back_at_any_write_of_a_growth() {
    taken_back("a growth is taken back", 2, 3, &[GOES_AND_COMES, KEPT_CLAIM, KEPT_ADDRESS]);
}

#[test]
fn a_leaver_that_restarts_in_any_phase_of_its_leave_leaves_all_the_same() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let mut worlds = Vec::new();
    let mut end = world.clone();
    while end.tick().unwrap() == crate::sim::world::Tick::GoesOn {
        worlds.push(end.clone());
    }
    let expected = end.end();
    let restart = |world: &mut World| {
        if world.exists(palladion_cassandra::resources::POD, "demo-dc1-a-2") {
            world.delete(palladion_cassandra::resources::POD, "demo-dc1-a-2");
        }
    };
    let ended_before = [Allowed {
        what: Differs::Less("pod demo-dc1-a-2: demo-dc1-a should have fewer"),
        why: "its pod was being deleted already when its set got fewer",
    }];
    let compare = same_but(&ended_before);
    all_end_alike("the leaver restarts", some(worlds, 10, 0), &expected, restart, compare);
}

/// It has written down that it would have to bootstrap, and nobody else knows.
#[test]
fn a_leaver_killed_before_the_others_hear_of_its_leave_comes_back_and_leaves_again() {
    let mut world = a_ring(3, 1);
    assert_eq!(world.write(20), 20);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let expected = {
        let mut world = world.clone();
        world.settle();
        world.end()
    };
    let unbootstrapped = |w: &World| w.ring.in_phase(&Phase::Unbootstrapped).is_some();
    world.until(unbootstrapped);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), expected);
    let came_back = world.story.iter().any(|l| l.contains("(ResumeLeave)"));
    assert!(came_back, "{}", world.last_words());
}

#[test]
fn a_leaver_that_could_not_come_back_leaves_when_its_cause_is_mended() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let leaves = |w: &World| w.ring.in_phase(&Phase::Leaving).is_some();
    world.until(leaves);
    world.ring.unlucky.insert("demo-dc1-a-2".into());
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.pass(900);
    let tries = world.story.iter();
    let tries = tries.filter(|l| l.contains("starts its server (ResumeLeave)"));
    assert_eq!(tries.count(), 3, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("unlucky"), "{said}");
    let writes = world.faults.writes();
    world.pass(600);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    world.ring.unlucky.clear();
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.settle();
    world.expect_ring(3);
}

/// The pod above it goes first, and waits for a ring that counts one too many.
#[test]
fn a_leaver_that_died_when_it_had_left_does_not_hold_up_the_member_made_above_it() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let leaver = |w: &World| Some(w.ring.in_phase(&Phase::Left)?.0.clone());
    world.until(|w| leaver(w).is_some());
    let pod = leaver(&world).expect("it has left");
    world.ring.exit(&pod, "killed");
    world.set_racks(&a_cluster(&[("a", 4), ("b", 1)]));
    world.until(|w| w.names(kinds::MEMBER).contains(&"demo-dc1-a-3".into()));
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    assert!(!world.names(kinds::MEMBER).contains(&"demo-dc1-a-3".into()));
}

#[test]
fn the_status_may_be_erased_at_any_write_of_a_shrink() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "the status is erased in a shrink",
        some(worlds, 5, 2),
        &end.end(),
        World::erase_status,
        same_end,
    );
}

#[test]
fn the_status_may_be_erased_at_any_write_of_a_replacement() {
    let mut world = a_ring(2, 1);
    world.delete(palladion_cassandra::resources::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "the status is erased in a replacement",
        some(worlds, 5, 3),
        &end.end(),
        World::erase_status,
        same_end,
    );
}

#[test]
fn a_replacement_whose_pod_ends_at_any_time_is_made_all_the_same() {
    let mut world = a_ring(2, 1);
    world.delete(palladion_cassandra::resources::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let (worlds, end) = before_each_write(world);
    let restart = |world: &mut World| {
        if world.exists(palladion_cassandra::resources::POD, "demo-dc1-a-1") {
            world.delete(palladion_cassandra::resources::POD, "demo-dc1-a-1");
        }
    };
    all_end_alike("the replacement's pod ends", some(worlds, 5, 1), &end.end(), restart, same_end);
}

#[test]
fn members_of_the_largest_rack_leave_first() {
    let mut world = a_ring(3, 2);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 0)]));
    let end = killed_at_every_write("two racks shrink", world, 9);
    let left: Vec<&String> =
        end.writes.iter().filter(|w| w.starts_with("begin the decommission")).collect();
    let of = |member: &str| left.iter().position(|w| w.ends_with(member));
    let order = [of("demo-dc1-a-2"), of("demo-dc1-b-1"), of("demo-dc1-b-0")];
    assert_eq!(order, [Some(0), Some(1), Some(2)], "{left:?}");
}

#[test]
fn the_first_member_of_a_ring_may_leave_and_come_back() {
    for policy in ["Retain", "Delete"] {
        let mut world = a_ring(2, 1);
        world.patch_spec(&json!({ "deletionPolicy": policy }));
        world.settle();
        assert_eq!(world.ring.founders.len(), 1);
        world.set_racks(&a_cluster(&[("a", 0), ("b", 3)]));
        world.settle();
        world.expect_ring(3);
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.settle();
        world.expect_ring(3);
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        world.settle();
        world.expect_ring(3);
    }
}
