//! A ring that two regions share: one of them at a time changes it, whoever dies, freezes or
//! loses the store meanwhile.

use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::regions::{Of, Regions};
use jiff::SignedDuration;
use palladion_api::labels::BREAK_REGION_LOCK;
use palladion_api::task::{MemberTaskState, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::json;

const ONE: &[(&str, i32)] = &[("a", 1)];
const TWO: &[(&str, i32)] = &[("a", 2)];

fn waits_for(world: &World, reason: &str) -> bool {
    world.waits().contains(&format!("{reason}: "))
}

/// Full members of a region's ring.
fn members(world: &World) -> usize {
    world.normal()
}

fn no_lock(regions: &Regions) {
    assert_eq!(regions.holder(), None, "at rest nobody holds it");
}

#[test]
fn two_regions_that_are_created_at_once_initialize_one_ring() {
    let mut regions = Regions::new();
    regions.create(Of::East, TWO);
    regions.create(Of::West, TWO);
    regions.settle();
    let both = regions.east.ring.founders.len() + regions.west.ring.founders.len();
    assert_eq!(both, 1, "{}", regions.last_words());
    let other = if regions.east.ring.founders.is_empty() { Of::East } else { Of::West };
    let degraded = regions.of(other).condition("Degraded");
    assert!(degraded.contains("InitializedElsewhere"), "{degraded}");
    no_lock(&regions);
    regions.allow(other);
    regions.settle();
    assert_eq!((members(&regions.east), members(&regions.west)), (2, 2));
    no_lock(&regions);
}

#[test]
fn members_of_two_regions_join_one_region_after_the_other() {
    let mut regions = Regions::with_rings(ONE);
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    regions.west.set_racks(&a_cluster(&[("a", 3)]));
    regions.until(|r| {
        waits_for(&r.east, "WaitingForRegion") || waits_for(&r.west, "WaitingForRegion")
    });
    regions.settle();
    assert_eq!(
        (members(&regions.east), members(&regions.west)),
        (3, 3),
        "{}",
        regions.last_words()
    );
    let order: Vec<&str> = regions.begun.iter().map(|(region, _)| *region).collect();
    let is_one_after_the_other =
        order == ["east", "east", "west", "west"] || order == ["west", "west", "east", "east"];
    assert!(is_one_after_the_other, "a region keeps the lock until it is ready: {order:?}");
    no_lock(&regions);
}

#[test]
fn at_rest_nobody_asks_the_store() {
    let mut regions = Regions::with_rings(TWO);
    no_lock(&regions);
    let before = regions.locks.requests;
    regions.pass(3600);
    assert_eq!(regions.locks.requests, before);
}

#[test]
fn a_ring_that_is_not_shared_asks_no_store() {
    let mut world = World::new().with(&a_cluster(TWO));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 3)]));
    world.settle();
    assert_eq!(world.store.locks.requests, 0);
    for (_, member) in world.store.list(kinds::MEMBER) {
        let (spec, status) = (&member["spec"], &member["status"]);
        assert!(spec["begin"].is_null() && status["begin"].is_null(), "{member}");
        assert!(spec["start"]["lockToken"].is_null(), "{member}");
    }
}

#[test]
fn while_the_store_is_away_servers_come_back_and_work_waits() {
    let mut regions = Regions::with_rings(TWO);
    regions.locks.is_away = true;
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    regions.until(|r| waits_for(&r.east, "RegionLockUnavailable"));
    regions.east.delete(kinds::POD, "demo-dc1-a-1");
    regions.pass(300);
    assert_eq!(members(&regions.east), 2, "it comes back by itself: {}", regions.last_words());
    regions.locks.is_away = false;
    regions.settle();
    assert_eq!(members(&regions.east), 3, "{}", regions.last_words());
}

#[test]
fn an_answer_that_is_lost_costs_nothing_but_time() {
    let mut regions = Regions::with_rings(ONE);
    regions.locks.lost_answers = 3;
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.settle();
    assert_eq!(members(&regions.east), 2, "{}", regions.last_words());
    no_lock(&regions);
}

