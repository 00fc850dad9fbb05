//! Stories of holes: each was found by reading, or on a real ring. One that
//! fails names what should hold and says in its `ignore` what is lost; whoever
//! mends it takes the `ignore` away, here and in the list of known holes of
//! `tests/README.md`. `cargo test -p palladion-cassandra --test scenarios holes -- --ignored` runs those.

use crate::every::{a_ring, all_end_alike, before_each_write, in_flight, same_end, some};
use crate::initialization::shown_nonce;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::{Force, Login, Phase};
use crate::sim::rows::{GC_GRACE, Level};
use jiff::SignedDuration;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

/// `Degraded` is True and names this member.
fn expect_degraded(world: &World, member: &str) {
    let told = world.condition("Degraded");
    assert!(told.starts_with("True") && told.contains(member), "{told}\n{}", world.last_words());
}

fn racks(a: i32, b: i32) -> Value {
    a_cluster(&[("a", a), ("b", b)])
}

/// Three racks of one member, three copies: what a production ring is made of.
pub fn three_copies() -> World {
    let mut world = World::new();
    world.ring.copies = 3;
    let mut world = world.with(&a_cluster(&[("a", 1), ("b", 1), ("c", 1)]));
    world.settle();
    assert_eq!(world.write(20), 20);
    world
}

pub fn wrote(world: &World, words: &str) -> bool {
    world.writes.iter().any(|w| w.contains(words))
}

#[test]
fn a_member_that_was_away_for_longer_than_hints_are_kept_is_repaired_before_another_is_replaced() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.settle();
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_that_was_away_for_longer_than_tombstones_are_kept_does_not_bring_deleted_rows_back() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(60);
    let rows: Vec<u32> = (0..20).collect();
    // At ONE more than one replica may miss a write; the dead one is enough here.
    assert_eq!(world.delete_rows(rows), 20);
    world.pass(GC_GRACE.as_secs() + 24 * 3600);
    world.set_machine("n3", Machine::Up);
    world.settle();
    // A person is told, and has it replaced.
    expect_degraded(&world, "demo-dc1-c-0");
    assert!(world.condition("Degraded").contains("DataTooOld"), "{}", world.condition("Degraded"));
    world.give_up("demo-dc1-c-0");
    crate::terminated::terminate_now(&mut world, "demo-dc1-c-0");
    world.label(kinds::MEMBER, "demo-dc1-c-0", labels::REPLACE);
    world.settle();
    world.expect_ring(3);
    // Read repair, or a replacement that streams from it, spreads what it has.
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_member_whose_leave_was_refused_is_a_full_one() {
    let mut world = a_ring(2, 1);
    world.nodetool_decommission(LAST, Force::No);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.destructive.len(), 3, "{}", world.last_words());
}

