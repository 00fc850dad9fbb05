//! Turns that do not come to their end: what others do meanwhile, and what is left of them.

use super::acts::pod;
use super::world::World;
use palladion_api::labels::POSTPONED_JOIN;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    fn step(&self) -> serde_json::Value {
        self.status()["turn"]["step"].clone()
    }

    /// How often its join has come to nothing, as is on record.
    fn tries(&self, ordinal: i32) -> u64 {
        let record = self.member(ordinal)["metadata"]["annotations"][POSTPONED_JOIN].clone();
        let record: serde_json::Value =
            serde_json::from_str(record.as_str().unwrap_or("{}")).unwrap();
        record["tries"].as_u64().unwrap_or_default()
    }

    pub(super) fn runs_closed(&self, ordinal: i32) -> bool {
        let process = self.uid(ordinal).and_then(|uid| self.rabbit.nodes.get(&uid));
        process.is_some_and(|process| !process.open)
    }
}

/// It takes replicas when its machine goes, with the volume.
#[test]
fn a_joiner_that_has_joined_and_whose_machine_is_lost_is_replaced() {
    let mut world = World::on_machines_of_their_own(3);
    for node in 4..=7 {
        world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
    }
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.step() == "Join" && w.member(3)["spec"]["operation"]["kind"] == "Grow");
    let volume = world.member(3)["spec"]["volumeID"].clone();
    let machine = world.node_of(3);
    world.kube.take_away(&mut world.store, &machine);
    world.pass(1_800);
    world.settle();
    world.expect(5);
    assert_ne!(world.member(3)["spec"]["volumeID"], volume);
}

/// The pod of a joiner goes right after its turn has begun anew: by the permit of before, its
/// next pod would join although nobody has the turn.
#[test]
fn a_permit_ends_with_its_turn_under_whatever_nonce() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.unlucky.insert(pod(3));
    world.until(|w| {
        let nonce = w.member(3)["spec"]["start"]["nonce"].clone();
        nonce.is_string() && w.status()["turn"]["nonce"] != nonce
    });
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.status()["turn"].is_null());
    assert_eq!(world.member(3)["spec"]["start"], json!(null), "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(3);
}

/// Its machine lets nobody through, or its limits kill it.
#[test]
fn a_replacement_whose_node_does_not_start_holds_up_no_other() {
    let mut world = World::settled(5);
    let volume = world.member(3)["spec"]["volumeID"].clone();
    world.unlucky.insert(pod(1));
    world.wipe(1);
    world.until(|w| w.member(1)["status"]["permit"]["state"] == "Failed");
    world.wipe(3);
    world.pass(600);
    assert_ne!(world.member(3)["spec"]["volumeID"], volume, "{}", world.last_words());
    assert_eq!(world.rabbit.running().len(), 4, "{}", world.last_words());
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(600);
    let token = |w: &World, o| w.member(o)["status"]["server"]["restartToken"].clone();
    assert!([0, 2, 3, 4].iter().all(|o| token(&world, *o) == "x"), "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(5);
}

/// Both new nodes fail at first. The machine of the second one is bad for good, and that of
/// the first one is well again.
#[test]
fn a_replacement_that_gave_way_is_tried_again_while_another_fails() {
    let mut world = World::settled(5);
    let volume = world.member(1)["spec"]["volumeID"].clone();
    world.unlucky.extend([pod(1), pod(3)]);
    world.wipe(1);
    world.wipe(3);
    world.until(|w| {
        let failed = w.member(3)["status"]["permit"]["state"] == "Failed";
        failed && w.status()["turn"]["member"] == json!(pod(3))
    });
    world.unlucky.remove(&pod(1));
    world.pass(900);
    assert_ne!(world.member(1)["spec"]["volumeID"], volume);
    assert_eq!(world.rabbit.running().len(), 4, "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(5);
}

/// Its loss is on record, and its new volume was given a node, which does not come up: it
/// leaves before the one above it, which serves.
#[test]
fn a_replacement_that_does_not_come_up_ends_with_a_smaller_cluster() {
    let mut world = World::settled(5);
    world.unlucky.insert(pod(3));
    world.wipe(3);
    world.until(|w| w.member(3)["status"]["permit"]["state"] == "Failed");
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

/// Whatever it has done by then.
#[test]
fn a_smaller_cluster_ends_a_replacement_at_any_time() {
    let mut world = World::settled(5);
    world.wipe(3);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(11) {
        tried += 1;
        world.patch_spec(&json!({ "nodes": 3 }));
        world.settle();
        world.expect(3);
    }
    assert!(tried > 5, "{tried}");
}

/// Its pod ends just then: who says nothing while it stops may still be joining.
#[test]
fn a_smaller_cluster_ends_a_replacement_whose_pod_is_deleted() {
    let mut world = World::settled(5);
    world.wipe(4);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        if world.member(4)["spec"]["start"].is_object() {
            worlds.push(world.clone());
        }
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(3) {
        tried += 1;
        world.delete(kinds::POD, &pod(4));
        world.patch_spec(&json!({ "nodes": 3 }));
        world.settle();
        world.expect(3);
        world.patch_spec(&json!({ "nodes": 5 }));
        world.settle();
        world.expect(5);
    }
    assert!(tried > 3, "{tried}");
}

/// Its management API hangs: whoever has the turn waits for its answer.
#[test]
fn a_broken_node_is_restarted_although_somebody_has_the_turn() {
    for (from, to) in [(3, 5), (5, 3)] {
        let mut world = World::settled(from);
        world.patch_spec(&json!({ "nodes": to }));
        world.until(|w| w.step().is_string());
        world.hang_until_restarted(1);
        world.expect(to);
    }
}

/// The restart of another one is due as well, and has not begun.
#[test]
fn a_broken_node_is_restarted_before_those_that_serve() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.step() == "Restart");
    world.hangs.insert(pod(1));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    world.hangs.clear();
    world.settle();
    world.expect(3);
}

/// It has joined and said so, and the order to take replicas waits for the answer of all.
#[test]
fn a_broken_node_is_restarted_before_a_joiner_has_its_replicas() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    world.hangs.insert(pod(1));
    world.until(|w| w.member(3)["status"]["permit"]["state"] == "Done");
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    assert!(!world.replicas("wide").contains(&3), "{}", world.last_words());
    world.hangs.clear();
    world.settle();
    world.expect(5);
    assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
}

