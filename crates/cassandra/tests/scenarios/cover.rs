//! A schedule that covers a ring: every range is repaired before deletions in it
//! are forgotten, or it is said before that it will not be.

use crate::every::{a_ring, before_each_write, some};
use crate::holes::three_copies;
use crate::maintenance::TOO_LONG;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::repair::Repaired;
use crate::sim::rows::RANGES;
use crate::tasks::status as task_status;
use jiff::SignedDuration;
use palladion_api::member::PROTOCOL;
use palladion_api::task::TaskPhase;
use palladion_api::task_schedule::CassandraTaskScheduleStatus;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Agents that speak this do not know what is due.
const KNOWS_NOT_DUE: u32 = 3;
/// Those that do and repair all of it, whatever others repair.
const KNOWS_NO_GRANTS: u32 = 4;

const NAME: &str = "always";
const DAY: i64 = 24 * 3600;

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::SCHEDULE, NAMESPACE, name)
}

/// A person covers the ring.
pub fn cover(world: &mut World, name: &str, cover: &Value) {
    world.tell(&format!("a person makes the schedule {name} that covers {cover}"));
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": { "cluster": "demo", "cover": cover },
    });
    world.store.create(&key(name), &schedule).expect("the schedule should be accepted");
}

fn covered(mut world: World) -> World {
    cover(&mut world, NAME, &json!({}));
    world
}

fn status(world: &World, name: &str) -> CassandraTaskScheduleStatus {
    let schedule = world.store.get(&key(name)).expect("the schedule should exist");
    serde_json::from_value(schedule["status"].clone()).unwrap_or_default()
}

/// A condition of the schedule: status, reason and message.
fn condition(world: &World, name: &str, type_: &str) -> String {
    let status = status(world, name);
    let found = status.conditions.iter().find(|c| c.type_ == type_);
    found.map(|c| format!("{} {}: {}", c.status, c.reason, c.message)).unwrap_or_default()
}

fn starts(world: &World, type_: &str, with: &str) -> bool {
    condition(world, NAME, type_).starts_with(with)
}

/// Phases of all tasks, in the order of their names, which is that of their creation.
fn phases(world: &World) -> Vec<Option<TaskPhase>> {
    world.names(kinds::TASK).iter().map(|name| task_status(world, name).phase).collect()
}

fn is_done(world: &World) -> bool {
    let phases = phases(world);
    !phases.is_empty() && phases.iter().all(|phase| *phase == Some(TaskPhase::Done))
}

/// How often each range was begun.
pub fn times(repaired: &[Repaired]) -> BTreeMap<u32, usize> {
    let mut times = BTreeMap::new();
    for one in repaired {
        *times.entry(one.range).or_default() += 1;
    }
    times
}

/// Every range was begun so often.
fn each(repaired: &[Repaired], often: usize) -> bool {
    times(repaired) == (0..RANGES).map(|range| (range, often)).collect()
}

fn go_to(world: &mut World, second: i64) {
    while world.clock() < second {
        world.pass((second - world.clock()).min(3600));
    }
    // What is due at that time is done.
    world.pass(5);
}

/// The parts of tasks that members have now.
fn given(world: &World) -> Vec<Value> {
    let members = world.store.list(kinds::MEMBER);
    members.map(|(_, m)| m["spec"]["job"].clone()).filter(Value::is_object).collect()
}

/// Ranges of which this member has no copy.
pub fn without(world: &World, member: &str) -> BTreeSet<u32> {
    let member = world.store.get(&ObjectKey::new(kinds::MEMBER, NAMESPACE, member));
    let host = member.and_then(|m| m["spec"]["hostID"].as_str()).expect("it has joined");
    let is_without = |range: &u32| !world.ring.owners(*range).iter().any(|h| h.as_str() == host);
    (0..RANGES).filter(is_without).collect()
}

/// The member that repairs now.
fn at_work(world: &World) -> Option<String> {
    let servers = &world.ring.servers;
    world.ring.calls.keys().find_map(|pod| Some(servers.get(pod)?.member.clone()))
}

#[test]
fn all_ranges_are_repaired_once_and_again_before_they_are_late() {
    let mut world = covered(spread(2, 1));
    world.until(is_done);
    assert!(each(&world.ring.repaired, 1), "{:?}", times(&world.ring.repaired));
    assert!(world.ring.repaired.iter().all(|one| !one.again));
    let counted: BTreeSet<u32> = world.ring.counted.iter().copied().collect();
    assert_eq!(counted, (0..RANGES).collect(), "and each has come to its end");
    world.pass(60);
    assert!(starts(&world, "Accepted", "True Valid"), "{}", condition(&world, NAME, "Accepted"));
    assert!(starts(&world, "Behind", "False UpToDate"), "{}", condition(&world, NAME, "Behind"));
    assert!(starts(&world, "Degraded", "False UpToDate"));
    let next = status(&world, NAME).next_schedule_time.expect("the next range is due").0;
    let in_days = next.duration_since(world.now());
    let six_days = SignedDuration::from_hours(6 * 24);
    assert!(in_days < six_days && in_days > six_days - SignedDuration::from_hours(1), "{in_days}");
    let (begun, writes) = (world.clock(), world.writes.len());
    go_to(&mut world, begun + 6 * DAY - 3600);
    let about_it = |w: &&String| w.contains("CassandraTaskSchedule");
    assert_eq!(world.writes[writes..].iter().filter(about_it).count(), 0, "at rest");
    assert_eq!(phases(&world).len(), 1, "nothing is due yet");
    go_to(&mut world, begun + 6 * DAY);
    assert_eq!(phases(&world).len(), 2);
    world.until(|w| each(&w.ring.repaired, 2) && is_done(w));
    world.pass(2 * 3600);
    world.settle();
    assert_eq!(phases(&world).len(), 2, "all that is due soon is done with it");
}

