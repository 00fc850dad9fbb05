//! Turns that do not come to their end: what others do meanwhile, and what is left of them.

use super::acts::pod;
use super::model::Config;
use super::volume::Part;
use super::world::World;
use palladion_api::labels::POSTPONED_JOIN;
use palladion_plan::sim::kubernetes::Machine;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

impl World {
    fn step(&self) -> serde_json::Value {
        self.status()["turn"]["step"].clone()
    }

    fn has_begun(&self, ordinal: i32, id: i64) -> bool {
        let id = json!(id) == self.member(ordinal)["spec"]["serverID"];
        id && self.uid(ordinal).is_some_and(|uid| self.ensemble.servers.contains_key(&uid))
    }

    fn is_postponed(&self, ordinal: i32) -> bool {
        self.member(ordinal)["metadata"]["annotations"][POSTPONED_JOIN].is_string()
    }

    /// Five machines, and five servers are asked for where three run.
    fn apart_and_growing() -> Self {
        let mut world = World::on_machines_of_their_own(3);
        for node in 4..=5 {
            world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
        }
        world.patch_spec(&json!({ "servers": 5 }));
        world
    }

    /// Its machine answers nobody any more, and after a while its pod ends, as far as anybody
    /// knows.
    fn goes_with_its_machine(&mut self, ordinal: i32) -> String {
        let machine = self.node_of(ordinal).unwrap();
        self.kube.set_machine(&mut self.store, &machine, Machine::Down);
        self.pass(340);
        self.delete(kinds::POD, &pod(ordinal));
        machine
    }

    /// Others were restarted meanwhile, and it joins once it can.
    fn machine_comes_back(mut self, machine: &str) {
        assert!([0, 1, 2].iter().all(|o| self.token_of(*o) == "x"), "{}", self.last_words());
        self.kube.set_machine(&mut self.store, machine, Machine::Up);
        self.settle();
        self.expect(5);
    }

    fn token_of(&self, ordinal: i32) -> serde_json::Value {
        self.member(ordinal)["status"]["server"]["restartToken"].clone()
    }
}

/// It votes, its turn is not over, and its machine goes with the volume.
#[test]
fn a_joiner_that_votes_and_whose_machine_is_lost_is_replaced() {
    let mut world = World::on_machines_of_their_own(3);
    for node in 4..=7 {
        world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
    }
    world.slow.insert(pod(0));
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| !w.member(0)["spec"]["operation"].is_null());
    // It hears nothing of the change any more.
    world.stop_process(3);
    world.slow.clear();
    world.until(|w| w.voters().contains(&4) && w.step() == "Join");
    let node = world.node_of(3).unwrap();
    world.take_away(&node);
    world.pass(1_800);
    world.settle();
    world.expect(5);
    assert!(!world.voters().contains(&4), "{}", world.last_words());
}

/// In its second pod the new server runs on by the permit of the first one, whose turn has
/// another nonce by then.
#[test]
fn a_rescue_waits_for_no_server_that_was_begun_in_the_place_of_a_lost_one() {
    let mut world = World::settled(3);
    world.wipe(2);
    world.until(|w| w.has_begun(2, 4));
    world.stop_process(1);
    world.delete(kinds::POD, &pod(2));
    world.until(|w| {
        let nonce = w.member(2)["spec"]["start"]["nonce"].clone();
        nonce.is_string() && w.status()["turn"]["nonce"] != nonce
    });
    world.pass(60);
    let uid = world.uid(1).unwrap();
    world.unlucky.insert(pod(1));
    world.ensemble.stop(&uid);
    world.pass(30);
    world.give_up_volume(1);
    world.settle();
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Rescue"), "{}", world.last_words());
    world.annotate_cluster("palladion.dev/allow-rescue", ask["nonce"].as_str().unwrap());
    world.pass(60);
    world.unlucky.clear();
    world.settle();
    world.expect(3);
    assert!(world.voters().contains(&1), "{}", world.last_words());
}