#[test]
fn when_the_holder_dies_in_a_join_the_other_waits_for_its_lease() {
    let mut regions = Regions::with_rings(ONE);
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.begun.len() == 1);
    regions.east.operator_goes_away();
    let died = regions.now();
    regions.west.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.begun.len() == 2);
    assert_eq!(regions.begun[1].0, "west");
    let waited = regions.now().duration_since(died);
    assert!(waited >= SignedDuration::from_secs(45), "the lease was not over: {waited}");
    regions.settle();
    assert_eq!(members(&regions.east), 2, "its server has gone on");
    regions.east.operator_comes_back();
    regions.settle();
    assert!(regions.east.status()["turn"].is_null(), "{}", regions.last_words());
    no_lock(&regions);
}

#[test]
fn a_new_leader_goes_on_with_the_lock_of_its_region() {
    let mut regions = Regions::with_rings(ONE);
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.begun.len() == 1);
    let token = regions.locks.token("demo").cloned();
    regions.east.operators.clear();
    regions.east.start_operator();
    regions.until(|r| r.east.status()["turn"].is_null());
    assert!(token.is_some());
    assert_eq!(regions.locks.token("demo").cloned().or(token.clone()), token);
    regions.settle();
    assert_eq!(members(&regions.east), 2, "{}", regions.last_words());
}

/// Frozen with each write of a join in hand, for longer than its lease lasts.
#[test]
fn what_a_frozen_holder_had_in_hand_begins_nothing() {
    let made = Regions::with_rings(ONE);
    for write in [0, 2, 3, 5, 7] {
        let mut regions = made.clone();
        let at = regions.east.faults.writes() + write;
        regions.east.faults.plan(at, Fault::FreezeInFlight);
        regions.east.set_racks(&a_cluster(&[("a", 2)]));
        regions.pass(120);
        if !regions.east.faults.is_over() {
            break;
        }
        regions.west.set_racks(&a_cluster(&[("a", 2)]));
        regions.until(|r| r.begun.iter().any(|(region, _)| *region == "west"));
        // That a member of the east begins now, with a permit that arrives late, is looked for at
        // each step.
        regions.east.start_operator();
        regions.east.operators[0].thaw();
        regions.pass(30);
        regions.east.operators.remove(0);
        regions.settle();
        assert_eq!(
            (members(&regions.east), members(&regions.west)),
            (2, 2),
            "frozen at write {write}: {}",
            regions.last_words()
        );
    }
}

#[test]
fn a_lock_that_is_lost_in_a_join_stops_the_next_step_and_no_server() {
    let mut regions = Regions::with_rings(ONE);
    regions.locks.back_up();
    regions.east.ring.hanging.insert("demo-dc1-a-1".into());
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.begun.len() == 1);
    // The store is restored to a state before; the other region takes the lock in it.
    regions.locks.restore();
    regions.west.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.holder().as_deref() == Some("west"));
    regions.until(|r| waits_for(&r.east, "LockLost"));
    regions.east.ring.hanging.clear();
    regions.settle();
    assert_eq!(
        (members(&regions.east), members(&regions.west)),
        (2, 2),
        "{}",
        regions.last_words()
    );
    no_lock(&regions);
}

#[test]
fn a_person_takes_the_lock_from_a_region_that_is_gone() {
    let mut regions = Regions::with_rings(ONE);
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.begun.len() == 1);
    regions.west.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| r.west.waits().contains("region east holds the lock"));
    let token = regions.locks.token("demo").cloned().expect("it is held");
    let shown = regions.west.waits();
    assert!(shown.contains(token.as_str()), "the message shows it: {shown}");
    regions.east.operator_goes_away();
    // Another token takes nothing.
    regions.west.annotate_cluster(BREAK_REGION_LOCK, "1-another");
    regions.pass(12);
    assert_eq!(regions.holder().as_deref(), Some("east"));
    let asked = regions.now();
    regions.west.annotate_cluster(BREAK_REGION_LOCK, token.as_str());
    regions.until(|r| r.holder().as_deref() == Some("west"));
    assert!(regions.now().duration_since(asked) < SignedDuration::from_secs(15));
    regions.settle();
    assert_eq!(members(&regions.west), 2, "{}", regions.last_words());
}