#[test]
fn whoever_repairs_goes_on_where_its_agent_was_killed() {
    for killed in [1, 3, 7, 15] {
        let mut world = covered(a_ring(2, 1));
        world.until(|w| w.ring.repaired.len() == killed);
        let member = at_work(&world).expect("one repairs");
        world.restart_agent(&member);
        world.until(is_done);
        world.settle();
        assert!(each(&world.ring.repaired, 1), "killed at {killed}: {:?}", world.ring.repaired);
        world.expect_ring(3);
    }
}

#[test]
fn whoever_repairs_goes_on_where_its_pod_was_deleted() {
    for killed in [2, 6] {
        let mut world = covered(a_ring(2, 1));
        world.until(|w| w.ring.repaired.len() == killed);
        let member = at_work(&world).expect("one repairs");
        world.delete(kinds::POD, &member);
        world.until(is_done);
        let mut times = times(&world.ring.repaired);
        let again = world.ring.repaired[killed - 1].range;
        assert_eq!(times.remove(&again), Some(2), "what was interrupted: {times:?}");
        assert!(times.values().all(|often| *often == 1), "and nothing else: {times:?}");
    }
}

/// Of this ring some writes, each of which the leader dies at: all is repaired once.
fn repaired_once_whenever_the_leader_dies(
    ring: World,
    (every, from): (usize, usize),
) -> Vec<World> {
    let (worlds, end) = before_each_write(covered(ring));
    assert!(is_done(&end) && each(&end.ring.repaired, 1));
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let disturbed = some(worlds, every, from).into_iter().map(|mut world| {
        let write = world.faults.writes();
        world.faults.plan(write, faults[write % faults.len()]);
        world.settle();
        assert!(is_done(&world), "at write {write}: {}", world.last_words());
        assert!(each(&world.ring.repaired, 1), "at write {write}: {:?}", world.ring.repaired);
        assert_eq!(phases(&world).len(), 1, "at write {write}");
        world
    });
    disturbed.collect()
}

#[test]
fn a_leader_that_dies_at_any_write_repairs_no_range_twice() {
    for world in repaired_once_whenever_the_leader_dies(a_ring(1, 1), (5, 0)) {
        assert!(starts(&world, "Behind", "False"), "{}", world.last_words());
    }
}

#[test]
fn a_repair_yields_to_a_rollout_and_goes_on_after_it() {
    let mut world = covered(a_ring(2, 1));
    world.until(|w| w.ring.repaired.len() == 4);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.until(|w| w.ring.calls.is_empty());
    let interrupted = world.ring.repaired.len();
    assert!(interrupted < 6, "it yields at once");
    world.settle();
    assert!(is_done(&world), "{}", world.last_words());
    let times = times(&world.ring.repaired);
    let more: usize = times.values().map(|often| often - 1).sum();
    assert_eq!(times.len(), RANGES as usize);
    assert!(more <= 3, "what was ended for a turn alone is begun again: {times:?}");
    world.expect_ring(3);
}

#[test]
fn a_range_that_grew_is_due_and_comes_before_what_was_repaired() {
    let mut world = covered(a_ring(2, 2));
    world.until(is_done);
    let known: Vec<Repaired> = world.ring.repaired.clone();
    let of = |range: u32| known.iter().find(|one| one.range == range).map(|one| one.member.clone());
    world.set_racks(&a_cluster(&[("a", 1), ("b", 2)]));
    world.settle();
    world.pass(2 * 3600);
    world.until(|w| is_done(w) && w.ring.repaired.len() > known.len());
    let after = &world.ring.repaired[known.len()..];
    assert!(after.iter().all(|one| !one.again), "{after:?}");
    for one in after {
        assert_ne!(of(one.range).as_ref(), Some(&one.member), "it was another member's: {one:?}");
    }
    assert!(after.len() < RANGES as usize, "what stayed is not due");
}

