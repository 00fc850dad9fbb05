//! Pods start when everything that they need is there, and each start needs a
//! ticket of its own.

use crate::world::{NAME, NAMESPACE, World, a_spec, signalled, with};
use jiff::SignedDuration;
use palladion_api::Reason;
use palladion_plan::sim::Feed;
use palladion_plan::{ObjectKey, Subresource};
use palladion_stack::resources as kinds;
use serde_json::json;

const BOTH: [&str; 2] = ["web-0", "web-1"];

fn gate_of(world: &World, pod: &str) -> String {
    let status = world.status();
    let gate = status["gates"].as_array().into_iter().flatten().find(|g| g["pod"] == pod).cloned();
    gate.unwrap_or_default()["state"].as_str().unwrap_or_default().to_string()
}

#[test]
fn pods_start_when_their_ring_is_there_and_not_before() {
    let mut world = World::new(a_spec());
    world.pass(30);
    assert!(BOTH.iter().all(|pod| world.label(pod, "status").is_empty()), "they wait");
    assert!(world.shows(Reason::WaitingForDependency));
    assert_eq!(world.says("DependenciesReady"), "False WaitingForDependency");
    assert_eq!(gate_of(&world, "web-0"), "Closed");
    world.ring(3, 1);
    world.pass(30);
    let message = world.condition("Progressing")["message"].clone();
    let words = "waiting for CassandraCluster ring: 1 of 3 members are ready, at least 2 must be";
    assert_eq!(message, words);
    world.ring(3, 2);
    world.pass(5);
    assert!(BOTH.iter().all(|pod| world.is_ready(pod)), "{}", world.status());
    assert_eq!(world.kubelet.starts.len(), 2);
    assert_eq!(gate_of(&world, "web-0"), "Passed");
    assert_eq!(world.says("GatesPassed"), "True UpToDate");
    assert_eq!(world.says("Available"), "True UpToDate");
}

#[test]
fn all_members_or_a_number_of_them_may_be_asked_for() {
    for (minimum, enough) in [(json!("All"), 3), (json!(1), 1), (json!("Quorum"), 2)] {
        let mut world = World::new(with(a_spec(), "/dependsOn/0/minimum", minimum.clone()));
        world.ring(3, enough - 1);
        world.pass(5);
        assert!(world.kubelet.starts.is_empty(), "{minimum}");
        world.ring(3, enough);
        world.pass(5);
        assert_eq!(world.kubelet.starts.len(), 2, "{minimum}");
    }
}

#[test]
fn pods_wait_for_each_other_to_exist() {
    let mut world = World::new(a_spec());
    world.kubelet.quota = Some(1);
    world.ring(3, 3);
    world.pass(10);
    assert!(world.kubelet.starts.is_empty());
    assert_eq!(world.says("GatesPassed"), format!("False {}", Reason::WaitingForPods));
    world.kubelet.quota = None;
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 2);
}

