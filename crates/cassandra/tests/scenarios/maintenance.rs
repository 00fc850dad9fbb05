//! Repairs and cleanups that a ring needs: after which events, and what waits
//! for them.

use crate::every::a_ring;
use crate::holes::{three_copies, wrote};
use crate::nodes::LAST;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::{Force, Phase};
use crate::sim::world::Link;
use crate::tasks::{ask, status};
use crate::told::a_ring_of_scylla;
use jiff::SignedDuration;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

/// The member on machine n3.
pub const AWAY: &str = "demo-dc1-c-0";

/// A ring in which one member was away for so long and has just come back.
pub fn away_for(mut world: World, seconds: i64) -> World {
    world.set_machine("n3", Machine::Down);
    world.pass(seconds);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
    world.set_machine("n3", Machine::Up);
    world.writes.clear();
    world
}

/// It is cut off for longer than hints are kept, and clients write.
pub fn cut_off_while_clients_write(world: &mut World) {
    world.cut_off(AWAY);
    world.pass(5 * 3600);
    assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
}

/// Who was cut off is repaired once, and the ring is whole.
pub fn is_repaired_when_it_is_back(world: &mut World) {
    world.reconnect();
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

pub fn lose(world: &mut World, member: &str) {
    world.delete(kinds::POD, member);
    world.wipe_volume(member);
}

/// How many repairs were started on a member.
pub fn repairs(world: &World, member: &str) -> usize {
    let words = format!("start the pending repair on member {member}");
    world.writes.iter().filter(|w| w.contains(&words)).count()
}

#[test]
fn an_outage_that_hints_cover_needs_no_repair() {
    let mut world = away_for(three_copies(), 2 * 3600);
    world.settle();
    assert!(!wrote(&world, "repair"), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_hint_window_of_the_configuration_counts() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "config": { "max_hint_window": "1h" } }));
    world.settle();
    let mut world = away_for(world, 2 * 3600);
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn an_outage_is_remembered_by_the_next_leader() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(4 * 3600);
    world.operators.clear();
    world.start_operator();
    world.pass(60);
    world.set_machine("n3", Machine::Up);
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_member_that_was_cut_off_for_longer_than_hints_are_kept_is_repaired() {
    let mut world = three_copies();
    cut_off_while_clients_write(&mut world);
    is_repaired_when_it_is_back(&mut world);
}

#[test]
fn a_member_that_lacks_data_is_repaired_before_a_lost_one_is_replaced() {
    let mut world = away_for(three_copies(), 5 * 3600);
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    lose(&mut world, "demo-dc1-a-0");
    world.settle();
    world.expect_ring(3);
    assert_eq!(repairs(&world, "demo-dc1-a-0"), 1, "whoever replaces is repaired");
}

/// The repair of whoever was away came before the replacement of the lost one, and once more after
/// it; what the rows of the ring show is that it had ended.
fn is_repaired_first(world: &World) {
    let first = |words: &str| world.writes.iter().position(|w| w.contains(words));
    assert_eq!(repairs(world, AWAY), 2, "{:#?}", world.writes);
    let repair = first(&format!("start the pending repair on member {AWAY}"));
    let replaced = first("begin the replacement").or(first("permit member demo-dc1-a-0"));
    assert!(repair.is_some() && repair < replaced, "{:#?}", world.writes);
}

/// It is back while the replacement of another one waits for it: nobody has
/// counted its absence when that could begin.
#[test]
fn a_member_that_comes_back_lacking_data_is_repaired_before_the_lost_one_is_replaced() {
    let mut world = three_copies();
    cut_off_while_clients_write(&mut world);
    lose(&mut world, "demo-dc1-a-0");
    world.pass(60);
    world.reconnect();
    world.writes.clear();
    world.settle();
    world.expect_ring(3);
    is_repaired_first(&world);
}

/// Each start goes through a moment in which the member is up and takes no clients yet. One that
/// somebody has closed for longer is waited for as well, and that is reported.
#[test]
fn a_member_that_lacks_data_is_repaired_before_a_replacement_although_it_is_not_open_yet() {
    for seconds in [300, 2 * 3600] {
        let mut world = three_copies();
        world.set_machine("n3", Machine::Down);
        world.pass(5 * 3600);
        assert_eq!(world.write(20), 20, "two of three take writes at QUORUM");
        lose(&mut world, "demo-dc1-a-0");
        world.pass(60);
        world.ring.closed.insert(AWAY.into());
        world.set_machine("n3", Machine::Up);
        world.until(|w| w.normal() == 2);
        world.writes.clear();
        world.pass(seconds);
        assert!(!wrote(&world, "begin the replacement"), "{}", world.last_words());
        assert!(world.waits().contains("nodetool enablebinary"), "{}", world.waits());
        let degraded = world.condition("Degraded");
        assert_eq!(degraded.contains("RepairOverdue"), seconds > 3600, "{degraded}");
        world.ring.closed.clear();
        world.settle();
        world.expect_ring(3);
        is_repaired_first(&world);
    }
}