#[test]
fn one_schedule_covers_a_ring() {
    let mut world = covered(a_ring(1, 1));
    world.pass(5);
    cover(&mut world, "second", &json!({ "keyspaces": ["shop"] }));
    world.pass(5);
    let refused = condition(&world, "second", "Accepted");
    assert!(refused.starts_with("False AnotherCovers: CassandraTaskSchedule always"), "{refused}");
    assert!(condition(&world, "second", "Behind").is_empty());
    for (_, member) in world.store.list(kinds::MEMBER) {
        assert!(member["spec"]["repair"]["keyspaces"].is_null(), "the first one counts");
    }
    world.delete(kinds::SCHEDULE, NAME);
    world.settle();
    assert!(condition(&world, "second", "Accepted").starts_with("True Valid"));
    for (_, member) in world.store.list(kinds::MEMBER) {
        assert_eq!(member["spec"]["repair"]["keyspaces"], json!(["shop"]));
    }
    world.delete(kinds::SCHEDULE, "second");
    world.settle();
    for (_, member) in world.store.list(kinds::MEMBER) {
        assert!(member["spec"]["repair"].is_null() && member["status"]["repair"].is_null());
    }
}

#[test]
fn a_schedule_stands_still_while_servers_repair_themselves_by_their_configuration() {
    let mut world = a_ring(1, 1);
    world.patch_spec(&json!({ "config": { "auto_repair": { "enabled": true } } }));
    world.settle();
    let mut world = covered(world);
    world.pass(600);
    let refused = condition(&world, NAME, "Accepted");
    assert!(refused.starts_with("False RepairedByServer: "), "{refused}");
    assert!(refused.contains("CassandraCluster demo"), "{refused}");
    assert!(condition(&world, NAME, "Behind").is_empty(), "nobody knows");
    assert!(phases(&world).is_empty() && world.ring.repaired.is_empty());
    world.patch_spec(&json!({ "paused": true }));
    world.pass(60);
    assert!(starts(&world, "Accepted", "False RepairedByServer"), "also while it is paused");
    let off = json!({ "paused": false, "config": { "auto_repair": { "enabled": false } } });
    world.patch_spec(&off);
    world.until(is_done);
    assert!(starts(&world, "Accepted", "True Valid"));
    assert!(each(&world.ring.repaired, 1), "{:?}", world.ring.repaired);
}

#[test]
fn a_schedule_stands_still_while_a_server_says_that_it_repairs_itself() {
    let mut world = covered(a_ring(1, 1));
    world.until(is_done);
    let since = world.clock();
    world.ring.auto_repair.insert("demo-dc1-b-0".into());
    world.pass(60);
    let refused = condition(&world, NAME, "Accepted");
    assert!(refused.starts_with("False RepairedByServer: "), "{refused}");
    assert!(refused.ends_with(": demo-dc1-b-0"), "{refused}");
    go_to(&mut world, since + 9 * DAY);
    assert!(condition(&world, NAME, "Behind").is_empty(), "what servers do is not remembered");
    assert_eq!(phases(&world).len(), 1, "nothing is created");
    world.ring.auto_repair.clear();
    world.until(|w| phases(w).len() == 2 && is_done(w));
    assert!(starts(&world, "Accepted", "True Valid"));
}

#[test]
fn a_range_that_hangs_is_tried_three_times_beside_all_others_and_again_an_hour_later() {
    let mut world = covered(a_ring(2, 1));
    world.until(|w| !w.ring.repaired.is_empty());
    let hangs = world.ring.repaired[0].member.clone();
    world.ring.hanging.insert(hangs.clone());
    let is_over =
        |w: &World| phases(w).first().is_some_and(|phase| phase.is_some_and(TaskPhase::is_final));
    // Each try takes half an hour, which counts as rest.
    let begun = world.clock();
    while !is_over(&world) && world.clock() < begun + 5 * DAY {
        world.pass(60);
    }
    let ended = world.clock();
    assert_eq!(phases(&world), [Some(TaskPhase::Partial)], "{}", world.last_words());
    let often = |world: &World, of: bool| {
        let of = world.ring.repaired.iter().filter(|one| (one.member == hangs) == of);
        times(&of.cloned().collect::<Vec<_>>())
    };
    assert!(often(&world, false).values().all(|n| *n == 1), "the others are repaired once");
    let tried = often(&world, true);
    assert!(tried.values().any(|n| *n == 3) && tried.values().all(|n| *n <= 3), "{tried:?}");
    world.ring.hanging.clear();
    go_to(&mut world, ended + 3500);
    assert_eq!(phases(&world).len(), 1, "it rests");
    world.until(|w| phases(w).get(1) == Some(&Some(TaskPhase::Done)));
    assert!(world.clock() < ended + 3 * 3600, "{}", world.last_words());
    assert_eq!(times(&world.ring.repaired).len(), RANGES as usize);
}

#[test]
fn a_ring_that_is_paused_in_a_repair_is_granted_no_more_and_goes_on_where_it_was() {
    let mut world = covered(three_copies());
    world.until(|w| !w.ring.repaired.is_empty());
    world.patch_spec(&json!({ "paused": true }));
    world.pass(600);
    let before = world.ring.repaired.len();
    assert!(before < RANGES as usize, "some are left: {before}");
    world.pass(3600);
    assert_eq!(world.ring.repaired.len(), before, "nothing is begun: {}", world.last_words());
    assert!(starts(&world, "Paused", "True Paused"));
    world.patch_spec(&json!({ "paused": false }));
    world.until(is_done);
    assert!(each(&world.ring.repaired, 1), "{:?}", world.ring.repaired);
    assert_eq!(phases(&world), [Some(TaskPhase::Done)], "the same task");
}

