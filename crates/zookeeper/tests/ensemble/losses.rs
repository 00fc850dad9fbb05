//! Volumes that are lost, servers that are away, disks that come back.

use super::acts::pod;
use super::world::{NAMESPACE, World};
use palladion_api::labels;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Feed;
use palladion_plan::sim::kubernetes::Machine;
use palladion_zookeeper::resources as kinds;
use serde_json::{Value, json};

#[test]
fn a_wiped_server_is_replaced_under_another_id_at_another_address() {
    let mut world = World::settled(3);
    let old = world.member(1)["spec"]["address"].clone();
    world.wipe(1);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
    assert_ne!(world.member(1)["spec"]["address"], old);
    assert_eq!(world.member(1)["spec"]["replace"], json!(null));
    let exchanges =
        world.story.iter().filter(|l| l.contains("reconfig +[(4") && l.contains("-[2]"));
    assert_eq!(exchanges.count(), 1, "in one change: {}", world.last_words());
}

#[test]
fn a_server_that_has_lost_a_part_of_its_data_is_replaced() {
    let mut world = World::settled(3);
    world.lose_data(2);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 4]);
}

/// The history that loses an acknowledged write with ZooKeeper's defaults: it is known to
/// A and B; A is down; B is wiped; B and C are started.
#[test]
fn a_server_that_is_wiped_while_another_is_down_gives_no_vote() {
    let mut world = World::settled(3);
    world.wipe_the_only_other_one_that_knows();
    world.pass(120);
    assert!(world.ensemble.leader().is_none(), "nobody may lead: {}", world.last_words());
    world.kube.set_machine(&mut world.store, "n1", Machine::Up);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
}

#[test]
fn where_a_majority_is_wiped_nothing_is_changed_and_it_is_said() {
    let mut world = World::settled(3);
    world.wipe(0);
    world.wipe(1);
    let before: Vec<_> =
        (0..3).map(|o| world.exists(kinds::CLAIM, &format!("data-{}", pod(o)))).collect();
    world.settle();
    let after: Vec<_> =
        (0..3).map(|o| world.exists(kinds::CLAIM, &format!("data-{}", pod(o)))).collect();
    assert_eq!(before, after, "no claim is deleted");
    assert!(world.condition("Available").starts_with("False QuorumLost"));
    let said = world.condition("Degraded");
    assert!(said.contains("demo-zk-0"), "{said}");
    assert_eq!(world.ensemble.begun, 1);
}

#[test]
fn without_a_quorum_only_the_status_is_written() {
    let mut world = World::settled(3);
    world.stop_process(0);
    world.stop_process(1);
    world.writes.clear();
    world.patch_spec(&json!({ "version": "3.9.3", "restartToken": "x" }));
    world.pass(600);
    let of_members = world.writes.iter().filter(|w| {
        !w.starts_with("create the configuration") && !w.starts_with("update the StatefulSet")
    });
    assert_eq!(of_members.count(), 0, "{:?}", world.writes);
    assert!(world.condition("Available").starts_with("False QuorumLost"), "{}", world.last_words());
    world.continue_all();
    world.settle();
    world.expect(3);
}

#[test]
fn an_old_disk_that_comes_back_serves_nobody() {
    let mut world = World::settled(3);
    let old = world.disk(1).content.clone();
    world.wipe(1);
    world.settle();
    world.expect(3);
    // The old disk is put in the place of the new one.
    let new = std::mem::replace(&mut world.disk(1).content, old);
    world.delete(kinds::POD, &pod(1));
    world.pass(120);
    assert_eq!(world.ensemble.servers.len(), 2, "{}", world.last_words());
    world.disk(1).content = new;
    world.settle();
    world.expect(3);
}

#[test]
fn an_old_copy_of_a_volume_is_not_started_and_is_replaced_when_a_user_says_so() {
    let mut world = World::settled(3);
    let copy = world.disk(1).content.clone();
    world.delete(kinds::POD, &pod(1));
    world.settle();
    world.expect(3);
    world.disk(1).content = copy;
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.ensemble.servers.len(), 2, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeRolledBack: member demo-zk-1"), "{said}");
    world.give_up_volume(1);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
}

