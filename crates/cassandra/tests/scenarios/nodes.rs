//! Nodes that go for good and come back, and members that people give up.

use crate::every::{all_end_alike, before_each_write, same_but, same_end, some};
use crate::sim::World;
use crate::sim::compare::{Allowed, Differs};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Phase;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::sim::{Fault, Feed};
use palladion_plan::{ObjectKey, Subresource};
use serde_json::json;

pub const LAST: &str = "demo-dc1-a-1";

/// A ring at rest, each member on a machine of its own, and a machine to spare.
pub fn spread(a: i32, b: i32) -> World {
    spread_with(World::new(), a, b)
}

/// The same in a world that was prepared for it.
pub fn spread_with(mut world: World, a: i32, b: i32) -> World {
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut world = world.with(&a_cluster(&[("a", a), ("b", b)]));
    world.settle();
    assert_eq!(world.write(20), 20);
    world.story.clear();
    world.destructive.clear();
    world
}

/// What one more lost machine costs.
const A_NODE_MORE: [Allowed; 2] = [
    Allowed {
        what: Differs::More("claim data-demo-dc1-a-1: delete PersistentVolumeClaim", 1),
        why: "its volume went with the machine that was lost besides, and it got another",
    },
    Allowed {
        what: Differs::Object("Service demo-dc1-a-1-was-"),
        why: "it was a full member by then, and its replacement has another address",
    },
];

/// What a leaver's lost machine takes with it.
const A_LEAVER_LESS: [Allowed; 3] = [
    Allowed {
        what: Differs::More("claim data-demo-dc1-a-1: delete PersistentVolumeClaim", 1),
        why: "its volume went with its machine, and a claim of a lost volume goes",
    },
    Allowed {
        what: Differs::Object("PersistentVolumeClaim data-demo-dc1-a-1"),
        why: "its volume went with its machine, and a claim of a lost volume goes",
    },
    Allowed {
        what: Differs::Less("pod demo-dc1-a-1: demo-dc1-a should have fewer"),
        why: "its pod went with its machine before the set ended it",
    },
];

/// A ring of two racks whose member `LAST` was alone on its machine.
fn without_its_node(grace: u32) -> World {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": grace }));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world
}

#[test]
fn a_member_whose_node_is_gone_is_replaced_on_another() {
    let world = without_its_node(60);
    let (worlds, mut end) = before_each_write(world);
    end.expect_ring(3);
    insta::assert_snapshot!(end.story.join("\n"));
    let expected = end.end();
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let kill = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, faults[writes % faults.len()]);
    };
    all_end_alike("a lost node, killed", some(worlds, 2, 0), &expected, kill, same_end);
}

#[test]
fn the_status_may_be_erased_at_any_write_while_a_lost_node_is_replaced() {
    let (worlds, end) = before_each_write(without_its_node(0));
    let expected = end.end();
    let what = "a lost node, status erased";
    all_end_alike(what, some(worlds, 2, 1), &expected, World::erase_status, same_end);
}

#[test]
fn an_upgrade_that_a_lost_node_holds_up_goes_on_when_a_person_says_so() {
    let mut world = World::new();
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["version"] = json!("4.1.9");
    cluster["spec"]["nodeGoneGraceSeconds"] = json!(0);
    let mut world = world.with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    world.patch_spec(&json!({ "version": "5.0.5" }));
    let running = |world: &World, version: &str| {
        let members = world.store.list(kinds::MEMBER);
        let runs = |member: &serde_json::Value| member["status"]["server"]["version"] == version;
        members.filter(|(_, member)| runs(member)).count()
    };
    world.until(|w| running(w, "5.0.5") == 1);
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.pass(1200);
    let said = world.condition("Degraded");
    assert!(said.contains("palladion.dev/upgrade-without="), "{said}");
    assert!(running(&world, "4.1.9") == 2, "{}", world.last_words());
    // A task that waits for the end of the upgrade says what the upgrade waits for.
    let mut waits = world.clone();
    crate::tasks::ask(
        &mut waits,
        "work",
        &json!({ "cluster": "demo", "upgradeSSTables": {}, "members": ["demo-dc1-a-0"] }),
    );
    waits.pass(60);
    let said = crate::jobs::said(&waits, "work");
    assert!(said.starts_with("RolloutStuck") && said.contains(LAST), "{said}");
    assert!(said.contains("palladion.dev/upgrade-without="), "{said}");
    let annotation = json!({ "metadata": { "annotations": { labels::UPGRADE_WITHOUT: "" } } });
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
    world.store.merge(&key, &annotation, Subresource::None).expect("the member should exist");
    let (worlds, mut end) = before_each_write(world);
    end.expect_ring(3);
    assert_eq!(running(&end, "5.0.5"), 3, "{}", end.last_words());
    let kill = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, Fault::DieAfter);
    };
    all_end_alike(
        "an upgrade without a member, killed",
        some(worlds, 8, 1),
        &end.end(),
        kill,
        same_end,
    );
}