/// A ring in which a member has just come back that lacks data, and that waits for no Node that is
/// gone.
fn away_where_nodes_are_lost_at_once() -> World {
    let mut world = three_copies();
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let mut world = away_for(world, 5 * 3600);
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    world
}

/// A Node, by its name and its zone.
type Node = (String, String);

/// The Node of a member is deleted, as its machine is down.
fn goes(world: &mut World, member: &str) -> Node {
    let node = world.node_of(member);
    let known = world.store.get(&ObjectKey::new(kinds::NODE, "", &node)).expect("it is there");
    let zone = known["metadata"]["labels"]["topology.kubernetes.io/zone"].clone();
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    (node, zone.as_str().expect("a zone").to_string())
}

fn comes_back(world: &mut World, (node, zone): &Node) {
    world.register_node(node, zone);
    world.set_machine(node, Machine::Up);
    world.pass(60);
}

/// Is the repair asked for that leaves a lost member out?
fn is_repaired_without_another(world: &World) -> bool {
    let member = world.store.get(&member_key(AWAY)).expect("the member should exist");
    member["spec"]["operation"]["target"].is_string()
}

/// It was compared with those that were left: what the lost one alone has is missing still, and
/// that one is back.
#[test]
fn a_repair_without_a_lost_member_that_comes_back_is_made_again_with_it() {
    let mut world = away_where_nodes_are_lost_at_once();
    let node = goes(&mut world, "demo-dc1-a-0");
    world.until(|w| wrote(w, "mark the volume of member demo-dc1-a-0 for replacement"));
    world.ring.hanging.insert(AWAY.into());
    world.until(is_repaired_without_another);
    comes_back(&mut world, &node);
    world.ring.hanging.clear();
    world.settle();
    // The first failed, since the other one was down; the second left it out.
    assert_eq!(repairs(&world, AWAY), 3, "{}", world.last_words());
    assert!(!wrote(&world, "begin the replacement"), "{}", world.last_words());
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    world.expect_ring(3);
}

/// It is repaired without the lost member, and what it lacks of another absence is found meanwhile.
#[test]
fn a_member_that_was_away_once_more_is_repaired_once_more_before_a_replacement() {
    let mut world = away_for(three_copies(), 5 * 3600);
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    lose(&mut world, "demo-dc1-a-0");
    world.ring.hanging.insert(AWAY.into());
    let member = |w: &World| -> Value {
        (**w.store.get(&member_key(AWAY)).expect("the member should exist")).clone()
    };
    world.until(|w| member(w)["status"]["operation"]["state"] == "Running");
    assert!(is_repaired_without_another(&world));
    let mut pending = member(&world)["spec"]["pendingMaintenance"].clone();
    let again = json!({ "kind": "Repair", "ranges": "All", "reason": "another absence" });
    pending.as_array_mut().expect("the first one is on record").push(again);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&member_key(AWAY), &spec, Subresource::None).expect("it should exist");
    world.ring.hanging.clear();
    world.until(|w| wrote(w, "begin the replacement"));
    assert_eq!(repairs(&world, AWAY), 2, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
}