/// Deletions are kept for a day; everything was repaired at this time, and then the machine of the
/// last member goes down.
fn repaired_and_one_down(mut ring: World) -> (World, i64, String) {
    ring.ring.grace = u32::try_from(DAY).expect("a day");
    let mut world = covered(ring);
    world.until(is_done);
    let begun = world.clock();
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    (world, begun, node)
}

/// No haste of the others helps its ranges, and clients have a copy less meanwhile.
#[test]
fn a_member_that_is_down_and_late_hastens_no_other() {
    let (mut world, begun, _) = repaired_and_one_down(spread(2, 2));
    go_to(&mut world, begun + DAY * 93 / 100);
    assert!(starts(&world, "Behind", "True RepairBehind"), "{}", condition(&world, NAME, "Behind"));
    // Whose ranges have their copies elsewhere is in time, and is given its part beside others
    // that are late with the one that is down.
    let paced = |world: &World| -> Vec<Option<u64>> {
        let members = world.store.list(kinds::MEMBER).map(|(_, member)| member);
        let in_time = members.filter(|m| {
            let behind = m["status"]["repair"]["behindAt"].as_str();
            let behind = behind.and_then(|at| at.parse::<jiff::Timestamp>().ok());
            behind.is_some_and(|at| at > world.now()) && m["spec"]["job"].is_object()
        });
        in_time.map(|m| m["spec"]["job"]["paceSeconds"].as_u64()).collect()
    };
    let is_given = |world: &World| !paced(world).is_empty();
    while !world.comes_to(is_given) && world.clock() < begun + 2 * DAY {
        world.pass(600);
    }
    let paced = paced(&world);
    assert!(!paced.is_empty(), "what has its copies is due again: {}", world.last_words());
    assert!(paced.iter().all(|pace| pace.is_some_and(|seconds| seconds > 3600)), "{paced:?}");
}

#[test]
fn what_is_late_is_told_before_it_is_too_late() {
    let (mut world, begun, node) = repaired_and_one_down(spread(2, 1));
    go_to(&mut world, begun + DAY * 7 / 10);
    let waits = condition(&world, NAME, "Accepted");
    assert!(waits.starts_with("True MembersDown") && waits.contains(LAST), "{waits}");
    assert!(starts(&world, "Behind", "False"), "{}", condition(&world, NAME, "Behind"));
    assert_eq!(phases(&world), [Some(TaskPhase::Done), Some(TaskPhase::Partial)]);
    go_to(&mut world, begun + DAY * 93 / 100);
    assert!(starts(&world, "Behind", "True RepairBehind"), "{}", condition(&world, NAME, "Behind"));
    assert!(starts(&world, "Degraded", "False"), "it is not too late");
    go_to(&mut world, begun + DAY + 3600);
    let degraded = condition(&world, NAME, "Degraded");
    assert!(degraded.starts_with("True ReturnsTooLate") && degraded.contains(LAST), "{degraded}");
    world.set_machine(&node, Machine::Up);
    world.until(|w| starts(w, "Behind", "False"));
    assert_eq!(phases(&world).last(), Some(&Some(TaskPhase::Done)), "{}", world.last_words());
    world.pass(60);
    assert!(starts(&world, "Degraded", "False"));
}

/// Nothing was deleted meanwhile, and all of them start again.
#[test]
fn nobody_is_to_be_replaced_after_the_whole_ring_was_down() {
    let mut world = covered(three_copies());
    world.until(is_done);
    let begun = world.clock();
    let set_all = |world: &mut World, machine| {
        for node in ["n1", "n2", "n3"] {
            world.set_machine(node, machine);
        }
    };
    let expect_nobody = |world: &World| {
        let degraded = condition(world, NAME, "Degraded");
        assert!(!degraded.contains("ReturnsTooLate"), "{degraded}");
    };
    set_all(&mut world, Machine::Down);
    go_to(&mut world, begun + TOO_LONG);
    expect_nobody(&world);
    set_all(&mut world, Machine::Up);
    world.until(|w| {
        expect_nobody(w);
        w.normal() == 3
    });
    world.settle();
    expect_nobody(&world);
    world.expect_ring(3);
}

/// They were stored before there was a least, and the API server refuses them by now.
#[test]
fn what_is_stored_with_tiny_segments_is_repaired_in_larger_ones() {
    let tiny = json!({ "segmentBytes": 1 });
    let least = json!(67_108_864);
    let mut world = a_ring(1, 1);
    cover(&mut world, NAME, &tiny);
    world.until(is_done);
    world.settle();
    assert!(given(&world).is_empty(), "it has ended");
    let task = world.store.get(&crate::tasks::key(&world.names(kinds::TASK)[0])).cloned();
    let task = task.expect("the schedule should have created one");
    assert_eq!(task["spec"]["repair"]["segmentBytes"], least);
    let by_hand = json!({ "cluster": "demo", "repair": { "scope": "Due", "segmentBytes": 1 } });
    crate::tasks::ask(&mut world, "by-hand", &by_hand);
    world.until(|w| !given(w).is_empty());
    assert_eq!(given(&world)[0]["repair"]["segmentBytes"], least);
}

