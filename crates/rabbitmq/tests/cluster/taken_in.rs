//! Joiners whose nodes end inside `join_cluster`: the others name them, their own files do not yet.

use super::acts::{node, pod};
use super::model::data;
use super::world::World;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// Grown from so many, by the node of this member.
const GROWN: [(i64, i32); 2] = [(1, 1), (3, 3)];

impl World {
    /// Does the file of this member's node say in which cluster it is?
    pub(super) fn has_noted_its_cluster(&self, ordinal: i32) -> bool {
        let own = self.rabbit.by_name(&node(ordinal)).map(|(_, p)| data(&self.kube.disks, p));
        own.is_some_and(|data| data.is_noted && data.cluster.len() > 1)
    }

    /// Do the others name it, while its own file does not name them?
    pub(super) fn is_being_taken_in(&self, ordinal: i32) -> bool {
        let is_named = |data: &super::volume::Data| data.cluster.contains(&node(ordinal));
        let mut others = self.rabbit.nodes.values().filter(|p| p.name != node(ordinal));
        let is_known = others.any(|p| is_named(data(&self.kube.disks, p)));
        is_known && !self.has_noted_its_cluster(ordinal)
    }

    pub(super) fn growing(from: i64, joiner: i32) -> Self {
        let mut world = World::settled(from);
        world.declare("wide", 5);
        world.pass(10);
        world.patch_spec(&json!({ "nodes": from + 2 }));
        world.until(|w| w.is_being_taken_in(joiner));
        world
    }

    /// So long it takes at most, and not as many rounds as a history has.
    pub(super) fn is_taken_in_soon(&mut self, ordinal: i32) {
        self.pass(120);
        assert!(self.has_noted_its_cluster(ordinal), "{}", self.last_words());
    }

    /// From now on agents report what they see at this moment, until somebody asks them.
    pub(super) fn nobody_looks(&mut self) {
        let nodes = self.rabbit.nodes.iter();
        let by_pod = nodes.filter_map(|(uid, process)| {
            let member = process.name.strip_prefix("rabbit@")?.split('.').next()?;
            Some((member.to_string(), self.view(uid)?))
        });
        self.looked = by_pod.collect();
    }

    pub(super) fn node_ends(&mut self, ordinal: i32) {
        self.tell(&format!("the node of {} ends", pod(ordinal)));
        self.kill(ordinal);
    }

    /// Its node ends, and what it has of the cluster is gone.
    fn node_ends_with_nothing(&mut self, ordinal: i32) {
        self.node_ends(ordinal);
        self.lose_data(ordinal);
    }
}

/// Its node is started again by the same permit, in the same container. Empty it would be
/// refused, and of two nodes the other one could not even end what they had begun together.
#[test]
fn a_joiner_that_ends_while_it_is_taken_in_goes_on_with_what_it_has() {
    for (from, joiner) in GROWN {
        let mut world = World::growing(from, joiner);
        let volume = world.member(joiner)["spec"]["volumeID"].clone();
        world.node_ends(joiner);
        world.is_taken_in_soon(joiner);
        world.settle();
        world.expect(from + 2);
        assert_eq!(world.member(joiner)["spec"]["volumeID"], volume);
    }
}

/// And once more each time that it has started.
#[test]
fn a_joiner_that_ends_again_before_it_has_booted_goes_on_with_what_it_has() {
    for (from, joiner) in GROWN {
        let mut world = World::growing(from, joiner);
        for _ in 0..3 {
            world.node_ends(joiner);
            world.until(|w| w.rabbit.by_name(&node(joiner)).is_some());
        }
        world.is_taken_in_soon(joiner);
        world.settle();
        world.expect(from + 2);
    }
}

#[test]
fn a_joiner_whose_pod_is_deleted_while_it_is_taken_in_goes_on_with_what_it_has() {
    for (from, joiner) in GROWN {
        let mut world = World::growing(from, joiner);
        world.node_ends(joiner);
        world.delete(kinds::POD, &pod(joiner));
        world.is_taken_in_soon(joiner);
        world.settle();
        world.expect(from + 2);
    }
}

/// The turn ends with its pod, and goes to another before anybody says that they name it. What
/// that one waits for is the node that has no turn.
#[test]
fn a_joiner_that_the_others_name_goes_on_before_another_one_joins() {
    for has_nothing in [false, true] {
        let mut world = World::settled(3);
        world.absent.insert(pod(3));
        world.patch_spec(&json!({ "nodes": 5 }));
        world.until(|w| w.member(4)["spec"]["start"].is_object());
        world.nobody_looks();
        world.until(|w| w.is_being_taken_in(4));
        match has_nothing {
            true => world.node_ends_with_nothing(4),
            false => world.node_ends(4),
        }
        world.delete(kinds::POD, &pod(4));
        world.absent.clear();
        world.until(|w| w.status()["turn"]["member"] == json!(pod(3)));
        world.looked.clear();
        world.is_taken_in_soon(4);
        world.settle();
        world.expect(5);
    }
}