#[test]
fn a_leave_whose_stream_fails_is_asked_for_again() {
    for version in ["4.1.9", "5.0.5"] {
        let mut cluster = racks(3, 1);
        cluster["spec"]["version"] = json!(version);
        let mut world = World::new().with(&cluster);
        world.settle();
        world.write(20);
        world.set_racks(&racks(2, 1));
        world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
        world.delete(kinds::POD, "demo-dc1-a-1");
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn a_leave_that_failed_is_told_for_as_long_as_it_stands() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.ring.failing.insert("demo-dc1-a-2".into());
    world.pass(50);
    expect_degraded(&world, "demo-dc1-a-2");
}

#[test]
fn a_member_that_left_by_hand_is_told_and_its_place_is_filled() {
    let mut world = a_ring(3, 1);
    world.nodetool_decommission("demo-dc1-a-2", Force::Yes);
    world.pass(120);
    expect_degraded(&world, "demo-dc1-a-2");
    world.label(kinds::MEMBER, "demo-dc1-a-2", labels::REPLACE);
    world.settle();
    world.expect_ring(4);
}

#[test]
fn a_ring_that_asks_for_a_password_shrinks() {
    let mut world = World::new();
    world.ring.login = Login::Accepted;
    let mut world = world.with(&racks(3, 1));
    world.settle();
    world.set_racks(&racks(2, 1));
    world.settle();
    assert_eq!(world.normal(), 3, "{}\n{}", world.condition("Degraded"), world.last_words());
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

/// Not a word of it would be heard if nobody needed the password: it is told at
/// once, also while a leave waits, and all goes on when the Secret is there.
#[test]
fn a_missing_or_wrong_password_is_told_until_it_is_right() {
    for (login, reason) in
        [(Login::Missing, "CredentialsMissing"), (Login::Refused, "CredentialsRefused")]
    {
        let mut world = World::new();
        world.ring.login = login;
        let mut world = world.with(&racks(3, 1));
        world.pass(300);
        expect_degraded(&world, "demo-agents");
        world.set_racks(&racks(2, 1));
        world.pass(300);
        expect_degraded(&world, reason);
        assert_eq!(world.normal(), 4, "it waits");
        world.ring.login = Login::Accepted;
        world.pass(600);
        assert_eq!(world.normal(), 3, "{}", world.last_words());
        assert!(
            world.condition("Degraded").starts_with("False"),
            "{}",
            world.condition("Degraded")
        );
    }
}

#[test]
fn a_ring_that_asks_for_a_password_is_cleaned_up_after_a_join() {
    let mut world = World::new();
    world.ring.login = Login::Missing;
    let mut world = world.with(&racks(2, 1));
    world.pass(300);
    world.writes.clear();
    world.set_racks(&racks(3, 1));
    world.pass(600);
    assert!(wrote(&world, "leanup"), "{}", world.last_words());
}

#[test]
fn a_member_that_is_only_cut_off_keeps_its_data_when_it_is_labelled() {
    let mut world = spread(2, 1);
    world.cut_off(LAST);
    world.pass(60);
    assert!(world.write_at(20, Level::One, LAST) > 0, "it serves its clients");
    world.label(kinds::MEMBER, LAST, labels::REPLACE);
    world.settle();
    let live = palladion_api::reasons::Reason::MemberIsLive;
    assert!(world.events.contains(&live), "{:?}", world.events);
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
}

#[test]
fn one_of_two_members_alone_condemns_nobody() {
    let mut world = spread(1, 1);
    world.cut_off("demo-dc1-a-0");
    world.pass(60);
    world.label(kinds::MEMBER, "demo-dc1-a-0", labels::REPLACE);
    world.settle();
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
}

#[test]
fn a_member_whose_node_comes_back_before_its_removal_leaves_in_order() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.set_racks(&racks(1, 1));
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    world.until(|w| wrote(w, "begin the removal"));
    world.register_node(&node, "z1");
    world.set_machine(&node, Machine::Up);
    world.writes.clear();
    world.settle();
    assert!(!wrote(&world, "to remove member"), "{}", world.last_words());
    world.expect_ring(2);
}

#[test]
fn permission_to_initialize_covers_no_volume_that_was_not_asked() {
    let mut world = World::new().with(&racks(2, 1));
    world.settle();
    world.delete_cluster();
    world.settle();
    world.strip_claims();
    world.lose_ledger("demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-1");
    world.set_machine("n2", Machine::Down);
    world.apply(&racks(2, 1));
    world.settle();
    let told = world.condition("Degraded");
    let nonce = shown_nonce(&told);
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, &nonce);
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
}

#[test]
fn two_three_two_members_while_the_system_keyspaces_are_raised() {
    let mut world = a_ring(1, 1);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.system_copies == Some(3));
    world.set_racks(&racks(1, 1));
    world.settle();
    world.expect_ring(2);
    assert_eq!(world.ring.system_copies, Some(2));
}

#[test]
fn three_two_three_members_while_the_system_keyspaces_are_lowered() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(1, 1));
    world.until(|w| w.ring.system_copies == Some(2));
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.ring.system_copies, Some(3), "{}", world.last_words());
}

/// Whenever it is that the user wants the former number of members again.
fn change_of_mind(between: [i32; 2], one_in: usize) {
    let mut world = a_ring(between[0], 1);
    world.set_racks(&racks(between[1], 1));
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, one_in, 0) {
        world.set_racks(&racks(between[0], 1));
        world.settle();
        let members = usize::try_from(between[0]).unwrap_or_default() + 1;
        world.expect_ring(members);
        assert_eq!(world.ring.system_copies.map(|c| c as usize), Some(members));
    }
}

#[test]
fn a_ring_that_was_to_grow_leaves_the_system_keyspaces_as_they_were() {
    change_of_mind([1, 2], 3);
}

#[test]
fn a_ring_that_was_to_shrink_leaves_the_system_keyspaces_as_they_were() {
    change_of_mind([2, 1], 3);
}

