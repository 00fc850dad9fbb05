//! Backups of a majority of the replicas of each range: who is down or lost is left out by name,
//! what is complete has that majority, and a ring that begins with it repairs the rest.

use crate::backup_schedules::{backups, go_on, scheduled};
use crate::backups::{a_ring, ask, orders, phase, spread, status};
use crate::every::{all_end_alike, before_each_write, some};
use crate::nodes::LAST;
use crate::restores::{expect_said, phase as restore_phase};
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::restores::TABLE;
use crate::sim::transfers::Outcome;
use crate::whole_ring;
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{BackupMemberState, BackupPhase};
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;
use palladion_api::reasons::Reason;
use palladion_api::restore::RestorePhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

/// A member that is alone on its machine.
const ALONE: &str = "demo-dc1-b-0";

fn of_a_quorum() -> Value {
    json!({ "coverage": "QuorumOfEachRange" })
}

/// Reason and message of the condition `Complete`.
fn said(world: &World, name: &str) -> String {
    let conditions = status(world, name).conditions;
    let complete = conditions.iter().find(|c| c.type_ == "Complete");
    complete.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

/// The members that are left out.
fn left_out(world: &World, name: &str) -> Vec<String> {
    let members = status(world, name).members.into_iter();
    let out = members.filter(|member| member.state == BackupMemberState::Missing);
    out.map(|member| member.name.to_string()).collect()
}

fn snapshots(world: &World) -> usize {
    world.kube.disks.values().map(|disk| disk.content.backups.snapshots.len()).sum()
}

/// The machine of this member is down, and that is seen.
fn down(world: &mut World, member: &str) -> String {
    let node = world.node_of(member);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    node
}

#[track_caller]
fn is_complete_without(world: &World, members: &[&str]) {
    assert_eq!(
        phase(world, "nightly"),
        Some(BackupPhase::Complete),
        "{}\n{}",
        said(world, "nightly"),
        world.last_words()
    );
    assert_eq!(left_out(world, "nightly"), members);
    for member in members {
        assert!(said(world, "nightly").contains(member), "{}", said(world, "nightly"));
    }
    let released = world.store.get(&crate::sim::world::cluster_key()).unwrap();
    assert!(released["status"]["backup"]["backup"].is_null(), "{released}");
}

#[test]
fn a_member_that_is_down_is_left_out_and_named() {
    let mut world = a_ring();
    let node = down(&mut world, ALONE);
    ask(&mut world, "nightly", &of_a_quorum());
    world.settle();
    is_complete_without(&world, &[ALONE]);
    assert!(said(&world, "nightly").contains("members: 2, without"), "{}", said(&world, "nightly"));
    let of = status(&world, "nightly");
    let id = of.id.unwrap();
    assert_eq!(world.ring.store.outcomes[&id].hosts().count(), 2);
    assert_eq!(world.ring.store.left_out[&id].len(), 1);
    // It comes back, and has nothing to do with that.
    world.set_machine(&node, Machine::Up);
    world.pass(300);
    world.settle();
    assert_eq!((orders(&world), snapshots(&world)), (0, 0));
    is_complete_without(&world, &[ALONE]);
    ask(&mut world, "weekly", &of_a_quorum());
    world.settle();
    assert_eq!(phase(&world, "weekly"), Some(BackupPhase::Complete), "{}", said(&world, "weekly"));
    assert_eq!(left_out(&world, "weekly"), Vec::<String>::new(), "all are up again");
}

#[test]
fn a_backup_without_a_majority_fails_before_anything_is_sent() {
    let mut world = a_ring();
    // Both members of rack a are on it.
    down(&mut world, LAST);
    ask(&mut world, "nightly", &of_a_quorum());
    world.pass(900);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed), "{}", world.last_words());
    let words = said(&world, "nightly");
    let is_told = words.starts_with(Reason::BackupFailed.as_str()) && words.contains("majority");
    assert!(is_told, "{words}");
    assert!(world.ring.store.sent.is_empty());
}