/// Whoever pauses for longer than the task has time does not come to an end.
#[test]
fn the_pace_of_a_repair_is_within_the_deadlines_of_its_task() {
    let seconds = |field: &str, value: u32| {
        let mut world = a_ring(2, 1);
        let mut due = json!({ "cluster": "demo", "repair": { "scope": "Due" } });
        if !field.is_empty() {
            due[field] = json!(value);
        }
        cover(&mut world, NAME, &json!({}));
        let suspend = json!({ "spec": { "suspend": true } });
        world.store.merge(&key(NAME), &suspend, palladion_plan::Subresource::None).unwrap();
        world.pass(120);
        crate::tasks::ask(&mut world, "due", &due);
        world.until(|w| !given(w).is_empty());
        given(&world)[0]["paceSeconds"].as_u64().unwrap_or_default()
    };
    assert!(seconds("", 0) > DAY.unsigned_abs(), "there are days");
    // 80% of the time, of which one of three members at a time has a third.
    for field in ["memberDeadlineSeconds", "activeDeadlineSeconds"] {
        let found = seconds(field, 3600);
        assert!((900..=960).contains(&found), "{field}: {found}");
    }
}

#[test]
fn agents_of_before_are_not_asked_for_what_is_due() {
    let mut world = a_ring(1, 1);
    world.set_protocol(KNOWS_NOT_DUE);
    world.pass(60);
    crate::tasks::ask(
        &mut world,
        "due",
        &json!({ "cluster": "demo", "repair": { "scope": "Due" } }),
    );
    world.pass(60);
    let left = task_status(&world, "due").members;
    assert!(!left.is_empty());
    for member in left {
        assert_eq!(member.reason.as_deref(), Some("AgentTooOld"), "{}", member.name);
    }
    assert!(world.ring.repaired.is_empty());
}

#[test]
fn a_suspended_cover_tells_what_is_late_and_creates_nothing() {
    let mut world = covered(a_ring(1, 1));
    let suspend = json!({ "spec": { "suspend": true } });
    world.store.merge(&key(NAME), &suspend, palladion_plan::Subresource::None).unwrap();
    world.pass(120);
    assert!(phases(&world).is_empty());
    assert!(starts(&world, "Paused", "True Paused"));
    assert!(starts(&world, "Behind", "False UpToDate"), "{}", condition(&world, NAME, "Behind"));
    let now = world.clock();
    go_to(&mut world, now + 9 * DAY);
    assert!(starts(&world, "Behind", "True"), "{}", condition(&world, NAME, "Behind"));
    go_to(&mut world, now + 10 * DAY);
    assert!(starts(&world, "Degraded", "True RepairTooLate"));
}

#[test]
fn tables_that_keep_deletions_for_no_time_are_named_and_never_late() {
    let mut ring = a_ring(1, 1);
    ring.ring.grace = 60;
    let mut world = covered(ring);
    world.until(is_done);
    world.pass(60);
    let short = condition(&world, NAME, "Behind");
    assert!(short.starts_with("False GraceTooShort"), "{short}");
    assert!(short.contains("shop.orders"), "{short}");
    let begun = world.clock();
    go_to(&mut world, begun + 5 * DAY);
    assert!(starts(&world, "Behind", "False") && starts(&world, "Degraded", "False"));
    assert_eq!(phases(&world).len(), 1, "every seven days");
    // Soon after the end of the second one the first is deleted.
    go_to(&mut world, begun + 7 * DAY - 500);
    world.until(|w| phases(w).len() == 2 && is_done(w));
}

/// Nothing could be repaired from anywhere, and that is no doubt.
#[test]
fn a_ring_with_one_copy_of_everything_needs_no_repair_and_says_so() {
    let mut world = World::new();
    world.ring.copies = 1;
    let mut world = world.with(&a_cluster(&[("a", 1)]));
    world.settle();
    let mut world = covered(world);
    world.pass(3600);
    let behind = condition(&world, NAME, "Behind");
    assert!(behind.starts_with("False NothingToRepair: "), "{behind}");
    assert!(phases(&world).is_empty(), "{}", world.last_words());
    let elsewhere = json!({ "keyspaces": ["nowhere"] });
    let mut world = a_ring(1, 1);
    cover(&mut world, NAME, &elsewhere);
    world.pass(600);
    let behind = condition(&world, NAME, "Behind");
    assert!(behind.starts_with("Unknown FactUnknown: no range is covered"), "{behind}");
}

#[test]
fn a_member_with_an_agent_of_before_keeps_no_other_from_repair() {
    let mut world = a_ring(2, 1);
    let old = world.names(kinds::MEMBER)[0].clone();
    world.set_protocol_of(&old, KNOWS_NOT_DUE);
    let mut world = covered(world);
    world.pass(3600);
    assert_eq!(phases(&world), [Some(TaskPhase::Partial)], "{}", world.last_words());
    let behind = condition(&world, NAME, "Behind");
    assert!(behind.starts_with("Unknown AgentTooOld") && behind.contains(&old), "{behind}");
    let others = world.ring.repaired.clone();
    assert!(!others.is_empty() && others.iter().all(|one| one.member != old), "{others:?}");
    let now = world.clock();
    go_to(&mut world, now + DAY);
    assert_eq!(phases(&world).len(), 1, "what the others have is not due again");
    world.set_protocol_of(&old, PROTOCOL);
    world.pass(3600);
    assert!(each(&world.ring.repaired, 1), "{:?}", times(&world.ring.repaired));
    assert!(starts(&world, "Behind", "False"), "{}", condition(&world, NAME, "Behind"));
}