/// So does a restart that has not begun, and so does a leave.
#[test]
fn a_joiner_that_the_others_name_goes_on_before_a_restart() {
    let mut world = World::settled(3);
    world.absent.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(4)["spec"]["start"].is_object());
    world.nobody_looks();
    world.until(|w| w.is_being_taken_in(4));
    world.node_ends(4);
    world.delete(kinds::POD, &pod(4));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.status()["turn"]["step"] == "Restart");
    world.looked.clear();
    world.is_taken_in_soon(4);
    world.absent.clear();
    world.settle();
    world.expect(5);
    assert_eq!(world.member(0)["status"]["server"]["restartToken"], "x");
}

#[test]
fn a_joiner_that_the_others_name_goes_on_before_another_one_leaves() {
    let mut world = World::settled(3);
    world.absent.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.status()["nodes"] == "4/5");
    world.pass(60);
    world.absent.clear();
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    world.nobody_looks();
    world.until(|w| w.is_being_taken_in(3));
    world.node_ends(3);
    world.delete(kinds::POD, &pod(3));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.status()["turn"]["step"] == "Leave");
    assert_eq!(world.status()["turn"]["member"], json!(pod(4)), "{}", world.last_words());
    world.looked.clear();
    world.settle();
    world.expect(3);
}

/// The others name it, and it has nothing of theirs: an earlier agent has removed that, or it was
/// never written. They forget it, and then it joins.
#[test]
fn a_joiner_that_the_others_name_and_that_has_nothing_is_forgotten_and_joins() {
    for (from, joiner) in GROWN {
        for deletes_its_pod in [false, true] {
            let mut world = World::growing(from, joiner);
            world.node_ends_with_nothing(joiner);
            if deletes_its_pod {
                world.delete(kinds::POD, &pod(joiner));
            }
            world.is_taken_in_soon(joiner);
            world.settle();
            world.expect(from + 2);
            assert!(world.reasons.contains("Joining"), "{}", world.last_words());
        }
    }
}

/// Nobody else waits for what never ends.
#[test]
fn a_joiner_that_has_nothing_leaves_where_the_spec_asks_for_it_no_more() {
    for (from, joiner) in GROWN {
        let mut world = World::growing(from, joiner);
        world.node_ends_with_nothing(joiner);
        world.patch_spec(&json!({ "nodes": from, "restartToken": "x" }));
        world.pass(300);
        assert_eq!(
            world.member(0)["status"]["server"]["restartToken"],
            "x",
            "{}",
            world.last_words()
        );
        world.settle();
        world.expect(from);
    }
}

/// A queue that names it would get an empty replica: a person decides about it.
#[test]
fn a_joiner_that_a_queue_names_is_not_forgotten() {
    let mut world = World::growing(3, 3);
    world.node_ends_with_nothing(3);
    let on = [node(0), node(1), node(3)];
    let (quorum, disks) = (super::volume::Kind::Quorum, &mut world.kube.disks);
    world.rabbit.declare("theirs", quorum, &on, 3, disks);
    world.pass(300);
    assert!(world.reasons.contains("QueueNamesNode"), "{}", world.last_words());
    assert!(!world.writes.iter().any(|w| w.contains("forget node")), "{}", world.last_words());
}

/// It counts from then on, as long as that takes: nobody stops it.
#[test]
fn a_joiner_that_takes_long_is_not_stopped_once_the_others_name_it() {
    let mut world = World::growing(3, 3);
    world.stuck.insert(pod(3));
    let nonce = world.member(3)["spec"]["start"]["nonce"].clone();
    world.pass(900);
    assert_eq!(world.member(3)["spec"]["start"]["nonce"], nonce, "{}", world.last_words());
    world.stuck.clear();
    world.is_taken_in_soon(3);
    world.settle();
    world.expect(5);
}

/// A replacement is taken in as any other node.
#[test]
fn a_replacement_that_ends_while_it_is_taken_in_comes_to_its_end() {
    for has_nothing in [false, true] {
        let mut world = World::settled(5);
        let volume = world.member(3)["spec"]["volumeID"].clone();
        world.wipe(3);
        world.until(|w| {
            let is_another = w.member(3)["spec"]["volumeID"] != volume;
            is_another && w.rabbit.by_name(&node(3)).is_some() && w.is_being_taken_in(3)
        });
        match has_nothing {
            true => world.node_ends_with_nothing(3),
            false => world.node_ends(3),
        }
        world.is_taken_in_soon(3);
        world.settle();
        world.expect(5);
    }
}

/// Whatever ends meanwhile.
#[test]
fn a_joiner_is_forgotten_and_joins_across_crashes_of_the_operator() {
    let mut world = World::growing(1, 1);
    world.node_ends_with_nothing(1);
    let mut worlds = Vec::new();
    while !world.has_noted_its_cluster(1) {
        assert!(world.tick().unwrap(), "{}", world.last_words());
        worlds.push(world.clone());
    }
    let one_in = worlds.len().div_ceil(12);
    for mut world in worlds.into_iter().step_by(one_in) {
        world.operators.clear();
        world.settle();
        world.expect(3);
    }
}
