//! Stop and start, restarts, upgrades, racks, volumes and drift: undisturbed
//! and with the operator killed at every write.

use crate::every::{
    a_ring, all_end_alike, before_each_write, killed_at_every_write, same_but, same_end, some,
};
use crate::sim::World;
use crate::sim::compare::{Allowed, Differs};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::{Tick, cluster_key};
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Precondition, Propagation, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn pod_uids(world: &World) -> BTreeMap<String, String> {
    let uid = |o: &Value| o["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), uid(pod))).collect()
}

fn is_stopped(world: &World) -> bool {
    world.names(kinds::POD).is_empty()
}

#[test]
fn a_stopped_ring_has_no_pods_and_starts_all_at_once() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    let mut stopped = killed_at_every_write("a ring is stopped", world, 1);
    assert!(is_stopped(&stopped), "{}", stopped.last_words());
    assert_eq!(stopped.names(kinds::CLAIM).len(), 3);
    assert_eq!(stopped.names(kinds::MEMBER).len(), 3);
    let progressing = stopped.condition("Progressing");
    assert!(progressing.starts_with("False Stopped"), "{progressing}");
    stopped.expect_rest();
    stopped.writes.clear();
    stopped.patch_spec(&json!({ "run": "Running" }));
    let mut end = killed_at_every_write("a stopped ring is started", stopped, 1);
    end.expect_ring(3);
    let writes: Vec<_> = end.writes.iter().filter(|w| *w != "report the status").collect();
    assert_eq!(writes.len(), 5, "one write for each rack, one for each member: {writes:?}");
    let is_up = |w: &&&String| w.contains("was stopped with the whole ring: it is up");
    assert_eq!(writes.iter().filter(is_up).count(), 3, "{writes:?}");
    insta::assert_snapshot!(end.story.join("\n"));
}

/// The pod is all that keeps the data.
#[test]
fn a_ring_is_not_stopped_while_a_claim_is_being_deleted() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::CLAIM, "data-demo-dc1-a-1");
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    assert!(world.exists(kinds::CLAIM, "data-demo-dc1-a-1"), "{}", world.last_words());
    assert!(world.exists(kinds::POD, "demo-dc1-a-1"), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("ClaimTerminating"), "{degraded}");
}

