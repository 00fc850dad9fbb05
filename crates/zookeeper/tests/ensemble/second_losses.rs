//! A second loss while the first one is not over: what is lost meanwhile, where no machine
//! is left for a new server, what was named by mistake, and what was said of it too late.

use super::acts::pod;
use super::world::{NAMESPACE, World, cluster_key};
use palladion_plan::Subresource;
use palladion_plan::sim::kubernetes::Machine;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

impl World {
    /// A server to each machine, and no other machine.
    pub fn on_machines_of_their_own(servers: i64) -> Self {
        let mut world = World::new().with(servers);
        for node in 4..=servers {
            world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
        }
        let apart = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "palladion.dev/zookeeper": "demo" } },
        }] });
        world.patch_spec(&json!({ "placement": { "podAntiAffinity": apart } }));
        world.settle();
        world.expect(servers);
        world
    }

    fn replaces(&self, ordinal: i32) -> bool {
        let turn = self.status()["turn"].clone();
        turn["step"] == "Replace" && turn["member"] == json!(pod(ordinal))
    }
}

#[test]
fn two_lost_servers_leave_where_the_rest_is_a_majority() {
    let mut world = World::settled(5);
    world.wipe(3);
    world.wipe(4);
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 3]);
}

/// Whatever the replacement of the first one has done by then.
#[test]
fn a_second_loss_during_a_replacement_is_rescued_where_no_majority_is_left() {
    let mut world = World::settled(3);
    world.wipe(2);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut asked = 0;
    for mut world in worlds.into_iter().step_by(2) {
        world.wipe(1);
        world.settle();
        let ask = world.status()["ask"].clone();
        if ask["kind"] == "Rescue" {
            asked += 1;
            let nonce = ask["nonce"].as_str().unwrap().to_string();
            world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
            world.settle();
        }
        world.expect(3);
        assert!(!world.voters().contains(&2), "{}", world.last_words());
    }
    assert!(asked > 5, "{asked}");
}