#[test]
fn a_member_is_replaced_when_a_user_names_its_volume_and_it_does_not_serve() {
    let mut world = World::settled(3);
    let volume = world.member(2)["spec"]["volumeID"].as_str().unwrap().to_string();
    let annotate = |world: &mut World, value: &str| {
        let patch = json!({ "metadata": { "annotations": { "palladion.dev/replace": value } } });
        world.patch_member(&pod(2), &patch);
    };
    annotate(&mut world, &volume);
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True ReplaceRefused: member demo-zk-2 serves"), "{said}");
    annotate(&mut world, "another");
    world.settle();
    assert!(world.condition("Degraded").contains("names volume another"));
    // Its machine is gone for good.
    world.unlucky.insert(pod(2));
    let uid = world.uid(2).unwrap();
    world.ensemble.stop(&uid);
    annotate(&mut world, &volume);
    world.pass(30);
    world.unlucky.clear();
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 4], "{}", world.last_words());
    assert_eq!(world.member(2)["metadata"]["annotations"]["palladion.dev/replace"], json!(null));
}

#[test]
fn a_lost_leaver_leaves_and_nobody_takes_its_place() {
    let mut world = World::settled(5);
    world.wipe(4);
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 3]);
}

/// Growth is under way when a member is lost: its replacement comes first.
#[test]
fn a_loss_comes_before_a_join() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| w.status()["turn"]["step"] == "Join");
    world.wipe(0);
    world.settle();
    world.expect(5);
    assert!(!world.voters().contains(&1));
}

/// A configuration names the address of the lost server until the exchange is made.
#[test]
fn the_address_of_a_lost_server_is_reserved_until_no_configuration_names_it() {
    let mut world = World::settled(3);
    let old = world.member(1)["spec"]["address"].as_str().unwrap().to_string();
    let holds = |world: &World| {
        world.store.list(kinds::SERVICE).any(|(_, s)| s["spec"]["clusterIP"] == old.as_str())
    };
    world.wipe(1);
    while world.tick().unwrap() {
        let named = world
            .ensemble
            .leader()
            .is_some_and(|l| l.config.servers.values().any(|(address, _)| *address == old));
        assert!(!named || holds(&world), "{}", world.last_words());
    }
    world.expect(3);
    assert!(!holds(&world), "it is given back at last: {}", world.last_words());
}

/// pravega/zookeeper-operator#92: there each left the ensemble when it was stopped, and
/// without a quorum nobody could be added again.
#[test]
fn all_servers_come_back_by_themselves_when_all_have_been_down() {
    let mut world = World::settled(3);
    for ordinal in 0..3 {
        world.delete(kinds::POD, &pod(ordinal));
    }
    world.settle();
    world.expect(3);
    assert_eq!(world.ensemble.begun, 1);
    assert_eq!(world.voters(), [1, 2, 3]);
}

/// Its local volume went with the machine.
#[test]
fn a_member_whose_node_is_gone_for_good_is_replaced_after_the_grace_time() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    world.kube.delete_node(&mut world.store, "n2");
    world.pass(250);
    let said = world.condition("Degraded");
    assert!(said.contains("Node n2, which holds the volume of member demo-zk-1"), "{said}");
    assert!(world.voters().contains(&2), "not before the grace time has passed");
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4]);
}

/// What the watch of Nodes knows is as old as its last event: the machine has its Node again,
/// and with it the volume.
#[test]
fn a_node_that_is_back_before_the_watch_knows_it_costs_a_new_member_no_volume() {
    let mut world = World::settled(3);
    world.kube.add_node(&mut world.store, "n4", "z1");
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0, "servers": 5 }));
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(3)));
    let of_pod = ObjectKey::new(kinds::POD, NAMESPACE, &pod(3));
    let node_of = |w: &World| {
        let pod = w.store.get(&of_pod)?;
        pod["spec"]["nodeName"].as_str().map(str::to_string)
    };
    world.until(|w| node_of(w).is_some());
    let node = node_of(&world).unwrap();
    world.kube.set_machine(&mut world.store, &node, Machine::Down);
    world.kube.forget_node(&mut world.store, &node);
    let noted = |w: &World| {
        w.store.get(&claim).unwrap()["metadata"]["annotations"][labels::NODE_GONE].clone()
    };
    world.until(|w| noted(w).is_string());
    let uid = |w: &World| w.store.get(&claim).map(|c| c["metadata"]["uid"].clone());
    let before = uid(&world);
    assert!(world.member(3)["spec"]["serverID"].is_null(), "{}", world.last_words());
    world.operators[0].cache.set_feed(kinds::NODE, Feed::Stale);
    world.kube.add_node(&mut world.store, &node, "z1");
    world.kube.set_machine(&mut world.store, &node, Machine::Down);
    world.pass(120);
    assert_eq!(uid(&world), before, "{}", world.last_words());
    world.operators[0].cache.set_feed(kinds::NODE, Feed::Live);
    world.operators[0].resync();
    world.kube.set_machine(&mut world.store, &node, Machine::Up);
    world.settle();
    world.expect(5);
    assert_eq!(uid(&world), before, "{}", world.last_words());
    assert!(noted(&world).is_null(), "{}", world.last_words());
}