#[test]
fn members_lowered_while_the_ring_is_stopped_leave_when_it_runs_again() {
    let mut world = a_ring(3, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    assert!(is_stopped(&world), "{}", world.last_words());
    assert_eq!(world.names(kinds::CLAIM).len(), 4, "no volume goes unasked");
    world.patch_spec(&json!({ "run": "Running" }));
    let mut end = killed_at_every_write("a ring of four starts as three", world, 6);
    end.expect_ring(3);
}

#[test]
fn a_ring_may_be_stopped_at_any_write_of_its_growth_and_its_shrinking() {
    let stopped = [Allowed {
        what: Differs::More("pod demo-dc1-*should have fewer", 1),
        why: "a stopped ring has no pods: each ends once",
    }];
    for (from, to) in [((2, 1), 3), ((3, 1), 2)] {
        let mut world = a_ring(from.0, from.1);
        world.set_racks(&a_cluster(&[("a", to), ("b", 1)]));
        let (worlds, end) = before_each_write(world);
        all_end_alike(
            "stopped and started again",
            some(worlds, 5, 1),
            &end.end(),
            |world| {
                world.patch_spec(&json!({ "run": "Stopped" }));
                world.settle();
                assert!(is_stopped(world), "{}", world.last_words());
                world.patch_spec(&json!({ "run": "Running" }));
            },
            same_but(&stopped),
        );
    }
}

#[test]
fn a_ring_that_is_made_stopped_has_nothing_and_is_founded_when_it_runs() {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["run"] = json!("Stopped");
    let mut world = World::new().with(&cluster);
    world.settle();
    assert!(is_stopped(&world) && world.ring.founders.is_empty());
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_frozen_leader_cannot_stop_a_ring_that_runs_again() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.faults.plan(world.faults.writes(), palladion_plan::sim::Fault::Freeze);
    world.until(|w| w.faults.is_over());
    world.patch_spec(&json!({ "run": "Running" }));
    let before = pod_uids(&world);
    world.start_operator();
    world.pass(10);
    world.wake_and_end_the_old_leader();
    world.settle();
    assert_eq!(pod_uids(&world), before, "{}", world.last_words());
}

#[test]
fn a_restart_token_restarts_each_server_once_in_its_pod() {
    for (patch, restarts) in
        [(json!({ "restartToken": "now" }), 3), (json!({ "restartToken": null }), 0)]
    {
        let mut world = a_ring(2, 1);
        let before = pod_uids(&world);
        world.patch_spec(&patch);
        let mut end = match restarts {
            // Nothing is asked for, and nothing is written that somebody could die at.
            0 => {
                world.settle();
                world
            }
            _ => killed_at_every_write("a ring is restarted", world, 4),
        };
        end.expect_ring(3);
        assert_eq!(pod_uids(&end), before, "pods stay");
        let count = end.story.iter().filter(|l| l.contains("stops its server: Restart")).count();
        assert_eq!(count, restarts, "{}", end.last_words());
    }
}

#[test]
fn runtime_settings_travel_to_every_member_and_restart_nobody() {
    let mut world = a_ring(2, 1);
    let before = pod_uids(&world);
    world.writes.clear();
    world.patch_spec(&json!({ "runtimeSettings": {
        "compactionThroughput": 16, "logLevels": { "a.b": "DEBUG", "c": "WARN" },
    }}));
    world.settle();
    let settings = |world: &World, member: &str| {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
        world.store.get(&key).unwrap()["spec"]["runtimeSettings"].clone()
    };
    for member in world.names(kinds::MEMBER) {
        assert_eq!(
            settings(&world, &member),
            json!({ "compactionThroughput": 16, "logLevels": { "a.b": "DEBUG", "c": "WARN" } })
        );
    }
    let told = world.writes.iter().filter(|w| *w != "report the status");
    assert_eq!(told.count(), 3, "{:?}", world.writes);
    world.patch_spec(&json!({ "runtimeSettings": {
        "compactionThroughput": null, "logLevels": { "c": null },
    }}));
    let mut end = killed_at_every_write("runtime settings are taken out", world, 1);
    for member in end.names(kinds::MEMBER) {
        assert_eq!(settings(&end, &member), json!({ "logLevels": { "a.b": "DEBUG" } }));
    }
    assert_eq!(pod_uids(&end), before);
    end.expect_ring(3);
    end.patch_spec(&json!({ "runtimeSettings": null }));
    end.settle();
    assert_eq!(settings(&end, "demo-dc1-a-0"), Value::Null);
    end.expect_rest();
}

#[test]
fn a_rack_or_one_member_is_restarted_alone() {
    let mut world = a_ring(2, 1);
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    racks["spec"]["datacenter"]["racks"][1]["restartToken"] = json!("today");
    world.set_racks(&racks);
    world.settle();
    world.expect_ring(3);
    let restarted = |world: &World| {
        let lines = world.story.iter().filter(|l| l.contains("stops its server: Restart"));
        lines.filter_map(|l| l.split_whitespace().nth(1).map(str::to_string)).collect::<Vec<_>>()
    };
    assert_eq!(restarted(&world), ["demo-dc1-b-0"]);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-1");
    let patch = json!({ "metadata": { "annotations": { "palladion.dev/restart": "Sat Nov 21" } } });
    world.store.merge(&key, &patch, Subresource::None).expect("the member should exist");
    world.settle();
    world.expect_ring(3);
    assert_eq!(restarted(&world), ["demo-dc1-b-0", "demo-dc1-a-1"]);
}

pub fn versions(world: &World) -> Vec<String> {
    world
        .store
        .list(kinds::MEMBER)
        .filter_map(|(_, m)| m["status"]["server"]["version"].as_str().map(str::to_string))
        .collect()
}

pub fn a_ring_of_4_1() -> World {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["version"] = json!("4.1.9");
    let mut world = World::new().with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    world.story.clear();
    world
}

#[test]
fn an_upgrade_goes_before_the_growth_and_pays_with_upgraded_tables() {
    let mut world = a_ring_of_4_1();
    assert_eq!(versions(&world), ["4.1.9"; 3]);
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let mut end = killed_at_every_write("an upgrade with a growth", world, 8);
    end.expect_ring(4);
    assert_eq!(versions(&end), ["5.0.5"; 4]);
    let line = |words: &str| {
        end.story
            .iter()
            .position(|l| l.contains(words))
            .unwrap_or_else(|| panic!("{words}\n{}", end.last_words()))
    };
    let last_old =
        end.story.iter().rposition(|l| l.contains("to update it to the newest revision")).unwrap();
    assert!(last_old < line("begin the join of member demo-dc1-a-2"));
    assert!(end.writes.iter().any(|w| w.contains("start the pending")));
    let status = end.store.get(&cluster_key()).unwrap()["status"].clone();
    assert_eq!(status["highestReleaseLine"], "5.0");
}

/// What members owe, as of the store.
fn debts(world: &World) -> Vec<String> {
    let members = world.store.list(kinds::MEMBER);
    let of_each = members.flat_map(|(key, member)| {
        let owes = member["spec"]["pendingMaintenance"].as_array().cloned();
        let owes = owes.unwrap_or_default().into_iter();
        owes.map(move |debt| format!("{}: {debt}", key.name))
    });
    of_each.collect()
}

#[test]
fn nothing_is_called_as_wanted_while_debts_are_owed_or_somebody_has_the_turn() {
    let mut world = a_ring_of_4_1();
    let upgrade: fn(&mut World) = |w| w.patch_spec(&json!({ "version": "5.0.5" }));
    let growth: fn(&mut World) = |w| w.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    for change in [upgrade, growth] {
        change(&mut world);
        let mut owed = 0;
        while world.tick().unwrap_or_else(|why| panic!("{why}")) == Tick::GoesOn {
            let left = debts(&world);
            owed += left.len();
            let says = world.condition("Progressing");
            let turn = &world.store.get(&cluster_key()).unwrap()["status"]["turn"];
            assert!(
                left.is_empty() && turn.is_null() || !says.starts_with("False UpToDate"),
                "{says}, and {left:?}, {turn}\n{}",
                world.last_words()
            );
        }
        assert!(owed > 0, "the story has debts");
        assert!(debts(&world).is_empty());
    }
}

#[test]
fn a_ring_may_be_upgraded_while_it_is_stopped_and_its_first_member_proves_it() {
    let mut world = a_ring_of_4_1();
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    world.patch_spec(&json!({ "version": "5.0.5", "config": { "broken_setting": 1 } }));
    world.patch_spec(&json!({ "run": "Running" }));
    world.pass(120);
    let refused = |w: &World| w.story.iter().filter(|l| l.contains("starts its server")).count();
    let tried: std::collections::BTreeSet<&str> = world
        .story
        .iter()
        .filter(|l| l.contains("starts its server"))
        .filter_map(|l| l.split_whitespace().nth(1))
        .collect();
    assert_eq!(tried.len(), 1, "one proves it: {tried:?}, {} starts", refused(&world));
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    let mut end = killed_at_every_write("a stopped ring is upgraded", world, 6);
    end.expect_ring(3);
    assert_eq!(versions(&end), ["5.0.5"; 3]);
    let paid = end.writes.iter().filter(|w| w.contains("record that the SSTable upgrade"));
    assert_eq!(paid.count(), 3, "{}", end.last_words());
}

#[test]
fn no_member_is_brought_back_to_an_older_line() {
    let mut world = a_ring(2, 1);
    let before = pod_uids(&world);
    world.patch_spec(&json!({ "version": "4.1.9" }));
    world.settle();
    let accepted = world.condition("Accepted");
    assert!(accepted.contains("InvalidSpec") && accepted.contains("5.0"), "{accepted}");
    assert_eq!(pod_uids(&world), before);
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn an_upgrade_whose_image_is_missing_is_taken_back_by_editing_the_spec_alone() {
    let mut world = a_ring_of_4_1();
    world.patch_spec(&json!({ "version": "5.0.404", "repository": "example.org/missing" }));
    world.pass(120);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&json!({ "version": "4.1.9", "repository": null }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(versions(&world), ["4.1.9"; 3]);
}

#[test]
fn a_rollout_stuck_at_its_canary_heals_with_the_next_spec_also_after_a_node_died() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(200);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let node = |world: &World, pod: &str| {
        let key = ObjectKey::new(kinds::POD, NAMESPACE, pod);
        world.store.get(&key).unwrap()["spec"]["nodeName"].as_str().unwrap().to_string()
    };
    let down = node(&world, "demo-dc1-b-0");
    world.set_machine(&down, palladion_plan::sim::kubernetes::Machine::Down);
    world.pass(400);
    world.set_machine(&down, palladion_plan::sim::kubernetes::Machine::Up);
    world.delete(kinds::POD, "demo-dc1-b-0");
    world.pass(120);
    assert!(world.ring.founders.len() == 1);
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn two_racks_are_added_at_once_with_one_join_at_a_time() {
    let mut world = World::new().with(&a_cluster(&[("a", 2)]));
    world.settle();
    assert_eq!(world.write(20), 20);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1), ("c", 2)]));
    let mut end = killed_at_every_write("two racks are added", world, 8);
    end.expect_ring(5);
}