#[test]
fn a_node_that_is_only_unreachable_causes_nothing() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    let before = world.end();
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(300);
    assert!(world.destructive.is_empty(), "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
}

#[test]
fn a_node_that_comes_back_in_time_causes_nothing() {
    let mut world = spread(2, 1);
    let before = world.end();
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    world.pass(120);
    assert!(world.condition("Degraded").contains("NodeGone"), "{}", world.condition("Degraded"));
    world.register_node(&node, "z1");
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
}

/// A file server is away, or a driver: of its pod no container says so.
#[test]
fn a_member_whose_volumes_its_node_cannot_mount_is_reported_and_comes_back() {
    let mut world = spread(2, 1);
    let before = world.end();
    let node = world.node_of(LAST);
    world.kube.without_mounts.insert(node.clone());
    world.delete(kinds::POD, LAST);
    world.pass(120);
    let early = world.condition("Degraded");
    assert!(!early.contains("WaitingForVolumes"), "a slow mount is nothing yet: {early}");
    world.pass(60);
    let late = world.condition("Degraded");
    assert!(late.starts_with("True") && late.contains("WaitingForVolumes"), "{late}");
    assert!(late.contains(LAST) && late.contains(&node), "{late}");
    world.kube.without_mounts.clear();
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
}

/// Its claim is going by then, and goes with the pod: it serves, and nothing takes a turn.
#[test]
fn a_node_that_comes_back_when_the_claim_of_its_member_goes_wears_nobody_out() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    let node = world.node_of(LAST);
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{LAST}"));
    let is_going = |w: &World| {
        w.store.get(&claim).is_some_and(|c| !c["metadata"]["deletionTimestamp"].is_null())
    };
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    world.until(is_going);
    // Nobody goes on with the turn meanwhile.
    world.patch_spec(&json!({ "paused": true }));
    world.register_node(&node, "z1");
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert!(is_going(&world) && world.normal() == 3, "{}", world.last_words());
    world.patch_spec(&json!({ "paused": false }));
    world.pass(60);
    world.writes.clear();
    world.pass(600);
    assert_eq!(world.writes, Vec::<String>::new(), "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.contains("ClaimTerminating") && told.contains(LAST), "{told}");
}

#[test]
fn a_volume_on_the_network_is_not_gone_with_its_node() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let volumes: Vec<ObjectKey> =
        world.store.list(kinds::VOLUME).map(|(key, _)| key.clone()).collect();
    assert!(!volumes.is_empty());
    for key in volumes {
        let network = json!({ "spec": { "local": null, "csi": { "driver": "network" } } });
        world.store.merge(&key, &network, Subresource::None).expect("the volume should exist");
    }
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    world.pass(600);
    assert!(world.destructive.is_empty(), "{}", world.last_words());
    assert_eq!((world.normal(), world.ring.full_members()), (2, 3), "{}", world.last_words());
}

#[test]
fn a_node_object_deleted_under_a_living_machine_replaces_nobody() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let node = world.node_of(LAST);
    world.delete_node(&node);
    world.pass(300);
    assert!(world.destructive.is_empty(), "{}", world.last_words());
    assert_eq!(world.normal(), 3, "{}", world.last_words());
}