/// A pod whose node is gone never ends, and a StatefulSet creates no other until it has.
#[test]
fn a_pod_that_does_not_end_is_named_with_the_next_step() {
    let mut world = World::settled(a_spec());
    world.kubelet.dead.insert("web-1".into());
    world.end_pod("web-1");
    world.restart_sandbox("web-0");
    world.pass(30);
    assert_eq!(gate_of(&world, "web-0"), "Closed");
    assert_eq!(world.says("GatesPassed"), format!("False {}", Reason::WaitingForPods));
    let message = world.condition("GatesPassed")["message"].to_string();
    for word in ["1 of 2", "web-1", "node-1", "kubectl delete pod web-1 --force"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    world.kubelet.dead.clear();
    world.delete_pod("web-1");
    world.pass(20);
    assert_eq!(world.says("GatesPassed"), "True UpToDate");
}

#[test]
fn pods_wait_for_the_addresses_of_all() {
    let by_ip = with(a_spec(), "/network", json!({ "addresses": "PodIP" }));
    let by_ip = with(by_ip, "/reload", json!({ "policy": "Recreate" }));
    for spec in [a_spec(), by_ip] {
        let mut world = World::new(spec);
        world.kubelet.unscheduled.insert("web-1".into());
        world.ring(3, 3);
        world.pass(10);
        assert!(world.kubelet.starts.is_empty());
        assert_eq!(world.says("GatesPassed"), format!("False {}", Reason::WaitingForAddresses));
        world.kubelet.unscheduled.clear();
        world.pass(5);
        assert_eq!(world.kubelet.starts.len(), 2);
    }
}

#[test]
fn a_pod_that_runs_is_not_stopped_for_a_dependency() {
    let mut world = World::settled(a_spec());
    let (uids, starts) = (world.uids(), world.kubelet.starts.len());
    world.ring(3, 0);
    world.pass(700);
    assert_eq!((world.uids(), world.kubelet.starts.len()), (uids, starts));
    assert!(BOTH.iter().all(|pod| world.is_ready(pod)));
    assert_eq!(world.says("DependenciesReady"), "False WaitingForDependency");
    assert_eq!(world.says("Progressing"), "False UpToDate", "nothing is waited for");
}

#[test]
fn a_ticket_opens_once() {
    let mut world = World::settled(a_spec());
    let uids = world.uids();
    world.ring(3, 1);
    world.restart_sandbox("web-0");
    world.pass(60);
    assert_eq!(world.uids(), uids, "the pod is the same");
    assert_eq!(world.kubelet.starts.len(), 2, "its service was not started");
    assert_eq!(world.label("web-0", "status"), "", "its label was emptied");
    assert!(world.is_ready("web-1"), "the other one runs on");
    world.ring(3, 2);
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert!(world.label("web-0", "palladion.dev/gate").starts_with("2-"));
    assert_eq!(world.uids(), uids);
}

#[test]
fn a_sandbox_that_restarts_just_before_its_dependency_falls_stays_closed() {
    let mut world = World::settled(a_spec());
    world.restart_sandbox("web-0");
    // Nobody has looked yet.
    world.ring(3, 1);
    world.pass(300);
    assert_eq!(world.kubelet.starts.len(), 2);
    assert_eq!(gate_of(&world, "web-0"), "Closed");
}

#[test]
fn a_sandbox_that_restarts_while_all_is_well_gets_a_ticket_of_its_own() {
    let mut world = World::settled(a_spec());
    world.pass(100);
    world.restart_sandbox("web-1");
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert!(world.label("web-1", "palladion.dev/gate").starts_with("2-"));
    assert!(world.label("web-0", "palladion.dev/gate").starts_with("1-"), "that one is its own");
}

#[test]
fn files_that_come_late_hold_the_gate_and_no_more() {
    let mut world = World::new(a_spec());
    world.kubelet.map_delay = SignedDuration::from_secs(90);
    world.ring(3, 3);
    world.pass(89);
    assert!(world.kubelet.starts.is_empty());
    assert_eq!(gate_of(&world, "web-0"), "Open");
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 2);
    assert!(world.label("web-0", "palladion.dev/gate").starts_with("2-"), "one more after 60 s");
}

#[test]
fn a_pod_that_never_sees_its_ticket_is_asked_less_and_less() {
    let mut world = World::new(a_spec());
    world.kubelet.frozen.insert("web-0".into());
    world.ring(3, 3);
    world.pass(10);
    let before = world.writes();
    world.pass(3600);
    // Each end of the gate makes a start that has its own ticket; within one they double.
    assert!(world.kubelet.starts.iter().all(|(pod, ..)| pod == "web-1"));
    let writes = world.writes() - before;
    assert!(writes < 250, "{writes} writes in an hour");
}

#[test]
fn a_dependency_that_comes_and_goes_opens_gates_only_while_it_is_there() {
    let mut world = World::new(a_spec());
    for round in 0..20 {
        world.ring(3, if round % 2 == 0 { 1 } else { 2 });
        if round == 7 {
            world.restart_sandbox("web-0");
        }
        world.pass(1);
    }
    assert_eq!(world.kubelet.starts.len(), 3, "that no start is too early the world sees itself");
    assert!(BOTH.iter().all(|pod| world.is_ready(pod)));
}

#[test]
fn what_cannot_be_read_is_not_there() {
    let mut world = World::settled(a_spec());
    world.feed(kinds::CASSANDRA, Feed::Cut);
    world.restart_sandbox("web-0");
    world.all_there = None;
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 2);
    assert_eq!(world.says("DependenciesReady"), "Unknown WaitingForDependency");
    world.feed(kinds::CASSANDRA, Feed::Live);
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 3);
}