#[test]
fn a_rack_that_is_dropped_from_the_spec_is_drained_and_removed() {
    let mut world = a_ring(2, 2);
    world.set_racks(&a_cluster(&[("a", 2)]));
    world.story.clear();
    let mut end = killed_at_every_write("a rack is dropped", world, 6);
    end.expect_ring(2);
    assert_eq!(end.names(kinds::STATEFUL_SET), ["demo-dc1-a"]);
    assert_eq!(end.names(kinds::MEMBER).len(), 2);
    assert_eq!(end.names(kinds::CLAIM).len(), 4, "claims are kept");
    let told = end.story.join("\n");
    end.pass(73 * 3600);
    end.settle();
    let services = end.names(kinds::SERVICE);
    assert!(!services.iter().any(|s| s.contains("-b-")), "{services:?}");
    insta::assert_snapshot!(told);
}

#[test]
fn a_rack_that_comes_back_while_it_is_drained_stays() {
    let mut world = a_ring(2, 2);
    world.set_racks(&a_cluster(&[("a", 2)]));
    let (worlds, _) = before_each_write(world);
    let expected = a_ring(2, 2).end();
    let left_before = [Allowed {
        what: Differs::More("pod demo-dc1-b-*should have fewer (no member of the ring)", 1),
        why: "who had left, or was leaving, when the rack came back joins as a new member",
    }];
    all_end_alike(
        "a dropped rack comes back",
        some(worlds, 7, 2),
        &expected,
        |w| w.set_racks(&a_cluster(&[("a", 2), ("b", 2)])),
        same_but(&left_before),
    );
}