#[test]
fn a_node_that_comes_back_in_time_brings_its_member_back() {
    let mut world = World::settled(3);
    world.kube.forget_node(&mut world.store, "n2");
    world.pass(100);
    world.kube.add_node(&mut world.store, "n2", "z2");
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 3]);
}

/// Only with a user's word, which covers the volumes that it lists and no others.
#[test]
fn where_a_majority_is_wiped_a_user_may_let_the_rest_go_on() {
    let mut world = World::settled(3);
    world.wipe(0);
    world.wipe(1);
    world.settle();
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Rescue"), "{}", world.last_words());
    assert_eq!(ask["about"].as_array().unwrap().len(), 2);
    world.annotate_cluster("palladion.dev/allow-rescue", "another");
    world.settle();
    assert!(world.ensemble.leader().is_none());
    world.annotate_cluster("palladion.dev/allow-rescue", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(3);
    assert_eq!(world.ensemble.begun, 1);
    assert_eq!(world.voters(), [3, 4, 5], "{}", world.last_words());
    assert_eq!(world.status()["ask"], json!(null));
}

/// Of those that are left one lacks the last writes.
#[test]
fn the_one_that_knows_most_goes_on_and_the_others_start_over() {
    let mut world = World::settled(5);
    world.stop_process(3);
    world.pass(5);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.continue_all();
    world.settle();
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
    let nonce = world.status()["ask"]["nonce"].as_str().unwrap().to_string();
    world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    world.settle();
    world.expect(5);
    assert!(world.voters().contains(&5) && !world.voters().contains(&4), "{:?}", world.voters());
}

/// A rescue that was released before anybody went on alone has left nobody out.
#[test]
fn who_was_left_out_by_a_rescue_that_did_not_happen_comes_back() {
    let mut world = World::settled(5);
    for ordinal in 0..3 {
        world.wipe(ordinal);
    }
    world.settle();
    let nonce = world.status()["ask"]["nonce"].as_str().unwrap().to_string();
    world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    let is_left_out =
        |w: &World, ordinal| w.member(ordinal)["spec"]["replace"]["cause"] == json!("Rescue");
    world.until(|w| is_left_out(w, 3) || is_left_out(w, 4));
    // The user takes the word back: two of the volumes were found.
    world.annotate_cluster("palladion.dev/allow-rescue", "no");
    world.pass(30);
    assert_eq!(world.status()["turn"], Value::Null, "{}", world.last_words());
    for ordinal in 3..5 {
        assert!(!is_left_out(&world, ordinal), "{}", world.last_words());
    }
}

/// The others must be asked without the lost one, and a stranger is no majority's business.
#[test]
fn a_stranger_and_a_lost_member_do_not_wait_for_each_other() {
    let mut world = World::settled(5);
    world.add_stranger(99);
    world.wipe(4);
    world.settle();
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Remove"), "{}", world.last_words());
    world.annotate_cluster("palladion.dev/allow-remove", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(5);
    assert_eq!(world.voters(), [1, 2, 3, 4, 6], "{}", world.last_words());
}

/// Nobody can be asked but a user, who is told how to go on.
#[test]
fn where_a_majority_belongs_to_no_member_a_user_may_let_the_rest_go_on() {
    let mut world = World::settled(1);
    world.add_stranger(98);
    world.add_stranger(99);
    world.settle();
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True MajorityLost") && said.contains("98 and 99"), "{said}");
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Rescue"), "{}", world.last_words());
    assert_eq!(ask["about"], json!(["98", "99"]));
    assert!(said.contains(ask["nonce"].as_str().unwrap()), "{said}");
    world.annotate_cluster("palladion.dev/allow-rescue", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(1);
    assert_eq!(world.voters(), [1]);
}