#[test]
fn while_it_is_paused_none_is_taken_and_one_in_a_turn_is_kept() {
    let mut regions = Regions::with_rings(ONE);
    regions.east.patch_spec(&json!({ "paused": true }));
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.pass(60);
    no_lock(&regions);
    regions.east.patch_spec(&json!({ "paused": false }));
    regions.until(|r| r.begun.len() == 1);
    regions.east.patch_spec(&json!({ "paused": true }));
    regions.pass(300);
    assert_eq!(regions.holder().as_deref(), Some("east"), "{}", regions.last_words());
    regions.east.patch_spec(&json!({ "paused": false }));
    regions.settle();
    no_lock(&regions);
}

#[test]
fn a_change_that_gets_nowhere_stays_in_its_region() {
    let mut regions = Regions::with_rings(TWO);
    regions.east.ring.hanging.insert("demo-dc1-a-2".into());
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    regions.until(|r| r.begun.len() == 1);
    regions.west.set_racks(&a_cluster(&[("a", 3)]));
    regions.pass(600);
    assert_eq!(regions.holder().as_deref(), Some("east"), "{}", regions.last_words());
    assert!(waits_for(&regions.west, "WaitingForRegion"), "{}", regions.last_words());
    assert_eq!(members(&regions.west), 2);
}

#[test]
fn an_agent_that_does_not_ask_back_gets_no_turn() {
    let mut regions = Regions::with_rings(&[("a", 3)]);
    regions.east.set_protocol(13);
    regions.east.set_racks(&a_cluster(&[("a", 2)]));
    regions.until(|r| waits_for(&r.east, "AgentTooOld"));
    regions.pass(120);
    assert_eq!(members(&regions.east), 3, "{}", regions.last_words());
    regions.east.set_protocol(palladion_api::member::PROTOCOL);
    regions.settle();
    assert_eq!(members(&regions.east), 2, "{}", regions.last_words());
}

#[test]
fn a_ring_that_is_shared_without_a_lock_waits_for_a_person() {
    let mut regions = Regions::new();
    regions.east.set_operator_config(json!({ "regionLock": null }));
    regions.create(Of::East, ONE);
    regions.settle();
    let degraded = regions.east.condition("Degraded");
    assert!(degraded.contains("RegionLockMissing"), "{degraded}");
    assert!(degraded.contains("has no `regionLock`"), "{degraded}");
    assert!(regions.east.ring.founders.is_empty());
    let lock = json!({ "etcd": { "endpoints": ["https://etcd.example.com:2379"] } });
    regions.east.set_operator_config(json!({ "regionLock": lock }));
    regions.settle();
    assert_eq!(members(&regions.east), 1, "{}", regions.last_words());
}

fn first() -> ObjectKey {
    ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-0")
}

fn owe_repair(world: &mut World) {
    let pending = json!([{ "kind": "Repair", "reason": "an outage" }]);
    let spec = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&first(), &spec, Subresource::None).expect("it is recorded");
}

fn owes_nothing(world: &World) -> bool {
    let member = world.store.get(&first()).expect("a member");
    member["spec"]["pendingMaintenance"].as_array().is_none_or(|all| all.is_empty())
}

#[test]
fn maintenance_needs_no_lock() {
    let mut regions = Regions::with_rings(TWO);
    regions.locks.is_away = true;
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    owe_repair(&mut regions.east);
    regions.until(|r| waits_for(&r.east, "RegionLockUnavailable") && owes_nothing(&r.east));
    assert!(waits_for(&regions.east, "RegionLockUnavailable"), "{}", regions.last_words());
    assert_eq!(members(&regions.east), 2);
}