#[test]
fn a_rack_is_emptied_and_filled_again() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 0)]));
    world.settle();
    world.expect_ring(2);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_claim_grows_and_no_pod_is_touched() {
    let mut world = a_ring(2, 1);
    let before = pod_uids(&world);
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    let claim = json!([{ "metadata": { "name": "data" }, "spec": { "resources": { "requests": { "storage": "20Gi" } } } }]);
    racks["spec"]["datacenter"]["racks"][0]["storage"] = json!({ "volumeClaimTemplates": claim });
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.set_racks(&racks);
    let mut end = killed_at_every_write("a claim grows", world, 1);
    end.expect_ring(3);
    let mut after = pod_uids(&end);
    assert!(after.remove("demo-dc1-a-1").is_some());
    let mut kept = before;
    kept.remove("demo-dc1-a-1");
    assert_eq!(after, kept, "pods of the others stay");
    for (member, size) in [("a-0", "20Gi"), ("a-1", "20Gi"), ("b-0", "10Gi")] {
        let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-demo-dc1-{member}"));
        let claim = end.store.get(&key).unwrap();
        assert_eq!(claim["spec"]["resources"]["requests"]["storage"], size, "{member}");
    }
    let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-a");
    let set = end.store.get(&key).unwrap();
    assert_eq!(
        set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"],
        "20Gi"
    );
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_set_scaled_by_hand_is_put_back_and_no_phantom_stays() {
    for (replicas, fewer) in [(4, false), (1, true), (0, true)] {
        let mut world = a_ring(2, 1);
        world.scale_set("demo-dc1-a", replicas);
        world.settle();
        world.expect_ring(3);
        assert_eq!(world.names(kinds::MEMBER).len(), 3, "{}", world.last_words());
        assert_eq!(world.names(kinds::POD).len(), 3, "fewer: {fewer}");
    }
}

#[test]
fn a_set_deleted_by_hand_is_made_again_with_or_without_its_pods() {
    for propagation in [Propagation::Background, Propagation::Orphan] {
        let mut world = a_ring(2, 1);
        let before = pod_uids(&world);
        let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-a");
        world.store.delete(&key, &Precondition::Absent, propagation).expect("the set should exist");
        world.settle();
        world.expect_ring(3);
        if propagation == Propagation::Orphan {
            assert_eq!(pod_uids(&world), before);
        }
    }
}

#[test]
fn an_edited_field_of_ours_is_put_back() {
    let mut world = a_ring(2, 1);
    let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "demo-dc1-a");
    let patch = json!({ "spec": { "updateStrategy": { "type": "RollingUpdate" } } });
    world.store.merge(&key, &patch, Subresource::None).expect("the set should exist");
    world.settle();
    world.expect_ring(3);
    let set = world.store.get(&key).unwrap();
    assert_eq!(set["spec"]["updateStrategy"]["type"], "OnDelete");
}

#[test]
fn the_target_may_change_three_times_in_the_middle() {
    let mut world = a_ring(2, 1);
    for members in [3, 1, 3, 2] {
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.pass(12);
    }
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_ring_may_be_paused_at_any_write_of_a_rollout_and_goes_on_where_it_was() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let (worlds, end) = before_each_write(world);
    all_end_alike(
        "paused in a rollout",
        some(worlds, 3, 0),
        &end.end(),
        |world| {
            world.patch_spec(&json!({ "paused": true }));
            world.pass(1);
            let writes = world.writes.len();
            world.pass(60);
            let others: Vec<_> =
                world.writes[writes..].iter().filter(|w| *w != "report the status").collect();
            assert!(others.is_empty(), "{others:?}");
            world.patch_spec(&json!({ "paused": false }));
        },
        same_end,
    );
}