#[test]
fn a_backup_of_all_members_waits_for_the_one_that_is_down_and_says_what_would_not() {
    let mut world = a_ring();
    let node = down(&mut world, ALONE);
    ask(&mut world, "nightly", &json!({}));
    world.pass(300);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Pending));
    assert!(said(&world, "nightly").contains("QuorumOfEachRange"), "{}", said(&world, "nightly"));
    world.set_machine(&node, Machine::Up);
    world.settle();
    is_complete_without(&world, &[]);
}

#[test]
fn a_member_that_goes_down_before_it_has_its_snapshot_is_left_out_and_takes_none_later() {
    for at in [BackupPhase::Preparing, BackupPhase::Snapshotting] {
        let mut world = a_ring();
        ask(&mut world, "nightly", &of_a_quorum());
        world.until(|w| phase(w, "nightly") == Some(at) && orders(w) == 3);
        let node = world.node_of(ALONE);
        world.set_machine(&node, Machine::Down);
        world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
        assert_eq!(left_out(&world, "nightly"), [ALONE], "{at:?}");
        world.set_machine(&node, Machine::Up);
        world.settle();
        is_complete_without(&world, &[ALONE]);
        assert_eq!((orders(&world), snapshots(&world)), (0, 0), "nothing is left of it");
    }
}

#[test]
fn members_that_restart_one_after_the_other_before_anything_is_taken_are_all_in_it() {
    let mut world = a_ring();
    world.ring.store.is_away = true;
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Preparing));
    for member in ["demo-dc1-a-0", "demo-dc1-a-1", ALONE] {
        world.delete(kinds::POD, member);
        world.pass(15);
        assert_eq!(left_out(&world, "nightly"), Vec::<String>::new());
        world.pass(300);
    }
    world.ring.store.is_away = false;
    world.settle();
    is_complete_without(&world, &[]);
}

#[test]
fn a_member_that_has_its_snapshot_and_restarts_while_the_schema_is_written_is_waited_for() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Snapshotting));
    world.ring.store.is_away = true;
    world.until(|w| status(w, "nightly").view.is_some());
    for member in [ALONE, "demo-dc1-a-0"] {
        world.delete(kinds::POD, member);
        world.pass(300);
        assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Snapshotting));
    }
    world.ring.store.is_away = false;
    world.settle();
    is_complete_without(&world, &[]);
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).expect("a member").as_ref().clone()
}

/// It is to be repaired, or is not any more.
fn to_repair(world: &mut World, name: &str, pending: &Value) {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    let patch = json!({ "spec": { "pendingMaintenance": pending } });
    world.store.merge(&key, &patch, Subresource::None).expect("a member");
}

fn a_repair() -> Value {
    json!([{ "kind": "Repair", "ranges": "All", "reason": "it streamed from one member" }])
}

#[test]
fn a_member_that_is_to_be_repaired_is_none_of_a_majority() {
    let mut world = a_ring();
    down(&mut world, ALONE);
    to_repair(&mut world, "demo-dc1-a-0", &a_repair());
    ask(&mut world, "nightly", &of_a_quorum());
    world.pass(900);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Pending), "{}", said(&world, "nightly"));
    let words = said(&world, "nightly");
    for part in ["demo-dc1-a-0", "pending repair", "it streamed from one member", ALONE] {
        assert!(words.contains(part), "{words}");
    }
    // A backup of all would not wait for that.
    let mut all_up = world.clone();
    let node = all_up.node_of(ALONE);
    all_up.set_machine(&node, Machine::Up);
    all_up.settle();
    is_complete_without(&all_up, &[]);
    to_repair(&mut world, "demo-dc1-a-0", &json!([]));
    world.settle();
    is_complete_without(&world, &[ALONE]);
}

#[test]
fn before_anything_is_taken_a_repair_is_waited_for() {
    let mut world = a_ring();
    world.ring.store.is_away = true;
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Preparing));
    // As none can be carried out, it stays.
    let node = down(&mut world, ALONE);
    to_repair(&mut world, "demo-dc1-a-0", &a_repair());
    world.ring.store.is_away = false;
    world.pass(900);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Preparing));
    assert!(said(&world, "nightly").contains("pending repair"), "{}", said(&world, "nightly"));
    world.set_machine(&node, Machine::Up);
    world.settle();
    is_complete_without(&world, &[]);
}