/// It changes the ring for all regions, and a statement that two of them make ends in either order.
#[test]
fn a_task_for_the_whole_ring_waits_for_the_lock_and_keeps_it() {
    let mut regions = Regions::with_rings(TWO);
    regions.east.ring.hanging.insert("demo-dc1-a-2".into());
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    regions.until(|r| r.begun.len() == 1);
    let raise = json!({ "cluster": "demo", "replication": {
        "keyspaces": ["shop"], "datacenter": "dc1", "factor": 2,
    }});
    crate::tasks::ask(&mut regions.west, "raise", &raise);
    crate::tasks::ask(&mut regions.west, "flush", &json!({ "cluster": "demo", "flush": {} }));
    regions.pass(900);
    let phase = |world: &World, name: &str| crate::tasks::status(world, name).phase;
    assert_eq!(phase(&regions.west, "flush"), Some(TaskPhase::Done), "{}", regions.last_words());
    let raised = crate::tasks::status(&regions.west, "raise");
    assert!(raised.members.iter().all(|m| m.started_at.is_none()), "{raised:?}");
    let said = format!("{:?}", raised.conditions);
    assert!(said.contains("region east holds the lock of this ring"), "{said}");
    regions.east.ring.hanging.clear();
    let works = |r: &Regions| {
        let raise = crate::tasks::status(&r.west, "raise");
        raise.members.iter().any(|m| m.state == MemberTaskState::Running)
    };
    regions.until(works);
    regions.east.set_racks(&a_cluster(&[("a", 4)]));
    regions.pass(10);
    assert!(works(&regions), "{}", regions.last_words());
    assert_eq!(regions.holder().as_deref(), Some("west"), "{}", regions.last_words());
    assert_eq!(members(&regions.east), 3, "nobody joins beside it");
    regions.settle();
    assert_eq!(phase(&regions.west, "raise"), Some(TaskPhase::Done), "{}", regions.last_words());
    assert_eq!(members(&regions.east), 4, "{}", regions.last_words());
    no_lock(&regions);
}

/// A region whose member sets copies for all regions.
fn sets_copies() -> Regions {
    let mut regions = Regions::with_rings(TWO);
    regions.west.ring.hanging.extend(["demo-dc1-a-0", "demo-dc1-a-1"].map(str::to_string));
    let raise = json!({ "cluster": "demo", "replication": {
        "keyspaces": ["shop"], "datacenter": "dc1", "factor": 2,
    }});
    crate::tasks::ask(&mut regions.west, "raise", &raise);
    regions.until(|r| !r.west.ring.calls.is_empty());
    regions.east.set_racks(&a_cluster(&[("a", 3)]));
    regions
}

/// What is begun goes on in a pause.
#[test]
fn a_task_for_the_whole_ring_keeps_the_lock_in_a_pause() {
    let mut regions = sets_copies();
    regions.west.patch_spec(&json!({ "paused": true }));
    regions.pass(120);
    assert_eq!(regions.holder().as_deref(), Some("west"), "{}", regions.last_words());
    assert_eq!(members(&regions.east), 2, "nobody joins beside it");
}

/// It may be at what it was asked for.
#[test]
fn a_task_for_the_whole_ring_keeps_the_lock_while_nobody_hears_of_its_member() {
    let mut regions = sets_copies();
    let task = crate::tasks::status(&regions.west, "raise");
    let writer = task.members[0].name.to_string();
    let node = regions.west.node_of(&writer);
    regions.west.set_machine(&node, palladion_plan::sim::kubernetes::Machine::Down);
    regions.pass(300);
    assert_eq!(regions.holder().as_deref(), Some("west"), "{}", regions.last_words());
    assert_eq!(members(&regions.east), 2, "nobody joins beside it");
}