/// Its machine lets nobody through, or its limits kill it.
#[test]
fn a_replacement_whose_server_does_not_start_holds_up_no_other() {
    let mut world = World::settled(5);
    world.unlucky.insert(pod(1));
    world.wipe(1);
    world.until(|w| w.member(1)["status"]["permit"]["state"] == "Failed");
    world.wipe(3);
    world.pass(600);
    let voters = world.voters();
    assert!(!voters.contains(&4) && voters.len() == 5, "{voters:?} {}", world.last_words());
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(600);
    assert!([0, 2, 3, 4].iter().all(|o| world.token_of(*o) == "x"), "{}", world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(5);
    assert!(!world.voters().contains(&2), "{}", world.last_words());
}

/// Both new servers fail at first. The machine of the second one is bad for good, and that of
/// the first one is well again.
#[test]
fn a_replacement_that_gave_way_is_tried_again_while_another_fails() {
    let mut world = World::settled(5);
    world.unlucky.extend([pod(1), pod(3)]);
    world.wipe(1);
    world.wipe(3);
    world.until(|w| {
        let failed = w.member(3)["status"]["permit"]["state"] == "Failed";
        failed && w.status()["turn"]["member"] == json!(pod(3))
    });
    world.unlucky.remove(&pod(1));
    world.pass(900);
    assert!(!world.voters().contains(&2), "{:?} {}", world.voters(), world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(5);
}

/// Neither comes up, a rollout goes on meanwhile, and the machine of the second one is well
/// again.
#[test]
fn replacements_that_gave_way_take_turns() {
    let mut world = World::settled(7);
    world.unlucky.extend([pod(1), pod(3)]);
    world.wipe(1);
    world.wipe(3);
    let failed = |w: &World, o| w.member(o)["status"]["permit"]["state"] == "Failed";
    world.until(|w| failed(w, 1) && failed(w, 3));
    world.pass(60);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(600);
    assert!([0, 2, 4, 5, 6].iter().all(|o| world.token_of(*o) == "x"), "{}", world.last_words());
    world.unlucky.remove(&pod(3));
    world.pass(900);
    assert!(!world.voters().contains(&4), "{:?} {}", world.voters(), world.last_words());
    world.unlucky.clear();
    world.settle();
    world.expect(7);
}

/// It runs and finds nobody: its own word says only that it starts.
#[test]
fn a_replacement_whose_server_does_not_follow_holds_up_no_other() {
    let mut world = World::settled(5);
    world.wipe(1);
    world.until(|w| w.has_begun(1, 6));
    world.stop_process(1);
    world.wipe(3);
    world.pass(1_800);
    let voters = world.voters();
    assert!(!voters.contains(&4) && voters.len() == 5, "{voters:?} {}", world.last_words());
    world.continue_all();
    world.settle();
    world.expect(5);
}

/// Its loss is on record, and its new volume was given a server, which does not come up: it
/// leaves before the one above it, which serves.
#[test]
fn a_replacement_that_does_not_come_up_ends_with_a_smaller_ensemble() {
    let mut world = World::settled(5);
    world.unlucky.insert(pod(3));
    world.wipe(3);
    world.until(|w| w.member(3)["status"]["permit"]["state"] == "Failed");
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
}

/// Whatever it has done by then.
#[test]
fn a_smaller_ensemble_ends_a_replacement_at_any_time() {
    let mut world = World::settled(5);
    world.wipe(3);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(5) {
        tried += 1;
        world.patch_spec(&json!({ "servers": 3 }));
        world.settle();
        world.expect(3);
    }
    assert!(tried > 5, "{tried}");
}

/// Its process is there and does not serve: the join waits for its answer.
#[test]
fn a_broken_server_is_restarted_although_somebody_has_the_turn() {
    for (from, to) in [(3, 5), (5, 3)] {
        let mut world = World::settled(from);
        world.patch_spec(&json!({ "servers": to }));
        world.until(|w| w.step().is_string());
        world.stop_process(1);
        world.patch_spec(&json!({ "restartToken": "x" }));
        world.pass(1_800);
        assert_eq!(world.token_of(1), json!("x"), "{}", world.last_words());
        world.settle();
        world.expect(to);
    }
}

/// The restart of another one is due as well, and has not begun.
#[test]
fn a_broken_server_is_restarted_before_those_that_serve() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.step() == "Restart");
    world.stop_process(2);
    world.pass(1_800);
    assert_eq!(world.token_of(2), json!("x"), "{}", world.last_words());
    world.settle();
    world.expect(3);
}