/// In its volume of before it was server 3, in this one 4; no ID comes on a third.
#[test]
fn a_new_volume_that_is_lost_during_the_replacement_is_replaced_too() {
    let mut world = World::settled(3);
    world.wipe(2);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    let has_begun = |w: &World| w.member(2)["spec"]["serverID"] == json!(4);
    for mut world in worlds.into_iter().filter(has_begun).step_by(2) {
        tried += 1;
        world.wipe(2);
        world.settle();
        world.expect(3);
        assert_eq!(world.voters(), [1, 2, 5], "{}", world.last_words());
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn the_machine_of_the_new_volume_may_go_before_the_replacement_is_over() {
    let mut world = World::settled(3);
    for node in ["n4", "n5"] {
        world.kube.add_node(&mut world.store, node, "z1");
    }
    let first = world.node_of(2).unwrap();
    world.kube.delete_node(&mut world.store, &first);
    world.until(|w| w.replaces(2));
    let is_elsewhere = |w: &World| w.node_of(2).is_some_and(|node| node != first);
    world.until(is_elsewhere);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    for mut world in worlds.into_iter().filter(is_elsewhere).step_by(3) {
        let second = world.node_of(2).unwrap();
        world.kube.delete_node(&mut world.store, &second);
        world.pass(700);
        world.settle();
        world.expect(3);
        assert!(!world.voters().contains(&3), "{}", world.last_words());
    }
}

/// Without it the two others are all that there is, and neither can be spared before.
#[test]
fn a_lost_leaver_goes_before_one_that_serves_above_it() {
    let mut world = World::settled(3);
    world.wipe(1);
    world.patch_spec(&json!({ "servers": 1 }));
    world.settle();
    world.expect(1);
}

/// It is out already, and its pod stays as long as the one above is there.
#[test]
fn a_lost_member_that_left_below_another_joins_again_when_the_spec_asks_for_it() {
    for lose in [World::wipe, World::lose_data] {
        let mut world = World::settled(5);
        lose(&mut world, 3);
        world.patch_spec(&json!({ "servers": 3 }));
        world.until(|w| w.member(3)["spec"]["run"] == "Terminated");
        world.patch_spec(&json!({ "servers": 5 }));
        world.settle();
        world.expect(5);
    }
}

/// Its disk is dead, and its pod hangs on the machine: nobody reports anything of it, and the set
/// keeps that pod as long as the one above is there.
fn a_lost_leaver_whose_pod_is_silent() -> World {
    let mut world = World::settled(5);
    world.cut_off.insert(pod(3));
    world.wipe(3);
    world.delete(kinds::POD, &pod(3));
    world.pass(60);
    world.give_up_volume(3);
    world.patch_spec(&json!({ "servers": 3 }));
    world
}

#[test]
fn a_lost_leaver_whose_pod_is_silent_holds_up_nobody_above_it() {
    let mut world = a_lost_leaver_whose_pod_is_silent();
    world.pass(1_800);
    assert_eq!(world.voters(), [1, 2, 3], "{}", world.last_words());
    world.settle();
    world.expect(3);
}

/// It joins as new once its pod has something to say.
#[test]
fn a_lost_member_whose_pod_is_silent_joins_again_when_the_spec_asks_for_it() {
    let mut world = a_lost_leaver_whose_pod_is_silent();
    world.until(|w| w.member(3)["spec"]["run"] == "Terminated");
    world.patch_spec(&json!({ "servers": 5 }));
    world.pass(1_800);
    assert_eq!(world.voters(), [1, 2, 3, 5], "{}", world.last_words());
    assert_ne!(world.member(3)["spec"]["run"], "Terminated", "{}", world.last_words());
    world.cut_off.clear();
    world.settle();
    world.expect(5);
}

/// Its process hangs, its agent is cut off and hears of nothing, and later the process goes on:
/// by the word of all others it is out, and it is no part of any majority.
#[test]
fn a_lost_leaver_that_runs_on_unseen_is_out_before_the_next_one_leaves() {
    let mut world = World::settled(5);
    world.stop_process(3);
    world.pass(30);
    world.cut_off.insert(pod(3));
    world.give_up_volume(3);
    world.patch_spec(&json!({ "servers": 3 }));
    world.pass(1_800);
    assert_eq!(world.voters(), [1, 2, 3], "{}", world.last_words());
    world.continue_all();
    world.pass(120);
    world.cut_off.clear();
    world.settle();
    world.expect(3);
}

/// Its volume is full, so its agent can note nothing on it: that is the usual reason to give one
/// up.
#[test]
fn a_lost_leaver_that_can_note_nothing_holds_up_nobody_above_it() {
    let mut world = World::settled(5);
    (world.unlucky, world.full) = ([pod(3)].into(), [pod(3)].into());
    let uid = world.uid(3).unwrap();
    world.ensemble.stop(&uid);
    world.pass(30);
    world.give_up_volume(3);
    world.patch_spec(&json!({ "servers": 3 }));
    world.pass(1_800);
    assert_eq!(world.voters(), [1, 2, 3], "{}", world.last_words());
    world.settle();
    world.expect(3);
}

/// What the page says can be done at any time.
#[test]
fn a_smaller_ensemble_ends_a_replacement_for_which_there_is_no_machine() {
    let mut world = World::on_machines_of_their_own(3);
    let node = world.node_of(2).unwrap();
    world.kube.delete_node(&mut world.store, &node);
    world.until(|w| w.replaces(2));
    world.pass(60);
    world.patch_spec(&json!({ "servers": 1 }));
    world.settle();
    world.expect(1);
    assert_eq!(world.voters(), [1]);
}

#[test]
fn a_replacement_for_which_there_is_no_machine_holds_up_no_other() {
    let mut world = World::on_machines_of_their_own(5);
    let node = world.node_of(2).unwrap();
    world.kube.delete_node(&mut world.store, &node);
    world.until(|w| w.replaces(2));
    world.pass(60);
    world.wipe(0);
    world.pass(1_800);
    assert_eq!(world.voters().len(), 5, "{}", world.last_words());
    assert!(!world.voters().contains(&1) && world.voters().contains(&3), "{:?}", world.voters());
    // Nor a restart.
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(1_800);
    let token = |w: &World, ordinal| w.member(ordinal)["status"]["server"]["restartToken"].clone();
    assert!([0, 1, 3, 4].iter().all(|o| token(&world, *o) == json!("x")), "{}", world.last_words());
    // With another machine it ends.
    world.kube.add_node(&mut world.store, "n6", "z1");
    world.settle();
    world.expect(5);
}

/// A server whose process runs and does not serve is restarted although another is lost.
#[test]
fn a_lost_server_and_a_broken_one_do_not_wait_for_each_other() {
    let mut world = World::settled(5);
    world.stop_process(1);
    world.wipe(4);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.settle();
    world.expect(5);
    assert_eq!(world.voters(), [1, 2, 3, 4, 6], "{}", world.last_words());
}

/// The disk of one is dead, another is only down, and the user names the wrong one.
#[test]
fn a_volume_that_was_named_by_mistake_is_not_named_any_more() {
    let mut world = World::settled(3);
    world.unlucky.insert(pod(1));
    let uid = world.uid(1).unwrap();
    world.ensemble.stop(&uid);
    world.pass(30);
    world.wipe(2);
    world.give_up_volume(1);
    world.settle();
    assert!(world.ensemble.leader().is_none());
    assert_eq!(world.member(1)["spec"]["replace"]["cause"], json!("User"));
    let patch = json!({ "metadata": { "annotations": { "palladion.dev/replace": null } } });
    world.patch_member(&pod(1), &patch);
    world.unlucky.clear();
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 2, 4], "{}", world.last_words());
}