#[test]
fn system_keyspaces_that_lost_copies_by_hand_are_set_again() {
    let mut world = a_ring(2, 1);
    world.ring.system_copies = Some(1);
    world.settle();
    assert_eq!(world.ring.system_copies, Some(3), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_leave_that_is_refused_lowers_nothing() {
    let mut world = three_copies();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1), ("c", 0)]));
    world.pass(600);
    assert_eq!(world.ring.system_copies, Some(3), "{}", world.condition("Degraded"));
}

#[test]
fn a_leave_that_is_refused_holds_up_no_rollout() {
    let mut world = three_copies();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1), ("c", 0)]));
    world.pass(300);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.destructive.clear();
    world.pass(600);
    assert_eq!(world.destructive.len(), 3, "{}", world.last_words());
}

#[test]
fn a_member_whose_clock_is_ahead_holds_nobody_up() {
    let mut world = a_ring(2, 1);
    world.set_clock("demo-dc1-b-0", SignedDuration::from_hours(6));
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.until(|w| wrote(w, "for its view of the ring"));
    // What it answers is bad: another member is away for a minute.
    world.cut_off("demo-dc1-a-0");
    world.pass(60);
    world.reconnect();
    world.pass(1200);
    world.expect_ring(3);
    assert_eq!(world.destructive.len(), 3, "{}", world.last_words());
}

fn frozen_in_flight(what: &str, world: World, one_in: usize) {
    let (worlds, end) = before_each_write(world);
    all_end_alike(what, some(worlds, one_in, 0), &end.end(), in_flight, same_end);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_growth_in_its_hands_harms_nobody() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(3, 1));
    frozen_in_flight("a growth", world, 2);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_shrink_in_its_hands_harms_nobody() {
    let mut world = a_ring(3, 1);
    world.set_racks(&racks(2, 1));
    frozen_in_flight("a shrink", world, 2);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_rollout_in_its_hands_harms_nobody() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    frozen_in_flight("a rollout", world, 2);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_replacement_in_its_hands_harms_nobody() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    frozen_in_flight("a replacement", world, 2);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_removal_in_its_hands_harms_nobody() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.set_racks(&racks(1, 1));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    frozen_in_flight("a removal", world, 2);
}

#[test]
fn a_ring_deleted_before_it_was_initialized_is_made_again_smaller() {
    let mut world = World::new().with(&racks(3, 1));
    world.until(|w| w.names(kinds::CLAIM).len() == 4 && w.names(kinds::POD).len() == 4);
    world.pass(2);
    assert!(world.ring.founders.is_empty(), "{}", world.last_words());
    world.delete_cluster();
    world.settle();
    world.apply(&racks(1, 1));
    world.settle();
    world.expect_ring(2);
}

/// Nobody gets a pod in a rack that the spec does not name, so nobody looks.
#[test]
fn a_claim_of_another_rack_that_holds_up_the_first_start_is_named() {
    let three = a_cluster(&[("a", 1), ("b", 1), ("c", 1)]);
    let mut world = World::new().with(&three);
    world.until(|w| w.names(kinds::CLAIM).len() == 3 && w.names(kinds::POD).len() == 3);
    world.pass(2);
    assert!(world.ring.founders.is_empty(), "{}", world.last_words());
    world.delete_cluster();
    world.settle();
    world.apply(&racks(1, 1));
    world.settle();
    assert!(world.ring.founders.is_empty(), "{}", world.last_words());
    let told = world.condition("Degraded");
    let claim = told.rsplit([' ', '`']).nth(1).unwrap_or_default().to_string();
    assert!(told.starts_with("True") && claim.ends_with("-c-0"), "{told}");
    world.delete(kinds::CLAIM, &claim);
    world.settle();
    world.expect_ring(2);
}

/// The repair of the system keyspaces stays in the spec when it is done.
#[test]
fn an_operation_that_is_left_over_does_not_run_on_another_volume() {
    let mut world = a_ring(2, 1);
    let before = world.begun_by(LAST);
    assert!(!before.is_empty(), "{}", world.last_words());
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    world.settle();
    world.expect_ring(3);
    let again = world.begun_by(LAST).split_off(before.len());
    assert!(!again.iter().any(|id| before.contains(id)), "{again:?}\n{}", world.last_words());
}

