//! Joiners that do not come as far as a node that runs: their agents wait for what a start needs,
//! or their machines are away. What else is to be done does not wait for them.

use super::acts::pod;
use super::world::World;
use palladion_api::labels::POSTPONED_JOIN;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    pub(super) fn is_postponed(&self, ordinal: i32) -> bool {
        self.member(ordinal)["metadata"]["annotations"][POSTPONED_JOIN].is_string()
    }

    /// Are these restarted, as somebody has asked for?
    fn are_restarted(&self, ordinals: &[i32]) -> bool {
        let token = |o: &i32| self.member(*o)["status"]["server"]["restartToken"].clone();
        ordinals.iter().all(|o| token(o) == "x")
    }

    /// Five machines, and five nodes are asked for where three run.
    pub(super) fn apart_and_growing() -> Self {
        let mut world = World::on_machines_of_their_own(3);
        for node in 4..=5 {
            world.kube.add_node(&mut world.store, &format!("n{node}"), "z1");
        }
        world.stuck.insert(pod(3));
        world.patch_spec(&json!({ "nodes": 5 }));
        world.until(|w| w.runs_closed(3) && w.member(3)["spec"]["start"].is_object());
        world
    }

    fn machine_goes_down(&mut self, ordinal: i32) -> String {
        let machine = self.node_of(ordinal);
        self.kube.set_machine(&mut self.store, &machine, Machine::Down);
        machine
    }

    /// Others have gone on meanwhile, and it joins once it can.
    fn machine_comes_back(mut self, machine: &str) {
        assert!(self.are_restarted(&[0, 1, 2]), "{}", self.last_words());
        self.stuck.clear();
        self.kube.set_machine(&mut self.store, machine, Machine::Up);
        self.settle();
        self.expect(5);
    }
}

/// The members that there are have their cookies on their volumes.
#[test]
fn a_joiner_whose_agent_waits_for_the_secret_gives_way_to_others() {
    let mut world = World::settled(3);
    world.secret_is_gone = true;
    world.patch_spec(&json!({ "nodes": 5, "restartToken": "x" }));
    world.until(|w| w.is_postponed(3));
    world.until(|w| w.condition("Degraded").starts_with("True JoinFailed"));
    world.pass(600);
    assert!(world.are_restarted(&[0, 1, 2]), "{}", world.last_words());
    world.secret_is_gone = false;
    world.settle();
    world.expect(5);
    assert!(!world.condition("Degraded").contains("JoinFailed"), "{}", world.last_words());
}

/// By then its pod ends, as far as anybody knows, and its agent says nothing.
#[test]
fn a_joiner_whose_machine_is_away_in_its_second_try_gives_way_to_others() {
    let mut world = World::apart_and_growing();
    world.until(|w| w.is_postponed(3));
    world.until(|w| w.runs_closed(3) && w.member(3)["spec"]["start"].is_object());
    let machine = world.machine_goes_down(3);
    world.pass(340);
    world.delete(kinds::POD, &pod(3));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(120);
    world.machine_comes_back(&machine);
}

/// It is not evicted: its agent's last word stands, and its node runs by that.
#[test]
fn a_joiner_whose_machine_is_away_and_whose_pod_stays_gives_way_to_others() {
    let mut world = World::apart_and_growing();
    let machine = world.machine_goes_down(3);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(900);
    world.machine_comes_back(&machine);
}

/// It has its time from when all were asked: what the turn waited for before does not count.
#[test]
fn a_joiner_whose_permit_came_late_has_its_time_all_the_same() {
    let mut world = World::settled(3);
    world.hangs.insert(pod(1));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.pass(900);
    world.hangs.clear();
    world.secret_is_gone = true;
    world.until(|w| w.member(3)["spec"]["start"].is_object());
    world.pass(240);
    assert!(!world.is_postponed(3), "{}", world.last_words());
    world.secret_is_gone = false;
    world.settle();
    world.expect(5);
    assert!(!world.events.iter().any(|e| e.contains("permitted to join and had not")));
}

/// Between the record and the end of the turn, too: no other permit comes before its time.
#[test]
fn a_joiner_is_postponed_across_faults_at_every_write() {
    let mut world = World::settled(3);
    world.stuck.insert(pod(3));
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.runs_closed(3));
    world.pass(280);
    let (mut worlds, mut history) = (Vec::new(), world.clone());
    while history.status()["turn"]["member"] == json!(pod(3)) {
        let before = history.clone();
        assert!(history.tick().unwrap(), "{}", history.last_words());
        if history.faults.writes() > before.faults.writes() {
            worlds.push(before);
        }
    }
    assert!(history.is_postponed(3) && worlds.len() > 1, "{}", worlds.len());
    for fault in [Fault::DieAfter, Fault::DieBefore, Fault::AnswerLost] {
        for mut world in worlds.clone() {
            world.faults.plan(world.faults.writes(), fault);
            world.until(|w| w.is_postponed(3));
            // Others may have the turn at once, and it has no permit before its time.
            world.pass(30);
            let start = world.member(3)["spec"]["start"].clone();
            assert_eq!(start, json!(null), "{fault:?}: {}", world.last_words());
            let turn = world.status()["turn"]["member"].clone();
            assert_ne!(turn, json!(pod(3)), "{fault:?}: {}", world.last_words());
        }
    }
}
