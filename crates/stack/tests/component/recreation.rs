//! All pods of a service are recreated only if all of them can stop: those that do would
//! wait for the one that does not, and nobody would serve.

use crate::world::{World, a_spec, recreated, with};
use palladion_api::Reason;
use serde_json::{Value, json};

/// What the recreation waits for.
fn message(world: &World) -> String {
    let status = world.status();
    let mut waits = status["waits"].as_array().into_iter().flatten();
    let of = |wait: &&Value| {
        let message = wait["message"].as_str().unwrap_or_default();
        wait["reason"] == Reason::RollingOut.as_str() && message.contains("--force")
    };
    waits.find(of).cloned().unwrap_or_default()["message"].to_string()
}

/// Those that serve go on until the last one can stop, too.
fn it_waits(mut world: World, what: &[&str]) -> World {
    let ready = world.fewest_ready;
    world.ring(4, 4);
    world.pass(60);
    assert!(world.is_ready("web-0"), "{}", world.status());
    assert_eq!(world.set()["spec"]["replicas"], 2);
    assert_eq!(world.fewest_ready, ready);
    for word in what {
        assert!(message(&world).contains(word), "{word}: {}", message(&world));
    }
    world
}

fn it_goes_on(mut world: World) {
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert!(world.texts().values().all(|text| text.contains("10.96.1.3")));
}

#[test]
fn nobody_stops_while_one_pod_cannot_end() {
    let mut world = World::settled(recreated(a_spec()));
    world.kubelet.dead.insert("web-1".into());
    world.end_pod("web-1");
    let mut world = it_waits(world, &["web-1 on node node-1", "kubectl delete pod --force"]);
    world.kubelet.dead.clear();
    world.delete_pod("web-1");
    it_goes_on(world);
}

#[test]
fn nobody_stops_while_the_node_of_one_is_away() {
    let mut world = World::settled(recreated(a_spec()));
    world.move_to("web-1", "node-2");
    world.node("node-2", "Unknown");
    world.kubelet.dead.insert("web-1".into());
    world.kubelet.sick.insert("web-1".into());
    world.pass(1);
    let mut world = it_waits(world, &["web-1 on node node-2"]);
    world.node("node-2", "True");
    world.kubelet.dead.clear();
    world.kubelet.sick.clear();
    it_goes_on(world);
}

#[test]
fn a_pod_that_is_broken_on_a_node_that_is_well_holds_up_nobody() {
    let mut world = World::settled(recreated(a_spec()));
    world.node("node-1", "True");
    world.kubelet.sick.insert("web-1".into());
    world.pass(5);
    world.ring(4, 4);
    world.kubelet.sick.clear();
    it_goes_on(world);
}

#[test]
fn a_pod_that_does_not_stop_any_more_is_named_with_the_next_step() {
    let mut world = World::settled(recreated(a_spec()));
    // Its node dies when the pods are stopping already.
    world.kubelet.dead.insert("web-1".into());
    world.ring(4, 4);
    world.pass(30);
    assert_eq!(world.set()["spec"]["replicas"], 0);
    assert_eq!(world.says("GatesPassed"), format!("False {}", Reason::RollingOut));
    for said in [message(&world), world.condition("GatesPassed")["message"].to_string()] {
        for word in ["1", "web-1 on node node-1", "kubectl delete pod --force"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
    world.kubelet.dead.clear();
    world.delete_pod("web-1");
    it_goes_on(world);
}

#[test]
fn nobody_stops_while_a_pod_that_is_not_wanted_any_more_cannot_end() {
    let of = |pods: i32| with(recreated(a_spec()), "/replicas", json!(pods));
    let mut world = World::settled(of(3));
    world.kubelet.dead.insert("web-2".into());
    world.set_spec(of(2));
    world.pass(60);
    let mut world = it_waits(world, &["web-2 on node node-1", "kubectl delete pod --force"]);
    world.kubelet.dead.clear();
    world.delete_pod("web-2");
    it_goes_on(world);
}