/// Its replicas were moved off it, and the spec asks for it again: they come back to it.
#[test]
fn a_broken_node_is_restarted_before_a_leaver_that_stays_has_its_replicas() {
    let mut world = World::settled(5);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| !w.replicas("wide").contains(&4));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.step() == "Join");
    world.hang_until_restarted(1);
    world.expect(5);
    assert!(world.replicas("wide").contains(&4), "{}", world.last_words());
}

/// Its replicas were moved off it, its turn ends for another member, and by then the spec asks
/// for it again: they come back to it all the same.
#[test]
fn a_leaver_that_stays_after_another_came_first_has_its_replicas() {
    let hangs = |world: &mut World| {
        world.hangs.insert(pod(1));
    };
    let is_lost = |world: &mut World| world.wipe(1);
    for happens in [&hangs as &dyn Fn(&mut World), &is_lost] {
        let mut world = World::settled(5);
        world.declare("wide", 5);
        world.pass(10);
        world.patch_spec(&json!({ "nodes": 3 }));
        world.until(|w| !w.replicas("wide").contains(&4));
        happens(&mut world);
        world.patch_spec(&json!({ "nodes": 5, "restartToken": "x" }));
        world.until(|w| w.step() != "Leave");
        world.pass(60);
        world.hangs.clear();
        world.settle();
        world.expect(5);
        assert!(world.replicas("wide").contains(&4), "{}", world.last_words());
    }
}

/// It is the one that hangs: its restart is what lets it answer for itself.
#[test]
fn a_leaver_that_stays_and_hangs_is_restarted() {
    let mut world = World::settled(5);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| !w.replicas("wide").contains(&4));
    world.hangs.insert(pod(4));
    world.patch_spec(&json!({ "nodes": 5, "restartToken": "x" }));
    world.until(|w| w.member(4)["spec"]["restartToken"] == "x");
    world.hangs.clear();
    world.settle();
    world.expect(5);
    assert!(world.replicas("wide").contains(&4), "{}", world.last_words());
}

/// It joined under an operator that kept no record of who has yet to take replicas.
#[test]
fn a_joiner_of_an_older_operator_has_its_replicas_after_another_came_first() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    world.hangs.insert(pod(1));
    world.until(|w| w.member(3)["status"]["permit"]["state"] == "Done");
    let none = json!({ "metadata": { "annotations": { kinds::YET_TO_GROW: null } } });
    world.patch_member(&pod(3), &none);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    world.hangs.clear();
    world.settle();
    world.expect(5);
    assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
}

/// The management API of the joiner itself hangs: nobody but it is waited for.
#[test]
fn a_broken_joiner_that_has_joined_is_restarted() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(3)["status"]["permit"]["state"] == "Done");
    world.hang_until_restarted(3);
    world.expect(5);
    assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
}

/// The same of one that has come in the place of a lost one.
#[test]
fn a_broken_replacement_that_has_joined_is_restarted() {
    let mut world = World::settled(5);
    world.declare("wide", 5);
    world.pass(10);
    let volume = world.member(3)["spec"]["volumeID"].clone();
    world.wipe(3);
    world.until(|w| {
        let is_another = w.member(3)["spec"]["volumeID"] != volume;
        is_another && w.member(3)["status"]["permit"]["state"] == "Done"
    });
    world.hang_until_restarted(3);
    world.expect(5);
    assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
}