#[test]
fn what_was_pending_when_a_snapshot_was_taken_leaves_nobody_out_later() {
    let mut world = spread();
    // Which nobody carries out.
    let unknown = json!([{ "kind": "Rearrange", "reason": "a newer operator wants it" }]);
    to_repair(&mut world, LAST, &unknown);
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.ring.store.is_away = true;
    // It is in no snapshot, although it is done.
    to_repair(&mut world, LAST, &json!([]));
    world.pass(60);
    let node = world.node_of(ALONE);
    world.lose_node(&node);
    world.pass(300);
    world.ring.store.is_away = false;
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Failed));
    let words = said(&world, "nightly");
    assert!(words.contains(LAST) && words.contains("cannot do without demo-dc1-b-0"), "{words}");
}

#[test]
fn a_member_that_is_lost_and_has_no_successor_holds_up_no_backup() {
    // In its zone there is no other machine.
    for is_before in [true, false] {
        let mut world = spread();
        if !is_before {
            ask(&mut world, "nightly", &of_a_quorum());
            world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
            world.pass(1);
        }
        let node = world.node_of(ALONE);
        world.lose_node(&node);
        world.pass(900);
        if is_before {
            ask(&mut world, "nightly", &of_a_quorum());
            world.pass(900);
        }
        is_complete_without(&world, &[ALONE]);
        assert!(member(&world, ALONE)["spec"]["hostID"].is_null(), "its successor waits");
        world.register_node("n6", "z2");
        world.settle();
        world.expect_ring(3);
        assert_eq!((orders(&world), snapshots(&world)), (0, 0));
    }
}

#[test]
fn what_a_member_has_sent_is_in_the_backup_also_when_it_is_replaced_before_the_end() {
    let mut world = spread();
    let host = member(&world, LAST)["spec"]["hostID"].as_str().unwrap().to_string();
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    // It has its snapshot, and is waited for.
    let alone = down(&mut world, ALONE);
    world.ring.store.is_away = true;
    world.set_machine(&alone, Machine::Up);
    world.pass(300);
    let node = world.node_of(LAST);
    world.lose_node(&node);
    let has_new = |w: &World| {
        let now = member(w, LAST)["spec"]["hostID"].as_str().map(str::to_string);
        now.is_some_and(|now| now != host)
    };
    world.until(has_new);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Uploading));
    world.ring.store.is_away = false;
    world.settle();
    is_complete_without(&world, &[]);
    let id = status(&world, "nightly").id.unwrap();
    assert!(world.ring.store.outcomes[&id].hosts().any(|of| of.as_str() == host));
}

/// What that leaves to be repaired, and on whom, is not on record before it has ended.
#[test]
fn nobody_is_left_out_while_ranges_move() {
    const JOINER: &str = "demo-dc1-a-2";
    let mut world = spread();
    world.ring.store.is_away = true;
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Preparing));
    world.ring.hanging.insert(JOINER.into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.story.iter().any(|line| line.contains("demo-dc1-a-2 is JOINING")));
    down(&mut world, ALONE);
    world.ring.store.is_away = false;
    world.pass(900);
    assert_eq!(
        phase(&world, "nightly"),
        Some(BackupPhase::Preparing),
        "{}",
        said(&world, "nightly")
    );
    assert!(said(&world, "nightly").contains(JOINER), "{}", said(&world, "nightly"));
    assert_eq!((left_out(&world, "nightly").len(), snapshots(&world)), (0, 0));
}

/// One is left out, and another has sent all it has and was replaced: nobody else is there.
#[test]
fn who_has_finished_a_backup_reads_it_back_where_nobody_else_can() {
    const FIRST: &str = "demo-dc1-a-0";
    let mut world = spread();
    let alone = down(&mut world, ALONE);
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    let first = down(&mut world, FIRST);
    world.ring.store.is_away = true;
    [alone, first].iter().for_each(|node| world.set_machine(node, Machine::Up));
    world.pass(300);
    let host = member(&world, LAST)["spec"]["hostID"].clone();
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.until(|w| {
        let now = &member(w, LAST)["spec"]["hostID"];
        now.is_string() && *now != host
    });
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Uploading));
    world.ring.store.is_away = false;
    world.pass(1800);
    is_complete_without(&world, &[ALONE]);
}

