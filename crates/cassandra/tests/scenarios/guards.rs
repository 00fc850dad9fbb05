//! Each guard of the deciders in a history in which nothing else prevents the
//! loss: a decider that forgets one fails here.

use crate::every::a_ring;
use crate::every::{all_end_alike, before_each_write, same_end, some};
use crate::initialization::shown_nonce;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::json;

/// The node of rack b is away for longer than anybody could overlook.
fn with_a_member_down(world: &mut World) {
    world.set_machine("n2", Machine::Down);
    world.pass(200);
    world.set_machine("n2", Machine::Up);
}

/// Records of all kinds are lost but for what is on the volumes: the cluster
/// is deleted and made again, and somebody has cleaned the claims.
pub fn forget_all_records(world: &mut World) {
    world.delete_cluster();
    world.settle();
    world.strip_claims();
}

#[test]
fn nothing_is_founded_while_one_volume_has_not_been_asked() {
    let mut world = World::new().with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    forget_all_records(&mut world);
    world.wipe_volume("demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-1");
    world.set_machine("n2", Machine::Down);
    world.apply(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    world.set_machine("n2", Machine::Up);
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
}

#[test]
fn nothing_is_founded_beside_data_that_no_ledger_accounts_for() {
    let mut world = a_ring(1, 1);
    forget_all_records(&mut world);
    world.wipe_volume("demo-dc1-a-0");
    world.lose_ledger("demo-dc1-b-0");
    world.apply(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(
        degraded.contains("InitializationRefused") && degraded.contains("allow-initialization"),
        "{degraded}"
    );
}

#[test]
fn a_founder_whose_volume_is_lost_before_anybody_recorded_it_is_not_founded_anew() {
    let mut world = World::new().with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.normal() == 1);
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("InitializationRefused"), "{degraded}\n{}", world.last_words());
}

#[test]
fn a_person_may_allow_a_new_founding_with_the_nonce_that_is_shown() {
    let mut world = World::new().with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.normal() == 1);
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    let degraded = world.condition("Degraded");
    let nonce = shown_nonce(&degraded);
    world.annotate_cluster("palladion.dev/allow-initialization", "an older nonce");
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    world.initializations_allowed = 2;
    world.annotate_cluster("palladion.dev/allow-initialization", &nonce);
    world.settle();
    assert_eq!(world.ring.founders.len(), 2, "{}", world.last_words());
}

#[test]
fn nothing_is_stopped_and_nobody_joins_while_a_member_is_down() {
    let grown = a_cluster(&[("a", 3), ("b", 1)]);
    let mut world = a_ring(2, 1);
    world.set_racks(&grown);
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "a member is down in a growth",
        some(worlds, 6, 0),
        &end.end(),
        with_a_member_down,
        same_end,
    );
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "a member is down in a rollout",
        some(worlds, 6, 2),
        &end.end(),
        with_a_member_down,
        same_end,
    );
}

#[test]
fn nobody_leaves_while_a_member_is_down() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "a member is down in a shrink",
        some(worlds, 6, 0),
        &end.end(),
        with_a_member_down,
        same_end,
    );
}

#[test]
fn an_unproven_revision_does_not_spread_by_the_loss_of_a_pod() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(120);
    world.delete(kinds::POD, "demo-dc1-a-1");
    let starts = world.story.len();
    world.pass(120);
    let told = world.story[starts..].iter().any(|line| line.contains("demo-dc1-a-1 starts"));
    assert!(!told, "it waits for the canary\n{}", world.last_words());
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_newer_spec_overtakes_a_canary_that_never_comes_up() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "hanging_setting": 1 } }));
    world.pass(600);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "hanging_setting": null } }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_is_not_replaced_while_the_others_see_it_up_or_cannot_tell() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "a member is down in a replacement",
        some(worlds, 5, 0),
        &end.end(),
        with_a_member_down,
        same_end,
    );
}

#[test]
fn a_volume_that_is_not_mounted_is_not_lost() {
    let mut world = a_ring(2, 1);
    world.unmount("demo-dc1-a-1");
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.settle();
    assert_eq!((world.normal(), world.ring.full_members()), (2, 3), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("VolumeNotMounted"), "{degraded}");
    world.mount("demo-dc1-a-1");
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn claims_that_are_deleted_keep_their_pods_and_their_data() {
    let mut world = a_ring(2, 1);
    for claim in world.names(kinds::CLAIM) {
        world.delete(kinds::CLAIM, &claim);
    }
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("ClaimTerminating"), "{degraded}");
}

#[test]
fn a_set_that_is_deleted_is_made_again_with_as_many_members() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.delete(kinds::STATEFUL_SET, "demo-dc1-a");
    world.settle();
    assert_eq!(world.ring.full_members(), 2, "{}", world.last_words());
    world.expect_ring(2);
}

#[test]
fn replicas_that_somebody_scaled_are_put_back() {
    let mut world = a_ring(2, 1);
    world.scale_set("demo-dc1-a", 4);
    world.settle();
    world.expect_ring(3);
    world.scale_set("demo-dc1-a", 1);
    world.settle();
    world.expect_ring(3);
}

/// A member of rack a is cut off from the others, and tells its agent that it is well.
fn with_a_member_cut_off(world: &mut World) {
    world.cut_off("demo-dc1-a-0");
    // Nobody can ask anybody until the others must have noticed.
    world.api_goes_away();
    world.pass(50);
    world.api_returns();
    world.pass(100);
    world.reconnect();
}

#[test]
fn nobody_joins_leaves_or_restarts_while_a_member_is_cut_off() {
    let mut grows = a_ring(2, 1);
    grows.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let mut shrinks = a_ring(3, 1);
    shrinks.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let mut rolls = a_ring(2, 1);
    rolls.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    for (i, (what, world)) in
        [("growth", grows), ("shrink", shrinks), ("rollout", rolls)].into_iter().enumerate()
    {
        let (worlds, end) = before_each_write(world);
        let what = format!("a member is cut off in a {what}");
        all_end_alike(&what, some(worlds, 4, i), &end.end(), with_a_member_cut_off, same_end);
    }
}

#[test]
fn nobody_is_replaced_while_a_member_is_cut_off() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "a member is cut off in a replacement",
        some(worlds, 4, 0),
        &end.end(),
        with_a_member_cut_off,
        same_end,
    );
}

#[test]
fn a_leaver_is_not_gone_while_somebody_who_cannot_hear_still_knows_it() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.full_members() == 3);
    world.cut_off("demo-dc1-b-0");
    world.pass(60);
    assert!(world.exists(kinds::POD, "demo-dc1-a-2"), "{}", world.last_words());
    world.reconnect();
    world.settle();
    world.expect_ring(3);
}

/// A ring whose newest member is killed in the moment in which it became a
/// full one, before its own agent had noted it.
fn with_an_unnoticed_member() -> World {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.full_members() == 4);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world
}

#[test]
fn a_member_that_joined_unnoticed_comes_back_with_its_data() {
    let mut world = with_an_unnoticed_member();
    world.settle();
    world.expect_ring(4);
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_member_that_joined_unnoticed_and_is_not_wanted_leaves_no_ghost() {
    let mut world = with_an_unnoticed_member();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.expect_ring(3);
}