/// The same while it catches up: that goes on, and is waited for when it has the turn again.
#[test]
fn a_broken_node_is_restarted_while_a_joiner_catches_up() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.rabbit.slow = true;
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.replicas("wide").contains(&3));
    world.pass(30);
    assert_eq!(world.step(), json!("Join"), "{}", world.last_words());
    world.hangs.insert(pod(1));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    world.hangs.clear();
    world.rabbit.slow = false;
    world.settle();
    world.expect(5);
}

/// The permit is withdrawn as long as no other node names the joiner; its agent finds by its
/// files that it is one of them, and keeps it.
#[test]
fn a_joiner_whose_permit_is_withdrawn_while_it_joins_takes_its_replicas() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    let mut worlds = Vec::new();
    while world.member(3)["status"]["permit"]["state"] != "Done" {
        worlds.push(world.clone());
        assert!(world.tick().unwrap(), "{}", world.last_words());
    }
    let mut withdrawn = 0;
    for mut world in worlds {
        world.hangs.insert(pod(1));
        world.patch_spec(&json!({ "restartToken": "x" }));
        world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
        let has_joined = world.member(3)["status"]["permit"]["state"] == "Done";
        withdrawn += usize::from(world.member(3)["spec"]["start"].is_null() && !has_joined);
        world.hangs.clear();
        world.settle();
        world.expect(5);
        assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
    }
    assert!(withdrawn > 0, "no permit was withdrawn before its node had joined");
}

/// Neither of two new nodes comes up, and nobody else can go on: each is tried for long enough
/// that what passes by itself has passed.
#[test]
fn a_replacement_that_has_the_turn_again_has_its_time() {
    let mut world = World::settled(5);
    world.unlucky.extend([pod(1), pod(3)]);
    world.wipe(1);
    world.wipe(3);
    let failed = |w: &World, o| w.member(o)["status"]["permit"]["state"] == "Failed";
    world.until(|w| failed(w, 1) && failed(w, 3));
    world.pass(60);
    let whose = |w: &World| w.status()["turn"]["member"].clone();
    let mut since = Vec::new();
    for _ in 0..2 {
        let before = whose(&world);
        world.until(|w| whose(w) != before);
        since.push(world.now());
    }
    let had = since.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs());
    assert!(had.clone().all(|seconds| seconds >= 250), "{:?}", had.collect::<Vec<_>>());
}

/// Its pod reaches nobody, or the others refuse it. Nothing is taken from it, and its join is
/// tried again: later each time, as other work may wait.
#[test]
fn a_joiner_whose_node_runs_and_never_joins_gives_way_to_others() {
    let mut world = World::settled(3);
    world.stuck.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.tries(3) == 0 && w.runs_closed(3));
    let volume = world.member(3)["spec"]["volumeID"].clone();
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.tries(3) == 1);
    assert_eq!(world.member(3)["spec"]["start"], json!(null), "{}", world.last_words());
    world.until(|w| w.condition("Degraded").contains("JoinFailed"));
    let said = world.condition("Degraded");
    assert!(said.starts_with("True") && said.contains("after 5 minutes"), "{said}");
    world.pass(590);
    let token = |w: &World, o| w.member(o)["status"]["server"]["restartToken"].clone();
    assert!([0, 1, 2, 4].iter().all(|o| token(&world, *o) == "x"), "{}", world.last_words());
    let since = world.now();
    world.until(|w| w.tries(3) == 2);
    assert!(world.now().duration_since(since).as_mins() >= 10, "{}", world.last_words());
    assert!(world.condition("Degraded").starts_with("True"), "{}", world.last_words());
    assert_eq!(world.member(3)["spec"]["volumeID"], volume, "nothing is deleted");
    // A new pod is a new try.
    world.stuck.clear();
    let since = world.now();
    world.delete(kinds::POD, &pod(3));
    world.settle();
    world.expect(5);
    assert!(world.now().duration_since(since).as_mins() < 10, "{}", world.last_words());
    assert!(!world.condition("Degraded").contains("JoinFailed"), "{}", world.last_words());
    assert_eq!(world.member(3)["metadata"]["annotations"][POSTPONED_JOIN], json!(null));
}

/// Whoever corrects the cause need not touch the pod.
#[test]
fn a_joiner_that_was_postponed_joins_by_itself_when_it_can() {
    let mut world = World::settled(1);
    world.stuck.insert(pod(1));
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.tries(1) == 1);
    world.stuck.clear();
    world.settle();
    world.expect(3);
}