/// A growth from one server is taken back when the second one votes and has not noted it.
#[test]
fn a_growth_that_failed_half_way_can_be_taken_back() {
    let mut world = World::settled(1);
    world.slow.insert(pod(0));
    world.patch_spec(&json!({ "servers": 3 }));
    world.until(|w| !w.member(0)["spec"]["operation"].is_null());
    let observes = world.disk(1).content.file.clone();
    world.slow.clear();
    world.until(|w| w.voters() == [1, 2]);
    // It ended before it could write that it votes.
    let volume = &mut world.disk(1).content;
    (volume.file, volume.ledger.part) = (observes.map(of_an_observer), Part::Begun);
    world.unlucky.insert(pod(1));
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.status()["turn"], json!(null), "{}", world.last_words());
    world.patch_spec(&json!({ "servers": 1 }));
    world.settle();
    world.unlucky.clear();
    world.delete(kinds::POD, &pod(1));
    world.settle();
    world.expect(1);
}

fn of_an_observer(mut file: Config) -> Config {
    if let Some((_, votes)) = file.servers.get_mut(&2) {
        *votes = false;
    }
    file
}

/// Neither of two new servers comes up, and nobody else can go on: each is tried for long enough
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

/// Its pod reaches nobody, or nobody answers it. Nothing is taken from it, and its join is tried
/// again later.
#[test]
fn a_joiner_whose_server_runs_and_never_follows_gives_way_to_others() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| w.has_begun(3, 4));
    world.stop_process(3);
    let volume = world.member(3)["spec"]["volumeID"].clone();
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.is_postponed(3));
    assert_eq!(world.member(3)["spec"]["start"], json!(null), "{}", world.last_words());
    world.until(|w| w.condition("Degraded").contains("JoinFailed"));
    let said = world.condition("Degraded");
    assert!(said.starts_with("True") && said.contains("after 5 minutes"), "{said}");
    let since = world.now();
    world.pass(590);
    assert!([0, 1, 2, 4].iter().all(|o| world.token_of(*o) == "x"), "{}", world.last_words());
    assert_eq!(world.member(3)["spec"]["volumeID"], volume, "nothing is deleted");
    world.settle();
    world.expect(5);
    assert!(world.now().duration_since(since).as_mins() >= 9, "{}", world.last_words());
    assert!(!world.is_postponed(3) && !world.condition("Degraded").contains("JoinFailed"));
}

/// What it said last stands: that it follows. It does not answer when all are asked.
#[test]
fn a_joiner_that_follows_and_whose_machine_is_away_gives_way_to_others() {
    let mut world = World::apart_and_growing();
    world.until(|w| {
        let follows = w.member(3)["status"]["ensemble"]["mode"].is_string();
        follows && !w.voters().contains(&4)
    });
    let machine = world.goes_with_its_machine(3);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(600);
    world.machine_comes_back(&machine);
}

#[test]
fn a_joiner_whose_machine_is_away_in_its_second_try_gives_way_to_others() {
    let mut world = World::apart_and_growing();
    world.until(|w| w.has_begun(3, 4));
    world.stop_process(3);
    world.until(|w| w.is_postponed(3));
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    let machine = world.goes_with_its_machine(3);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(120);
    world.machine_comes_back(&machine);
}