/// Who would take its place may come in days: that is no reason to ask again and again.
#[test]
fn another_schema_ends_a_backup_also_while_a_lost_member_has_no_successor() {
    let mut world = spread();
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.ring.store.is_away = true;
    let node = world.node_of(ALONE);
    world.lose_node(&node);
    world.pass(900);
    world.ring.store.schema += 1;
    world.ring.store.is_away = false;
    world.pass(1800);
    assert!(member(&world, ALONE)["spec"]["hostID"].is_null(), "its successor waits");
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Failed), "{}", said(&world, "nightly"));
    assert!(said(&world, "nightly").contains("another schema"), "{}", said(&world, "nightly"));
}

/// How many members the ring has.
fn places(world: &World) -> usize {
    let all = world.ring.seats.values();
    all.filter(|seat| seat.state == MemberState::Normal).count()
}

/// A backup that goes on when the store is back, with what came to the ring meanwhile.
fn ends_with_another_ring(world: &mut World) {
    assert_eq!(phase(world, "nightly"), Some(BackupPhase::Uploading));
    world.ring.store.is_away = false;
    world.settle();
    assert_eq!(phase(world, "nightly"), Some(BackupPhase::Failed), "{}", said(world, "nightly"));
    let words = said(world, "nightly");
    assert!(words.starts_with(Reason::TopologyChanged.as_str()), "{words}");
    assert_eq!((orders(world), snapshots(world)), (0, 0));
}

#[test]
fn a_member_that_joins_while_others_send_is_not_left_out_unnamed() {
    let mut world = spread();
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.ring.store.is_away = true;
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(300);
    assert_eq!(places(&world), 4);
    ends_with_another_ring(&mut world);
}

#[test]
fn a_member_that_was_left_out_and_is_removed_does_not_vanish_from_a_complete_backup() {
    let mut world = spread();
    let node = down(&mut world, LAST);
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    assert_eq!(left_out(&world, "nightly"), [LAST]);
    world.ring.store.is_away = true;
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.lose_node(&node);
    world.pass(600);
    assert_eq!(places(&world), 2);
    ends_with_another_ring(&mut world);
}

#[test]
fn a_member_that_restarts_while_it_sends_is_waited_for() {
    let mut world = a_ring();
    ask(&mut world, "nightly", &of_a_quorum());
    world.until(|w| phase(w, "nightly") == Some(BackupPhase::Uploading));
    world.pass(1);
    world.delete(kinds::POD, ALONE);
    world.settle();
    is_complete_without(&world, &[]);
}

#[test]
fn a_member_that_is_lost_in_a_phase_is_left_out_and_replaced() {
    for at in [BackupPhase::Preparing, BackupPhase::Snapshotting, BackupPhase::Uploading] {
        let mut world = spread();
        ask(&mut world, "nightly", &of_a_quorum());
        world.until(|w| phase(w, "nightly") == Some(at));
        world.pass(1);
        let node = world.node_of(LAST);
        world.lose_node(&node);
        world.settle();
        is_complete_without(&world, &[LAST]);
        // Of an attempt before another one agents clear snapshots by themselves.
        let left = if status(&world, "nightly").attempt == Some(1) { snapshots(&world) } else { 0 };
        assert_eq!((orders(&world), left), (0, 0), "{at:?}");
        world.expect_ring(3);
    }
}

#[test]
fn it_ends_alike_wherever_the_leader_ends() {
    let mut world = a_ring();
    down(&mut world, ALONE);
    ask(&mut world, "nightly", &of_a_quorum());
    let (worlds, end) = before_each_write(world);
    assert_eq!(phase(&end, "nightly"), Some(BackupPhase::Complete));
    let expected = end.end();
    let whole = |world: &mut World, _: &End| match phase(world, "nightly") {
        Some(BackupPhase::Complete) if left_out(world, "nightly") == [ALONE] => Ok(()),
        other => Err(format!("{other:?}: {}", said(world, "nightly"))),
    };
    for fault in [Fault::DieBefore, Fault::DieAfter] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 4, 2), &expected, disturb, whole);
    }
}

