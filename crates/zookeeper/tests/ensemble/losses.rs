//! Volumes that are lost, servers that are away, disks that come back.

use super::acts::pod;
use super::world::World;
use palladion_plan::sim::kubernetes::Machine;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

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
