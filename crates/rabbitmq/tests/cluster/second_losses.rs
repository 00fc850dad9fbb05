//! A second loss while the first one is not over: what is lost meanwhile, where no machine is
//! left for a new node, and what somebody puts back.

use super::acts::pod;
use super::world::World;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    /// A node to each machine, and no other machine.
    pub fn on_machines_of_their_own(nodes: i64) -> Self {
        let mut world = World::new().with(nodes);
        for node in 4..=nodes {
            world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
        }
        let apart = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "palladion.dev/rabbitmq": "demo" } },
        }] });
        world.patch_spec(&json!({ "placement": { "podAntiAffinity": apart } }));
        world.settle();
        world.declare("orders", 3);
        world.pass(3);
        world.settle();
        world.expect(nodes);
        world
    }

    fn replaces(&self, ordinal: i32) -> bool {
        let turn = self.status()["turn"].clone();
        turn["step"] == "Replace" && turn["member"] == json!(pod(ordinal))
    }

    fn volume_of(&self, ordinal: i32) -> serde_json::Value {
        self.member(ordinal)["spec"]["volumeID"].clone()
    }

    fn has_token(&self, ordinal: i32) -> bool {
        self.member(ordinal)["status"]["server"]["restartToken"] == "x"
    }
}

#[test]
fn two_lost_nodes_leave_where_the_rest_is_a_majority() {
    let mut world = World::settled(5);
    world.wipe(3);
    world.wipe(4);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

/// Whatever the replacement of the first one has done by then.
#[test]
fn a_second_loss_during_a_replacement_is_replaced_where_the_rest_is_a_majority() {
    let mut world = World::settled(5);
    world.wipe(4);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(9) {
        let volume = world.volume_of(3);
        tried += 1;
        world.wipe(3);
        world.settle();
        world.expect(5);
        assert_ne!(world.volume_of(3), volume, "{}", world.last_words());
    }
    assert!(tried > 3, "{tried}");
}

/// Without it the two others are all that there is, and neither can be spared before.
#[test]
fn a_lost_leaver_goes_before_one_that_serves_above_it() {
    let mut world = World::settled(3);
    world.wipe(1);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.settle();
    world.expect(1);
}

/// It is out already, and its pod stays as long as the one above is there.
#[test]
fn a_lost_member_that_left_below_another_joins_again_when_the_spec_asks_for_it() {
    for lose in [World::wipe, World::lose_data] {
        let mut world = World::settled(5);
        lose(&mut world, 3);
        world.patch_spec(&json!({ "nodes": 3 }));
        world.until(|w| w.member(3)["spec"]["run"] == "Terminated");
        world.patch_spec(&json!({ "nodes": 5 }));
        world.settle();
        world.expect(5);
    }
}

/// Its disk is dead, and its pod hangs on the machine: nobody reports anything of it, and the set
/// keeps that pod as long as the one above is there.
fn a_lost_leaver_whose_pod_is_silent() -> World {
    let mut world = World::settled(5);
    world.absent.insert(pod(3));
    world.wipe(3);
    world.delete(kinds::POD, &pod(3));
    world.pass(60);
    world.give_up_volume(3);
    world.patch_spec(&json!({ "nodes": 3 }));
    world
}

#[test]
fn a_lost_leaver_whose_pod_is_silent_holds_up_nobody_above_it() {
    let mut world = a_lost_leaver_whose_pod_is_silent();
    world.pass(1_800);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    world.settle();
    world.expect(3);
}

/// It joins as new once its pod has something to say.
#[test]
fn a_lost_member_whose_pod_is_silent_joins_again_when_the_spec_asks_for_it() {
    let mut world = a_lost_leaver_whose_pod_is_silent();
    world.until(|w| w.member(3)["spec"]["run"] == "Terminated");
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(1_800);
    assert_ne!(world.member(3)["spec"]["run"], "Terminated", "{}", world.last_words());
    world.absent.clear();
    world.settle();
    world.expect(5);
}

/// Its volume is full, so its agent can note nothing on it: that is the usual reason to give one
/// up.
#[test]
fn a_lost_leaver_that_can_note_nothing_holds_up_nobody_above_it() {
    let mut world = World::settled(5);
    (world.unlucky, world.full) = ([pod(3)].into(), [pod(3)].into());
    world.kill(3);
    world.pass(30);
    world.give_up_volume(3);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.pass(1_800);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    world.settle();
    world.expect(3);
}

/// What the page says can be done at any time.
#[test]
fn a_smaller_cluster_ends_a_replacement_for_which_there_is_no_machine() {
    let mut world = World::on_machines_of_their_own(5);
    let machine = world.node_of(4);
    world.kube.delete_node(&mut world.store, &machine);
    world.until(|w| w.replaces(4));
    world.pass(60);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

#[test]
fn a_replacement_for_which_there_is_no_machine_holds_up_no_other() {
    let mut world = World::on_machines_of_their_own(5);
    let machine = world.node_of(2);
    world.kube.delete_node(&mut world.store, &machine);
    world.until(|w| w.replaces(2));
    world.pass(60);
    let volume = world.volume_of(0);
    world.wipe(0);
    world.pass(1_800);
    assert_ne!(world.volume_of(0), volume, "{}", world.last_words());
    assert_eq!(world.rabbit.running().len(), 4, "{}", world.last_words());
    // Nor a restart.
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(1_800);
    assert!([0, 1, 3, 4].iter().all(|o| world.has_token(*o)), "{}", world.last_words());
    // With another machine it ends.
    world.kube.add_node(&mut world.store, "n6", "z1");
    world.settle();
    world.expect(5);
}

/// Its management API hangs: the others see it run, and nobody can ask it.
#[test]
fn a_lost_node_and_a_broken_one_do_not_wait_for_each_other() {
    let mut world = World::settled(5);
    let volume = world.volume_of(4);
    world.hangs.insert(pod(1));
    world.wipe(4);
    world.pass(60);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    world.hangs.clear();
    world.settle();
    world.expect(5);
    assert_ne!(world.volume_of(4), volume, "{}", world.last_words());
}

/// Last night's copy of the data, put back beside the ledger, which has counted no start since.
#[test]
fn data_that_somebody_puts_back_confirms_no_more() {
    let mut world = World::settled(3);
    let (copy, volume) = (world.disk(1).content.data.clone(), world.volume_of(1));
    // The last messages are known to the other two alone.
    let (first, last) = (world.node_of(0), world.node_of(2));
    world.kube.set_machine(&mut world.store, &first, Machine::Down);
    world.pass(5);
    world.lose_data(1);
    world.pass(60);
    world.kube.set_machine(&mut world.store, &last, Machine::Down);
    world.pass(60);
    world.disk(1).content.data = copy;
    world.kube.set_machine(&mut world.store, &first, Machine::Up);
    world.pass(180);
    assert!(world.rabbit.running().is_empty(), "{}", world.last_words());
    world.kube.set_machine(&mut world.store, &last, Machine::Up);
    world.settle();
    world.expect(3);
    assert_ne!(world.volume_of(1), volume, "{}", world.last_words());
}