#[test]
fn agents_of_before_are_waited_for() {
    let mut world = a_ring();
    world.set_protocol(16);
    world.pass(5);
    ask(&mut world, "nightly", &of_a_quorum());
    world.pass(30);
    assert_eq!(phase(&world, "nightly"), Some(BackupPhase::Pending));
    let words = said(&world, "nightly");
    assert!(words.starts_with(Reason::AgentTooOld.as_str()), "{words}");
    assert!(words.contains("takes backups of all members only"), "{words}");
    ask(&mut world, "whole", &json!({}));
    world.settle();
    let whole = phase(&world, "whole");
    assert_eq!(whole, Some(BackupPhase::Complete), "it waits for nothing that they do not know");
}

/// A ring that waits for its restore, and a store with a backup without the member in rack b.
fn waiting() -> World {
    let mut world = whole_ring::waiting(&[("a", 2), ("b", 1)]);
    let hosts = ["host-901", "host-902"].map(HostId::new).into();
    world.ring.store.outcomes.insert("old".into(), Outcome::Complete(hosts));
    world.ring.store.left_out.insert("old".into(), [HostId::new("host-903")].into());
    world
}

#[test]
fn a_ring_begins_with_a_backup_without_a_member_whose_tokens_it_has_and_no_data() {
    let mut world = waiting();
    whole_ring::ask(&mut world, &json!({}));
    world.settle();
    assert_eq!(
        restore_phase(&world, "back"),
        Some(RestorePhase::Complete),
        "{}",
        world.last_words()
    );
    let had: std::collections::BTreeSet<&Vec<String>> = world.ring.restored.values().collect();
    assert_eq!(had.len(), 3, "each has the tokens of another one");
    assert_eq!(world.ring.tables[TABLE].loaded.len(), 2);
    expect_said(&world, "back", Reason::RestoreComplete, "8 SSTables");
    let repaired = |line: &&String| line.contains("start the pending repair on");
    assert_eq!(world.story.iter().filter(repaired).count(), 3, "all of them repair");
    assert_eq!(world.write(20), 20);
    world.expect_ring(3);
}

#[test]
fn such_a_ring_is_not_left_unrepaired_and_goes_to_no_point_in_time() {
    let refused = |more: fn(Timestamp) -> Value, reason: Reason, words: &str| {
        let mut world = waiting();
        // Whole seconds, as a restore names them.
        let taken = Timestamp::from_second(world.now().as_second()).unwrap();
        world.ring.store.taken = Some(taken);
        world.pass(600);
        whole_ring::ask(&mut world, &more(taken + SignedDuration::from_secs(300)));
        world.settle();
        assert_eq!(restore_phase(&world, "back"), Some(RestorePhase::Failed), "{words}");
        expect_said(&world, "back", reason, words);
        assert_eq!(whole_ring::starts(&world), 0);
    };
    refused(|_| json!({ "repair": "None" }), Reason::RestoreRefused, "host-903");
    let to = |to: Timestamp| json!({ "pointInTime": to.to_string() });
    refused(to, Reason::PointNotCovered, "left out of the backup");
}

#[test]
fn a_backup_without_a_member_takes_the_place_of_none_with_all() {
    let mut world = scheduled(&json!({
        "schedule": "0 */6 * * *", "retention": { "last": 1 }, "template": of_a_quorum(),
    }));
    go_on(&mut world, 7 * 3600);
    let whole = backups(&world)[0].clone();
    down(&mut world, ALONE);
    go_on(&mut world, 26 * 3600);
    let there = backups(&world);
    let parts: Vec<&String> = there.iter().filter(|name| **name != whole).collect();
    assert!(!parts.is_empty() && parts.iter().all(|part| left_out(&world, part) == [ALONE]));
    assert_eq!(phase(&world, &whole), Some(BackupPhase::Complete), "{there:?}");
    let is_complete = |name: &&String| phase(&world, name) == Some(BackupPhase::Complete);
    let complete = there.iter().filter(is_complete).count();
    assert_eq!(complete, 2, "of those without it the newest stays: {there:?}");
    let id = status(&world, &whole).id.unwrap();
    assert!(!world.ring.store.condemned.contains_key(&id), "the base of a point in time");
}
