//! Leaves that an alarm forbids: what may end the alarm does not wait for them.

use super::acts::{node, pod};
use super::world::World;
use serde_json::json;

impl World {
    /// A node runs short of something, until it has the resources that somebody has corrected.
    fn raises_alarm(&mut self, ordinal: i32) {
        let alarm = json!([{ "node": node(ordinal), "resource": "memory" }]);
        self.alarms = serde_json::from_value(alarm).unwrap();
        self.tell("a node runs short of memory");
    }

    /// What everybody's pod was made anew for.
    fn more_memory(&self, nodes: i64) -> serde_json::Value {
        json!({ "nodes": nodes, "resources": { "limits": { "memory": "4Gi" } } })
    }

    fn pods_of(&self, uids: &[(String, String)]) -> Vec<String> {
        let still = |(name, uid): &&(String, String)| {
            self.pods().iter().any(|(n, u)| n == name && u == uid)
        };
        uids.iter().filter(still).map(|(name, _)| name.clone()).collect()
    }
}

/// The spec asks for fewer nodes and for what ends the alarm at once.
#[test]
fn a_leave_that_an_alarm_forbids_holds_up_no_rollout() {
    let mut world = World::settled(5);
    world.raises_alarm(0);
    let before = world.pods();
    world.patch_spec(&world.more_memory(3));
    world.pass(600);
    assert_eq!(world.pods_of(&before), [pod(3), pod(4)], "{}", world.last_words());
    assert_eq!(world.rabbit.running().len(), 5, "nobody left: {}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.contains("memory runs short"), "{said}");
    world.alarms.clear();
    world.settle();
    world.expect(3);
}

/// Nor a restart that a person asks for, whoever has the turn when the alarm is raised.
#[test]
fn a_leave_that_was_begun_before_an_alarm_was_raised_gives_way_to_restarts() {
    let mut calm = World::settled(5);
    calm.patch_spec(&json!({ "nodes": 3 }));
    let mut worlds = Vec::new();
    while calm.tick().unwrap() {
        if calm.status()["turn"]["step"] == "Leave" {
            worlds.push(calm.clone());
        }
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(3) {
        world.raises_alarm(0);
        world.patch_spec(&json!({ "restartToken": "x" }));
        world.pass(900);
        let token = world.member(0)["status"]["server"]["restartToken"].clone();
        assert_eq!(token, "x", "{}", world.last_words());
        tried += 1;
        world.alarms.clear();
        world.settle();
        world.expect(3);
    }
    assert!(tried > 5, "{tried}");
}

/// The alarm is that of the leaver itself: only its own restart ends it.
#[test]
fn a_leaver_whose_own_alarm_forbids_its_leave_is_restarted_and_leaves() {
    let mut world = World::settled(3);
    world.raises_alarm(2);
    let leaver = world.uid(2);
    world.patch_spec(&world.more_memory(1));
    world.until(|w| w.uid(2).is_some() && w.uid(2) != leaver);
    world.alarms.clear();
    world.settle();
    world.expect(1);
}