#[test]
fn a_cover_of_keyspaces_that_do_not_exist_says_that_it_covers_nothing() {
    let mut world = a_ring(1, 1);
    cover(&mut world, NAME, &json!({ "keyspaces": ["shopp"] }));
    world.pass(120);
    let behind = condition(&world, NAME, "Behind");
    assert!(behind.starts_with("Unknown FactUnknown: no range is covered"), "{behind}");
}

#[test]
fn a_time_that_a_leader_set_ahead_of_now_keeps_no_repair_from_being_created() {
    let mut world = covered(a_ring(1, 1));
    world.until(is_done);
    let begun = world.clock();
    let ahead = world.now() + SignedDuration::from_hours(30 * 24);
    let set = json!({ "status": { "lastScheduleTime": ahead.to_string() } });
    world.store.merge(&key(NAME), &set, palladion_plan::Subresource::Status).unwrap();
    go_to(&mut world, begun + 6 * DAY);
    assert_eq!(phases(&world).len(), 2, "{}", condition(&world, NAME, "Accepted"));
}

#[test]
fn members_repair_at_a_time_what_has_no_copies_in_common() {
    let mut world = covered(a_ring(2, 2));
    world.until(|w| w.ring.calls.len() == 2);
    let said = task_status(&world, &world.names(kinds::TASK)[0]).conditions[0].message.clone();
    assert!(said.contains(" take turns at the repair") && said.contains("of 4 members"), "{said}");
    world.until(is_done);
    assert!(each(&world.ring.repaired, 1), "{:?}", times(&world.ring.repaired));
    world.pass(60);
    assert!(starts(&world, "Behind", "False UpToDate"), "{}", condition(&world, NAME, "Behind"));
    world.expect_ring(4);
}

#[test]
fn one_member_repairs_after_the_other_where_the_schedule_says_so() {
    let mut world = a_ring(2, 2);
    cover(&mut world, NAME, &json!({ "parallel": 1 }));
    world.until(|w| {
        assert!(w.ring.calls.len() < 2, "one at a time");
        is_done(w)
    });
    assert!(each(&world.ring.repaired, 1), "{:?}", times(&world.ring.repaired));
}

#[test]
fn a_member_with_an_agent_that_knows_no_grants_repairs_while_no_other_one_does() {
    let mut world = a_ring(2, 2);
    let old = world.names(kinds::MEMBER)[1].clone();
    world.set_protocol_of(&old, KNOWS_NO_GRANTS);
    let mut world = covered(world);
    world.until(|w| {
        let at_work = w.ring.calls.len();
        assert!(at_work < 2 || w.ring.repaired.last().is_none_or(|one| one.member != old));
        is_done(w)
    });
    assert!(each(&world.ring.repaired, 1), "{:?}", times(&world.ring.repaired));
}

#[test]
fn a_leader_that_dies_at_any_write_grants_no_range_twice() {
    assert!(!repaired_once_whenever_the_leader_dies(a_ring(2, 2), (9, 3)).is_empty());
}

#[test]
fn an_agent_that_is_killed_repairs_only_what_it_was_granted() {
    for killed in [2, 5, 9, 14] {
        let mut world = covered(a_ring(2, 2));
        world.until(|w| w.ring.repaired.len() == killed);
        let member = at_work(&world).expect("one repairs");
        let other = world.names(kinds::MEMBER).into_iter().find(|name| *name != member);
        world.restart_agent(&member);
        world.restart_agent(&other.expect("there are four"));
        world.until(is_done);
        assert!(each(&world.ring.repaired, 1), "killed at {killed}: {:?}", world.ring.repaired);
        world.settle();
        world.expect_ring(4);
    }
}

#[test]
fn a_member_that_is_down_stops_only_what_it_has_copies_of() {
    let mut world = covered(spread(2, 2));
    world.until(|w| w.ring.repaired.len() == 2);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(3600);
    let expected = without(&world, LAST);
    assert!(!expected.is_empty() && expected.len() < RANGES as usize);
    let repaired = times(&world.ring.repaired);
    for range in &expected {
        assert!(repaired.contains_key(range), "{range} of {expected:?}: {repaired:?}");
    }
    assert!(repaired.len() < RANGES as usize, "what it has copies of waits");
    let waits = condition(&world, NAME, "Accepted");
    assert!(waits.starts_with("True MembersDown") && waits.contains(LAST), "{waits}");
    world.set_machine(&node, Machine::Up);
    let up = world.clock();
    go_to(&mut world, up + 2 * 3600);
    world.until(|w| times(&w.ring.repaired).len() == RANGES as usize && w.ring.calls.is_empty());
    world.pass(60);
    assert!(starts(&world, "Behind", "False"), "{}", condition(&world, NAME, "Behind"));
    world.settle();
    world.expect_ring(4);
}