#[test]
fn a_replacement_whose_node_is_lost_too_is_made_on_a_third() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    let (worlds, straight) = before_each_write(world);
    let expected = straight.end();
    let lose = |world: &mut World| {
        if !world.exists(kinds::POD, LAST) {
            return;
        }
        let node = world.node_of(LAST);
        let first = world.node_of("demo-dc1-a-0");
        if !node.is_empty() && node != first {
            world.lose_node(&node);
        }
    };
    let what = "the node of a replacement is lost";
    all_end_alike(what, some(worlds, 2, 0), &expected, lose, same_but(&A_NODE_MORE));
}

#[test]
fn a_joiner_whose_node_is_lost_joins_on_another() {
    let wanted = a_cluster(&[("a", 2), ("b", 1)]);
    let mut straight = spread(1, 1);
    straight.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    straight.set_racks(&wanted);
    let mut worlds = Vec::new();
    while straight.tick().unwrap() == crate::sim::world::Tick::GoesOn {
        worlds.push(straight.clone());
    }
    straight.expect_ring(3);
    let expected = straight.end();
    let lose = |world: &mut World| {
        let node = match world.exists(kinds::POD, LAST) {
            true => world.node_of(LAST),
            false => String::new(),
        };
        if !node.is_empty() {
            world.lose_node(&node);
        }
    };
    let what = "the node of a joiner is lost";
    all_end_alike(what, some(worlds, 12, 0), &expected, lose, same_but(&A_NODE_MORE));
}

/// What the watch of Nodes knows is as old as its last event: the machine has its Node again,
/// and with it the volume.
#[test]
fn a_node_that_is_back_before_the_watch_knows_it_costs_a_joiner_no_volume() {
    let mut world = spread(1, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.exists(kinds::POD, LAST) && !w.node_of(LAST).is_empty());
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.delete_node(&node);
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{LAST}"));
    let is_noted = |w: &World| {
        let noted = w.store.get(&claim).map(|c| &c["metadata"]["annotations"][labels::NODE_GONE]);
        noted.is_some_and(|at| at.is_string())
    };
    world.until(is_noted);
    world.set_feed(kinds::NODE, Feed::Stale);
    world.register_node(&node, "z1");
    world.set_machine(&node, Machine::Down);
    world.pass(180);
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
    world.set_feed(kinds::NODE, Feed::Live);
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert!(world.destructive.is_empty(), "{:?}\n{}", world.destructive, world.last_words());
    assert!(!is_noted(&world), "{}", world.last_words());
    world.expect_ring(3);
}

#[test]
fn two_joiners_whose_nodes_are_lost_together_get_other_volumes_one_by_one() {
    const THIRD: &str = "demo-dc1-a-2";
    let mut world = spread(1, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let placed = |world: &World, name: &str| {
        world.exists(kinds::POD, name) && !world.node_of(name).is_empty()
    };
    world.until(|w| placed(w, LAST) && placed(w, THIRD));
    // Both fall due in the same decision: nothing is decided while they go.
    world.patch_spec(&json!({ "paused": true }));
    let nodes = [world.node_of(LAST), world.node_of(THIRD)];
    assert_ne!(nodes[0], nodes[1]);
    nodes.iter().for_each(|node| world.lose_node(node));
    world.settle();
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect_ring(4);
}

#[test]
fn a_leaver_whose_node_is_lost_is_removed_by_the_others() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    let mut worlds = Vec::new();
    let mut end = world.clone();
    while end.tick().unwrap() == crate::sim::world::Tick::GoesOn {
        worlds.push(end.clone());
    }
    let expected = end.end();
    let name = LAST;
    let lose = |world: &mut World| {
        if !world.exists(kinds::POD, name) {
            return;
        }
        let node = world.node_of(name);
        world.lose_node(&node);
    };
    let what = "the node of a leaver is lost";
    all_end_alike(what, some(worlds, 10, 0), &expected, lose, same_but(&A_LEAVER_LESS));
}