/// Its agent begins nothing there, and nobody waits for the one that was lost any more.
#[test]
fn a_repair_without_a_lost_member_that_cannot_begin_holds_up_nothing_once_that_one_is_back() {
    let mut world = away_where_nodes_are_lost_at_once();
    world.ring.closed.insert(AWAY.into());
    let node = goes(&mut world, "demo-dc1-a-0");
    world.until(is_repaired_without_another);
    comes_back(&mut world, &node);
    let flush = json!({ "cluster": "demo", "flush": {}, "members": ["demo-dc1-a-0"] });
    ask(&mut world, "flush", &flush);
    world.pass(1800);
    assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert!(world.waits().contains("nodetool enablebinary"), "{}", world.waits());
    world.ring.closed.clear();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_repair_that_fails_holds_up_no_replacement() {
    let mut world = away_for(three_copies(), 5 * 3600);
    // What it lacks is not written again: the first try decides.
    world.ring.clients.told.clear();
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    lose(&mut world, "demo-dc1-a-0");
    world.until(|w| repairs(w, AWAY) > 0);
    world.ring.failing.insert(AWAY.into());
    world.settle();
    world.expect_ring(3);
}

/// Nobody would know otherwise: the member counts as repaired from then on.
#[test]
fn maintenance_that_a_person_takes_off_a_member_is_told_and_what_was_carried_out_is_not() {
    let mut world = away_for(three_copies(), 5 * 3600);
    world.until(|w| wrote(w, &format!("record that member {AWAY} is up again")));
    let mut undisturbed = world.clone();
    undisturbed.settle();
    assert_eq!(repairs(&undisturbed, AWAY), 1, "{}", undisturbed.last_words());
    assert!(!undisturbed.events.contains(&Reason::MaintenanceWaived));
    world.ring.hanging.insert(AWAY.into());
    world.until(|w| repairs(w, AWAY) > 0);
    let none = json!({ "spec": { "pendingMaintenance": [] } });
    world.store.merge(&member_key(AWAY), &none, Subresource::None).expect("it should exist");
    world.pass(60);
    assert!(world.events.contains(&Reason::MaintenanceWaived), "{}", world.last_words());
}

#[test]
fn whoever_replaces_a_lost_member_is_repaired() {
    let mut world = a_ring(2, 1);
    lose(&mut world, LAST);
    world.settle();
    assert_eq!(repairs(&world, LAST), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn nobody_leaves_before_a_pending_repair() {
    let mut world = a_ring(3, 1);
    let debtor = ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-0");
    let pending = json!([{ "kind": "Repair", "reason": "an outage" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&debtor, &spec, Subresource::None).expect("the member should exist");
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| wrote(w, "decommission member"));
    let begun = world.begun_by("demo-dc1-a-0");
    let repairs = begun.iter().filter(|id| id.starts_with("pay-repair"));
    assert_eq!(repairs.count(), 1, "{}", world.last_words());
}

#[test]
fn a_cleanup_waits_while_a_member_leaves_by_hand() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    world.ring.hanging.insert("demo-dc1-a-0".into());
    world.nodetool_decommission("demo-dc1-a-0", Force::Yes);
    world.pass(300);
    assert!(wrote(&world, "record the pending maintenance"), "{}", world.last_words());
    assert!(!wrote(&world, "start the pending cleanup"), "{}", world.last_words());
}

#[test]
fn a_join_that_nobody_saw_end_is_followed_by_a_cleanup() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Joining { replaces: None }).is_some());
    world.api_goes_away();
    world.until(|w| w.normal() == 4);
    world.delete(kinds::POD, "demo-dc1-a-2");
    world.pass(60);
    world.api_returns();
    world.writes.clear();
    world.settle();
    assert!(wrote(&world, "start the pending cleanup"), "{}", world.last_words());
    world.expect_ring(4);
}

#[test]
fn a_ring_that_is_stopped_when_a_member_has_just_joined_is_cleaned_up_afterwards() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.normal() == 4);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    assert!(wrote(&world, "start the pending cleanup"), "{}", world.last_words());
    world.expect_ring(4);
}

/// Twelve days: two more than tombstones are kept.
pub const TOO_LONG: i64 = 12 * 24 * 3600;

pub fn member_key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::MEMBER, "default", name)
}

/// A person allows the start by the time that the message names.
pub fn allow(world: &mut World, member: &str) {
    let object = world.store.get(&member_key(member)).unwrap().clone();
    assert_eq!(object["status"]["server"]["reason"], "DataTooOld");
    let at = &object["status"]["volume"]["lastRanAt"];
    let message = object["status"]["server"]["message"].as_str().unwrap();
    assert!(message.contains(at.as_str().unwrap()), "{message}");
    let patch = json!({ "spec": { "allowStaleStart": at } });
    world.store.merge(&member_key(member), &patch, Subresource::None).unwrap();
}

pub fn is_allowed(world: &World, member: &str) -> bool {
    !world.store.get(&member_key(member)).unwrap()["spec"]["allowStaleStart"].is_null()
}

/// Its machine was off, and boots with the time at which it was shut down.
#[test]
fn a_member_that_was_down_for_too_long_waits_although_its_clock_is_behind() {
    let mut world = three_copies();
    world.set_machine("n3", Machine::Down);
    world.pass(3600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "{}", world.last_words());
    world.pass(TOO_LONG);
    world.set_clock(AWAY, SignedDuration::from_secs(-TOO_LONG - 3600));
    world.set_machine("n3", Machine::Up);
    world.pass(3600);
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("DataTooOld"), "{degraded}\n{}", world.last_words());
    // The time is set right.
    world.set_clock(AWAY, SignedDuration::ZERO);
    world.settle();
    assert!(world.condition("Degraded").contains("DataTooOld"), "{}", world.last_words());
}