#[test]
fn a_growth_after_a_lost_status_is_cleaned_up() {
    let mut world = a_ring(2, 1);
    world.erase_status();
    world.set_racks(&racks(3, 1));
    world.settle();
    world.expect_ring(4);
    let rows: Vec<u32> = (0..20).collect();
    assert_eq!(world.delete_rows(rows), 20);
    world.pass(GC_GRACE.as_secs() + 24 * 3600);
    world.set_racks(&racks(2, 1));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_leaver_whose_others_are_all_away_is_not_asked_without_end() {
    let mut world = a_ring(2, 1);
    world.set_racks(&racks(1, 1));
    world.until(|w| w.ring.in_phase(&Phase::Left).is_some());
    for member in ["demo-dc1-a-0", "demo-dc1-b-0"] {
        let node = world.node_of(member);
        world.set_machine(&node, Machine::Down);
    }
    world.pass(120);
    let writes = world.faults.writes();
    world.pass(300);
    let more = world.faults.writes() - writes;
    assert!(more < 20, "{more} writes in five minutes\n{}", world.last_words());
}

/// Budgets have a say: the API server is asked to evict each pod.
#[test]
fn a_rollout_evicts_also_where_claims_that_nobody_uses_lie_about() {
    for scaled_by_hand in [false, true] {
        let mut world = a_ring(2, 1);
        if scaled_by_hand {
            world.scale_set("demo-dc1-a", 4);
            world.settle();
            assert_eq!(world.names(kinds::CLAIM).len(), 5, "{}", world.last_words());
        }
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.settle();
        world.expect_ring(3);
        world.evicted.sort();
        let members = ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"];
        assert_eq!(world.evicted, members, "{}", world.last_words());
    }
}

/// A budget counts a pod that waits to join, which waits for the rollout.
#[test]
fn a_rollout_deletes_pods_while_a_budget_counts_those_who_wait_to_join() {
    let mut world = super::rolling::a_ring_of_4_1();
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    assert!(world.evicted.is_empty(), "{:?}\n{}", world.evicted, world.last_words());
}

#[test]
fn a_rollout_ends_no_pod_while_another_is_not_ready() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    world.expect_ring(3);
    assert!(
        world.unready_at_stop.is_empty(),
        "{:?}\n{}",
        world.unready_at_stop,
        world.last_words()
    );
}

#[test]
fn a_replacement_ends_its_turn_when_its_member_serves() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.wipe_volume(LAST);
    world.settle();
    world.expect_ring(3);
    let finished = format!("finish the replacement of member {LAST}");
    assert!(wrote(&world, &finished), "{}", world.last_words());
}

#[test]
fn a_member_that_the_others_see_down_is_told() {
    let mut world = a_ring(2, 1);
    world.cut_off(LAST);
    world.pass(60);
    expect_degraded(&world, LAST);
}

/// The last member of rack a hangs in its join or its leave: `Degraded` names it.
fn a_change_that_hangs_is_told(from: i32, to: i32) {
    let mut world = a_ring(from, 1);
    world.ring.hanging.insert("demo-dc1-a-2".into());
    world.set_racks(&racks(to, 1));
    world.pass(6 * 3600);
    world.settle();
    expect_degraded(&world, "demo-dc1-a-2");
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
}

#[test]
fn a_join_that_hangs_is_told() {
    a_change_that_hangs_is_told(2, 3);
}

#[test]
fn a_leave_that_hangs_is_told() {
    a_change_that_hangs_is_told(3, 2);
}

#[test]
fn an_agent_that_is_started_anew_while_its_member_leaves_goes_on_with_it() {
    let mut world = a_ring(3, 1);
    assert_eq!(world.write_at(20, Level::All, LAST), 20);
    world.restart_agent("demo-dc1-b-0");
    world.settle();
    world.expect_ring(4);
    world.set_racks(&racks(2, 1));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.restart_agent("demo-dc1-a-2");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_leader_whose_clock_is_off_holds_nobody_up_and_harms_nobody() {
    for minutes in [-10, 10] {
        let mut world = a_ring(2, 1);
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.until(|w| wrote(w, "for its view of the ring"));
        world.start_operator();
        world.set_leaders_clock(SignedDuration::from_mins(minutes));
        world.settle();
        world.expect_ring(3);
        assert_eq!(world.destructive.len(), 3, "{}", world.last_words());
    }
}