#[test]
fn a_member_is_replaced_by_label_when_it_is_dead_and_not_when_it_lives() {
    for (kind, name) in [(kinds::MEMBER, LAST), (kinds::SERVICE, LAST)] {
        let mut world = spread(2, 1);
        let before = world.end();
        world.label(kind, name, labels::REPLACE);
        world.settle();
        assert_eq!(world.end(), before, "it lives");
        assert!(world.destructive.is_empty(), "{}", world.last_words());
        let refused = format!("Member {LAST} cannot be replaced: it is up and normal");
        assert!(world.story.iter().any(|l| l.contains(&refused)), "{}", world.last_words());
        world.break_volume(LAST);
        world.pass(60);
        world.label(kind, name, labels::REPLACE);
        world.settle();
        world.expect_ring(3);
        assert_eq!(world.destructive.len(), 2, "{:?}", world.destructive);
    }
}

#[test]
fn after_the_founder_was_replaced_the_ring_grows_shrinks_and_replaces() {
    let mut world = spread(2, 1);
    world.register_node("n6", "z1");
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    for member in ["demo-dc1-a-0", LAST] {
        let node = world.node_of(member);
        world.lose_node(&node);
        world.settle();
        world.expect_ring(3);
    }
    for members in [3, 2] {
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.settle();
        world.expect_ring(usize::try_from(members).unwrap() + 1);
    }
}

#[test]
fn the_address_of_the_replaced_is_given_to_nobody_else() {
    let mut world = without_its_node(0);
    let key = palladion_plan::ObjectKey::new(kinds::MEMBER, "default", LAST);
    let address = |world: &World, key: &palladion_plan::ObjectKey| {
        world.store.get(key).unwrap()["spec"]["address"].clone()
    };
    let old = address(&world, &key);
    world.settle();
    world.expect_ring(3);
    world.set_racks(&a_cluster(&[("a", 4), ("b", 1)]));
    world.settle();
    world.expect_ring(5);
    for name in world.names(kinds::MEMBER) {
        let key = palladion_plan::ObjectKey::new(kinds::MEMBER, "default", &name);
        assert_ne!(address(&world, &key), old, "{name}");
    }
}

#[test]
fn claims_deleted_under_a_running_ring_cost_nothing_while_their_pods_live() {
    let mut world = spread(2, 1);
    for claim in world.names(kinds::CLAIM) {
        world.delete(kinds::CLAIM, &claim);
    }
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert!(world.condition("Degraded").contains("ClaimTerminating"));
    // A change that needs restarts ends no pod: the pod is all that keeps the data.
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    // One pod ends all the same: its member waits for a person, who gives it up.
    world.give_up(LAST);
    world.delete(kinds::POD, LAST);
    world.settle();
    assert_eq!((world.normal(), world.ring.founders.len()), (2, 1));
    world.label(kinds::MEMBER, LAST, labels::REPLACE);
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(world.ring.full_members(), 3);
}

#[test]
fn a_leaver_that_the_ring_does_not_take_back_is_removed_by_the_others() {
    let mut world = spread(2, 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    let leaves = |w: &World| {
        let leaver = w.ring.in_phase(&Phase::Leaving);
        leaver.is_some_and(|(_, s)| s.member == LAST)
    };
    world.until(leaves);
    world.ring.colliding.insert(LAST.to_string());
    world.delete(kinds::POD, LAST);
    world.settle();
    world.expect_ring(2);
    assert!(!world.names(kinds::MEMBER).contains(&LAST.to_string()));
}

#[test]
fn a_replacement_that_never_gets_through_ends_in_a_removal_and_a_join() {
    let mut world = without_its_node(0);
    world.ring.wedged.insert(LAST.to_string());
    world.settle();
    world.expect_ring(3);
    let removed = world.story.iter().any(|l| l.contains("join as a new member"));
    assert!(removed, "{}", world.last_words());
}

/// Its pod waits for a machine that never comes back: the restart would never end.
#[test]
fn a_member_whose_machine_is_lost_as_it_restarts_is_replaced() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    world.settle();
    let node = world.node_of("demo-dc1-a-0");
    world.lose_node(&node);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.until(|w| w.end().status["turn"]["step"] == "Restart");
    world.pass(20);
    world.power_cut();
    world.api_returns();
    world.settle();
    world.expect_ring(3);
}