#[test]
fn a_start_with_data_that_is_too_old_is_allowed_by_the_time_that_the_message_names() {
    let mut world = away_for(three_copies(), TOO_LONG);
    world.settle();
    allow(&mut world, AWAY);
    world.settle();
    let begun = world.begun_by(AWAY);
    let begun = begun.iter().filter(|id| id.starts_with("pay-repair")).count();
    assert_eq!(begun, 1, "{}", world.last_words());
    assert!(!is_allowed(&world, AWAY), "it was used");
    world.expect_ring(3);
}

#[test]
fn a_ring_that_was_stopped_for_longer_than_tombstones_are_kept_starts_again() {
    let mut world = three_copies();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.pass(TOO_LONG);
    world.patch_spec(&json!({ "run": "Running" }));
    world.writes.clear();
    world.settle();
    assert!(wrote(&world, "the whole ring has been down"), "{}", world.last_words());
    assert!(!is_allowed(&world, AWAY), "it was used");
    world.expect_ring(3);
}

#[test]
fn a_ring_whose_machines_were_all_down_for_so_long_starts_when_each_member_has_reported() {
    let mut world = three_copies();
    for machine in ["n1", "n2", "n3"] {
        world.set_machine(machine, Machine::Down);
    }
    world.pass(TOO_LONG);
    world.set_machine("n1", Machine::Up);
    world.set_machine("n2", Machine::Up);
    world.pass(3600);
    assert!(!wrote(&world, "the whole ring has been down"), "the third may have run");
    world.set_machine("n3", Machine::Up);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn who_comes_back_long_after_the_others_were_allowed_to_start_is_not_allowed() {
    let mut world = three_copies();
    for machine in ["n1", "n2", "n3"] {
        world.set_machine(machine, Machine::Down);
    }
    world.pass(TOO_LONG);
    world.set_machine("n1", Machine::Up);
    world.set_machine("n2", Machine::Up);
    world.pass(600);
    allow(&mut world, "demo-dc1-a-0");
    allow(&mut world, "demo-dc1-b-0");
    world.pass(600);
    assert_eq!(world.delete_rows(0..20_u32), 20, "{}", world.last_words());
    world.pass(TOO_LONG);
    world.set_machine("n3", Machine::Up);
    world.settle();
    assert!(!is_allowed(&world, AWAY));
    assert!(world.condition("Degraded").contains("DataTooOld"), "{}", world.condition("Degraded"));
}

#[test]
fn an_older_agent_is_not_asked_for_a_repair_that_it_does_not_know() {
    let mut world = three_copies();
    world.set_protocol(1);
    cut_off_while_clients_write(&mut world);
    world.reconnect();
    world.writes.clear();
    world.settle();
    assert_eq!(repairs(&world, AWAY), 0, "{}", world.last_words());
    let waits = world.waits();
    assert!(waits.contains("roll out a newer agent") && waits.contains(AWAY), "{waits}");
    // New pods have newer agents.
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    assert_eq!(repairs(&world, AWAY), 1, "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn members_of_a_ring_of_scylla_are_cleaned_up_after_a_join() {
    let mut world = a_ring_of_scylla();
    world.settle();
    assert!(!wrote(&world, "cleanup"), "a ring that is created holds nothing yet");
    world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    world.settle();
    world.expect_ring(4);
    for member in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        let begun = format!("start the pending cleanup on member {member}");
        assert!(wrote(&world, &begun), "{}", world.last_words());
    }
}

/// This member needs a cleanup.
fn needs_a_cleanup(world: &mut World, member: &str) {
    let pending = json!([{ "kind": "Cleanup", "reason": "a join" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&member_key(member), &spec, Subresource::None).expect("it should exist");
}

/// Somebody has closed it to clients, before it was asked or right after.
#[test]
fn maintenance_that_a_member_cannot_begin_holds_up_no_task_and_is_done_later() {
    const FIRST: &str = "demo-dc1-a-0";
    for is_asked in [false, true] {
        let mut world = a_ring(2, 1);
        if is_asked {
            // Its agent hears of it when it is closed already.
            world.agent_is_cut(FIRST, Link::Cut);
            needs_a_cleanup(&mut world, FIRST);
            world.until(|w| wrote(w, "start the pending cleanup on member"));
            world.ring.closed.insert(FIRST.into());
            world.pass(5);
            world.agents_are_back();
        } else {
            world.ring.closed.insert(FIRST.into());
            world.pass(60);
            needs_a_cleanup(&mut world, FIRST);
        }
        let flush = json!({ "cluster": "demo", "flush": {}, "members": [LAST] });
        ask(&mut world, "flush", &flush);
        world.pass(900);
        assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.waits());
        let waits = world.waits();
        assert!(
            waits.contains("nodetool enablebinary"),
            "{is_asked}: {waits}; {}",
            world.last_words()
        );
        for words in ["start the pending cleanup on member", "withdraw the request for the cleanup"]
        {
            assert_eq!(wrote(&world, words), is_asked, "{words}: {}", world.last_words());
        }
        let writes = world.writes.len();
        world.pass(1800);
        assert_eq!(world.writes.len(), writes, "it is not asked over and over");
        world.ring.closed.remove(FIRST);
        world.settle();
        let begun = world.begun_by(FIRST);
        let cleanups = begun.iter().filter(|id| id.starts_with("pay-cleanup")).count();
        assert_eq!(cleanups, 1, "{is_asked}: {}", world.last_words());
        world.expect_ring(3);
    }
}

/// The same of what the operator does for the system keyspaces: another member runs the statement,
/// and the repairs wait until all can be asked.
#[test]
fn system_keyspaces_of_a_ring_with_a_closed_member_hold_up_no_task() {
    const FIRST: &str = "demo-dc1-a-0";
    for is_asked in [false, true] {
        let mut world = a_ring(1, 1);
        world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
        match is_asked {
            false => {
                world.ring.closed.insert(FIRST.into());
            }
            true => {
                world.until(|w| {
                    wrote(w, "replication factor of the system keyspaces is being changed to 3")
                });
                world.agent_is_cut(FIRST, Link::Cut);
                world.until(|w| {
                    wrote(w, &format!("start the replication change on member {FIRST}"))
                });
                world.ring.closed.insert(FIRST.into());
                world.pass(5);
                world.agents_are_back();
            }
        }
        world.pass(900);
        assert_eq!(world.normal(), 3, "{}", world.last_words());
        let flush = json!({ "cluster": "demo", "flush": {}, "members": [LAST] });
        ask(&mut world, "flush", &flush);
        world.pass(900);
        assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.waits());
        assert!(world.waits().contains("nodetool enablebinary"), "{}", world.waits());
        let withdrawn = "withdraw the request for the replication change of the system keyspaces";
        assert_eq!(wrote(&world, withdrawn), is_asked, "{}", world.last_words());
        let writes = world.writes.len();
        world.pass(1800);
        assert_eq!(world.writes.len(), writes, "it is not asked over and over");
        world.ring.closed.clear();
        world.settle();
        assert_eq!(world.status()["systemReplication"], json!(3), "{}", world.last_words());
        world.expect_ring(3);
    }
}

/// Its server goes on with what an agent has called for that is restarted meanwhile: the next
/// one waits for its end, and asks for nothing beside it.
fn its_agent_is_restarted(world: &mut World, member: &str, operation: &str) {
    world.ring.hanging.insert(member.into());
    let words = format!("start the pending {operation} on member {member}");
    world.until(|w| wrote(w, &words));
    world.until(|w| !w.ring.ordered.is_empty());
    world.restart_agent(member);
    // A task begins beside it no more than another operation does.
    ask(world, "flush", &json!({ "cluster": "demo", "flush": {} }));
    world.pass(600);
    assert_eq!(world.ring.ordered.len(), 1, "{}", world.last_words());
    assert!(world.ring.units.is_empty(), "{}", world.last_words());
    world.ring.hanging.remove(member);
}

#[test]
fn a_pending_repair_does_not_run_twice_when_its_agent_is_restarted() {
    let mut world = away_for(three_copies(), 5 * 3600);
    its_agent_is_restarted(&mut world, AWAY, "repair");
    world.settle();
    // The first one was interrupted as far as anybody knows.
    assert_eq!(repairs(&world, AWAY), 2, "{}", world.last_words());
    assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn a_pending_cleanup_does_not_run_twice_when_its_agent_is_restarted() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.normal() == 4);
    its_agent_is_restarted(&mut world, "demo-dc1-a-0", "cleanup");
    world.settle();
    world.expect_ring(4);
}