/// What has no copy there is due meanwhile, and would be late before the member is back.
#[test]
fn a_ring_of_which_a_member_is_down_goes_on_repairing_what_has_no_copy_there() {
    let mut world = covered(spread(2, 2));
    world.until(is_done);
    let (begun, often) = (world.clock(), |world: &World| times(&world.ring.repaired));
    let without = without(&world, LAST);
    go_to(&mut world, begun + 5 * DAY);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    go_to(&mut world, begun + 7 * DAY + DAY / 5);
    for range in 0..RANGES {
        let expected = if without.contains(&range) { 2 } else { 1 };
        assert_eq!(often(&world).get(&range), Some(&expected), "{range} of {without:?}");
    }
    let tasks = phases(&world);
    assert!((2..=4).contains(&tasks.len()), "not one an hour: {tasks:?}");
    let waits = condition(&world, NAME, "Accepted");
    assert!(waits.starts_with("True MembersDown") && waits.contains(LAST), "{waits}");
    world.set_machine(&node, Machine::Up);
    world.until(|w| times(&w.ring.repaired).values().all(|often| *often >= 2));
    assert!(starts(&world, "Behind", "False"), "{}", condition(&world, NAME, "Behind"));
    world.settle();
    world.expect_ring(4);
}

/// Machines go down and come back as it happens. A range is repaired before it is late, or
/// `Behind` says that it is not.
#[test]
fn under_random_outages_every_range_is_repaired_in_time_or_it_is_told() {
    for seed in some((1..=8_u64).collect(), 8, 1) {
        let mut ring = spread(2, 2);
        ring.ring.grace = u32::try_from(DAY).expect("a day");
        let mut world = covered(ring.shuffled(seed));
        world.until(is_done);
        let names = world.names(kinds::MEMBER);
        let (mut last, mut seen) = (vec![world.clock(); RANGES as usize], 0);
        let (mut random, mut outage) = (seed, None::<(String, i64)>);
        for _ in 0..4 * 24 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let dice = random >> 33;
            match &outage {
                Some((node, until)) if world.clock() >= *until => {
                    world.set_machine(&node.clone(), Machine::Up);
                    outage = None;
                }
                None if dice.is_multiple_of(8) => {
                    let member = names[usize::try_from(dice / 8).unwrap() % names.len()].clone();
                    let node = world.node_of(&member);
                    world.set_machine(&node, Machine::Down);
                    let hours = i64::try_from(dice % 11).unwrap() + 1;
                    outage = Some((node, world.clock() + hours * 3600));
                }
                Some(_) | None => {}
            }
            world.pass(3600);
            let now = world.clock();
            for range in &world.ring.counted[seen..] {
                last[*range as usize] = now;
            }
            seen = world.ring.counted.len();
            // Repaired within the last hour, by this clock.
            let is_late = last.iter().any(|at| now - at > DAY * 9 / 10 + 3600);
            let told = condition(&world, NAME, "Behind");
            assert!(!is_late || told.starts_with("True RepairBehind"), "seed {seed}: {told}");
        }
        if let Some((node, _)) = outage {
            world.set_machine(&node, Machine::Up);
        }
        world.until(|w| starts(w, "Behind", "False"));
    }
}

/// With as many members up as a range has copies, or fewer, each range has one that is down.
#[test]
fn no_task_is_created_for_nothing_while_a_member_is_down() {
    let mut world = covered(three_copies());
    world.until(is_done);
    let begun = world.clock();
    go_to(&mut world, begun + 5 * DAY);
    world.set_machine("n3", Machine::Down);
    go_to(&mut world, begun + 8 * DAY);
    assert_eq!(phases(&world), [Some(TaskPhase::Done)], "{}", world.last_words());
    let waits = condition(&world, NAME, "Accepted");
    assert!(waits.starts_with("True MembersDown"), "{waits}");
    // One after the other they repair only while all are up.
    let mut world = spread(2, 2);
    cover(&mut world, NAME, &json!({ "parallel": 1 }));
    world.until(is_done);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    go_to(&mut world, begun + 8 * DAY);
    assert_eq!(phases(&world), [Some(TaskPhase::Done)], "{}", world.last_words());
}