/// Last night's copy of the data, put back beside the ledger, which has counted no start since.
#[test]
fn data_that_somebody_puts_back_votes_no_more() {
    let mut world = World::settled(3);
    let copy = world.disk(1).content.data.clone();
    world.pass(3);
    // The last writes are known to the other two alone.
    world.stop_process(0);
    world.pass(3);
    world.lose_data(1);
    world.settle();
    let node = world.node_of(2).unwrap();
    world.kube.set_machine(&mut world.store, &node, Machine::Down);
    world.pass(60);
    world.disk(1).content.data = copy;
    world.pass(60);
    world.continue_all();
    world.pass(120);
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
    world.kube.set_machine(&mut world.store, &node, Machine::Up);
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
}

/// The user names the volume, its data is found missing, and an old copy is put back.
#[test]
fn a_word_that_is_taken_back_brings_no_data_back() {
    let mut world = World::settled(3);
    let copy = world.disk(1).content.data.clone();
    world.stop_process(0);
    world.unlucky.insert(pod(1));
    let uid = world.uid(1).unwrap();
    world.ensemble.stop(&uid);
    world.pass(30);
    world.give_up_volume(1);
    world.pass(30);
    assert_eq!(world.member(1)["spec"]["replace"]["cause"], json!("User"));
    world.lose_data(1);
    world.pass(30);
    world.disk(1).content.data = copy;
    world.unlucky.clear();
    world.pass(30);
    let patch = json!({ "metadata": { "annotations": { "palladion.dev/replace": null } } });
    world.patch_member(&pod(1), &patch);
    world.settle();
    world.continue_all();
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 3, 4], "{}", world.last_words());
}

/// What was left behind by a rescue stays out, also where its Node is back.
#[test]
fn a_volume_that_a_rescue_went_on_without_stays_lost() {
    let mut world = World::settled(3);
    let nodes: Vec<String> = [1, 2].iter().map(|o| world.node_of(*o).unwrap()).collect();
    nodes.iter().for_each(|node| world.take_away(node));
    world.pass(400);
    let nonce = world.status()["ask"]["nonce"].as_str().unwrap().to_string();
    world.annotate_cluster("palladion.dev/allow-rescue", &nonce);
    world.until(|w| w.voters() == [1]);
    nodes.iter().for_each(|node| world.bring_back(node));
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 4, 5], "{}", world.last_words());
}

#[test]
fn a_claim_whose_name_has_that_of_the_set_in_it_is_found() {
    let mut world = World::new().with(1);
    let key = cluster_key();
    assert_eq!(key.namespace, NAMESPACE);
    let claim =
        json!({ "volumeClaimTemplate": { "metadata": { "name": "data-demo-zk" }, "spec": {} } });
    world.store.merge(&key, &json!({ "spec": { "storage": claim } }), Subresource::None).unwrap();
    world.settle();
    world.expect(1);
}