#[test]
fn a_component_without_dependencies_waits_for_its_own_pods_alone() {
    let spec = json!({
        "replicas": 2,
        "template": { "spec": { "containers": [{ "name": "api", "image": "good:1" }] } },
        "network": { "addresses": "PodIP" },
    });
    let mut world = World::new(spec);
    world.pass(3);
    assert_eq!(world.kubelet.starts.len(), 2, "{}", world.status());
    assert_eq!(world.says("DependenciesReady"), "True UpToDate");
    assert!(world.get(kinds::CONFIG_MAP, "web-config").is_none(), "it has no configuration");
}

#[test]
fn a_gate_behind_another_init_container_is_reported() {
    let mut world = World::new(a_spec());
    world.kubelet.put_before_the_gate = Some("mesh".into());
    world.ring(3, 3);
    world.pass(5);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::GateNotFirst));
    assert_eq!(world.kubelet.starts.len(), 2, "it opens all the same");
}

#[test]
fn another_operator_goes_on_where_the_last_one_stopped() {
    let mut world = World::new(a_spec());
    world.pass(10);
    let _ = world.succeed();
    world.ring(3, 3);
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 2);
    let writes = world.writes();
    let _ = world.succeed();
    world.pass(60);
    assert_eq!(world.writes(), writes, "it finds everything as it should be");
}

#[test]
fn components_in_a_circle_are_named_and_start_when_it_is_cut() {
    let mut world = World::new(with(
        a_spec(),
        "/dependsOn",
        json!([{ "kind": "CassandraCluster", "name": "ring" }, { "kind": "Component", "name": "b" }]),
    ));
    world.ring(3, 3);
    world.component("b", &["c"]);
    world.component("c", &[NAME]);
    world.pass(5);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::DependencyCycle));
    let message = world.condition("Degraded")["message"].clone();
    assert!(message.as_str().unwrap().contains("through b and c"), "{message}");
    assert!(world.status()["layer"].is_null() && world.kubelet.starts.is_empty());
    world.set_spec(a_spec());
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 2);
    assert_eq!(world.status()["layer"], 1);
}

#[test]
fn while_it_is_paused_gates_stay_as_they_are() {
    let mut world = World::new(with(a_spec(), "/paused", json!(true)));
    world.ring(3, 3);
    world.pass(30);
    assert!(world.get(kinds::STATEFUL_SET, NAME).is_none());
    assert_eq!(world.says("Paused"), "True Paused");
    world.set_spec(a_spec());
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 2);
}

/// Annotations may say whatever somebody has written into them.
#[test]
fn a_time_at_the_end_of_all_times_stops_nothing() {
    let mut world = World::settled(signalled(a_spec()));
    let put = |world: &mut World, key: &str, time: &str| {
        let pod = ObjectKey::new(kinds::POD, NAMESPACE, "web-0");
        let patch = json!({ "metadata": { "annotations": { key: time } } });
        world.store.merge(&pod, &patch, Subresource::None).unwrap();
    };
    put(&mut world, "palladion.dev/reloaded", "9999-12-30T21:59:00Z");
    world.kubelet.nameless.insert("web-0".into());
    world.pass(10);
    world.kubelet.nameless.clear();
    world.kubelet.blind.insert("web-0".into());
    world.restart_sandbox("web-0");
    world.pass(5);
    let ticket = |world: &World| world.status()["gates"][0]["ticket"].clone();
    let before = ticket(&world);
    put(&mut world, "palladion.dev/gate-given", "9999-12-30T00:00:00Z");
    world.pass(5);
    assert_ne!(ticket(&world), before, "a time to come is no time");
    world.kubelet.blind.clear();
    world.pass(60);
    assert!(world.is_ready("web-0"), "{}", world.status());
}

#[test]
fn a_ticket_that_was_used_unseen_and_taken_back_counts_as_one_of_the_earlier_spec() {
    let mut world = World::settled(signalled(a_spec()));
    world.kubelet.silent_once_open = true;
    world.restart_sandbox("web-0");
    world.pass(5);
    assert_eq!(world.kubelet.starts.len(), 3);
    world.ring(3, 1);
    world.pass(2);
    assert_eq!(world.label("web-0", "status"), "", "it is taken back");
    world.set_spec(with(signalled(a_spec()), "/config/parameters/level", json!("debug")));
    world.ring(3, 3);
    world.pass(5);
    world.kubelet.silent_once_open = false;
    world.kubelet.mute.clear();
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    // Both were restarted: the spec has changed, and not something outside.
    assert_eq!(world.kubelet.starts.len(), 5);
}