#[test]
fn what_people_ask_for_goes_before_what_is_due_and_that_goes_on_afterwards() {
    for parallel in [json!({}), json!({ "parallel": 1 })] {
        let mut world = a_ring(2, 1);
        cover(&mut world, NAME, &parallel);
        world.until(|w| w.ring.repaired.len() == 3);
        crate::tasks::ask(&mut world, "soon", &json!({ "cluster": "demo", "flush": {} }));
        let has_ended = |w: &World| task_status(w, "soon").phase == Some(TaskPhase::Done);
        world.until(has_ended);
        assert!(world.ring.repaired.len() < RANGES as usize, "it did not wait for all");
        world.until(is_done);
        let times = times(&world.ring.repaired);
        assert_eq!(times.len(), RANGES as usize);
        let again: usize = times.values().map(|often| often - 1).sum();
        assert!(again <= 1, "no more than a segment of who repaired: {times:?}");
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn what_is_late_goes_before_work_that_rewrites_data_between_two_members() {
    let mut ring = a_ring(2, 1);
    ring.ring.grace = u32::try_from(DAY).expect("a day");
    let mut world = covered(ring);
    world.until(is_done);
    let begun = world.clock();
    let suspend = |world: &mut World, suspend: bool| {
        let patch = json!({ "spec": { "suspend": suspend } });
        world.store.merge(&key(NAME), &patch, palladion_plan::Subresource::None).unwrap();
    };
    suspend(&mut world, true);
    go_to(&mut world, begun + DAY * 95 / 100);
    crate::tasks::ask(&mut world, "compact", &json!({ "cluster": "demo", "compact": {} }));
    world.until(|w| !w.ring.calls.is_empty());
    suspend(&mut world, false);
    let before = world.ring.repaired.len();
    world.until(|w| w.ring.repaired.len() > before);
    let done = task_status(&world, "compact").members;
    let done = done.iter().filter(|m| m.ended_at.is_some()).count();
    assert_eq!(done, 1, "the member that had begun has ended, and no other has begun");
    world.until(is_done);
    assert!(each(&world.ring.repaired, 2), "{:?}", times(&world.ring.repaired));
}

#[test]
fn pending_maintenance_goes_before_what_is_due() {
    let mut world = covered(a_ring(2, 1));
    world.until(|w| w.ring.repaired.len() == 3);
    let member = world.names(kinds::MEMBER)[0].clone();
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &member);
    let owes = json!([{ "kind": "Cleanup", "reason": "a person wants it" }]);
    let patch = json!({ "spec": { "pendingMaintenance": owes } });
    world.store.merge(&key, &patch, palladion_plan::Subresource::None).unwrap();
    let is_paid = |w: &World| {
        let member = w.store.get(&key).expect("it exists");
        member["spec"]["pendingMaintenance"].as_array().is_none_or(Vec::is_empty)
    };
    world.until(is_paid);
    assert!(world.ring.repaired.len() < 6, "it does not wait for the member to end");
    world.until(is_done);
    assert_eq!(times(&world.ring.repaired).len(), RANGES as usize);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_task_that_is_taken_back_before_it_passes_holds_up_no_repair() {
    let mut world = covered(a_ring(2, 1));
    for round in 0..3 {
        world.until(|w| w.ring.repaired.len() > 2 * round && !w.ring.calls.is_empty());
        let name = format!("gone-{round}");
        crate::tasks::ask(&mut world, &name, &json!({ "cluster": "demo", "flush": {} }));
        let is_stopped = |w: &World| {
            let mut members = w.store.list(kinds::MEMBER);
            members.any(|(_, m)| m["spec"]["job"]["wanted"] == "Stop")
        };
        world.until(is_stopped);
        world.delete(kinds::TASK, &name);
    }
    world.settle();
    assert_eq!(times(&world.ring.repaired).len(), RANGES as usize, "{}", world.last_words());
    assert!(starts(&world, "Behind", "False"), "{}", condition(&world, NAME, "Behind"));
}

/// The next repair would come an hour after the last one, when its ranges are late.
#[test]
fn a_table_that_keeps_deletions_for_an_hour_is_repaired_in_time() {
    for grace in [600, 3600] {
        let mut world = spread(2, 1);
        world.ring.grace = grace;
        let mut world = covered(world);
        world.until(is_done);
        let begun = world.clock();
        while world.clock() < begun + 6 * i64::from(grace) {
            world.pass(i64::from(grace) / 20);
            let behind = condition(&world, NAME, "Behind");
            assert!(behind.starts_with("False"), "{grace}: {behind}");
        }
        assert!(times(&world.ring.repaired).values().all(|often| *often >= 6), "{grace}");
    }
}

/// The label is on whatever a person puts it.
#[test]
fn a_task_that_only_has_the_label_of_a_cover_holds_it_up_in_nothing() {
    let mut world = spread(2, 1);
    let flush = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": {
            "name": "copied", "namespace": NAMESPACE, "labels": { "palladion.dev/schedule": NAME },
        },
        "spec": { "cluster": "demo", "flush": {}, "members": [LAST] },
    });
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    let copied = ObjectKey::new(kinds::TASK, NAMESPACE, "copied");
    world.store.create(&copied, &flush).expect("the task should be accepted");
    world.pass(60);
    let mut world = covered(world);
    world.pass(60);
    let said = condition(&world, NAME, "Accepted");
    assert!(said.starts_with("True") && !said.contains("copied"), "{said}");
    world.set_machine(&node, Machine::Up);
    world.until(|w| times(&w.ring.repaired).len() == RANGES as usize && is_done(w));
}

#[test]
fn a_keyspace_that_does_not_exist_is_told() {
    let mut world = spread(2, 1);
    cover(&mut world, NAME, &json!({ "keyspaces": ["shop", "shpo"] }));
    world.until(is_done);
    world.pass(60);
    let behind = condition(&world, NAME, "Behind");
    assert!(behind.starts_with("Unknown FactUnknown") && behind.contains("shpo"), "{behind}");
    assert!(!behind.contains("shop,"), "{behind}");
}
