//! A kubelet that reports late: what a pod does and what is known of it are two things for
//! some seconds each time, and for longer where a node is cut off.

use crate::world::{World, a_spec, signalled, with};
use palladion_plan::sim::store::text;
use serde_json::{Value, json};

/// Hash of the files that the pod was started with last.
fn started_with(world: &World, pod: &str) -> String {
    let starts = world.kubelet.starts.iter().rev();
    starts.clone().find(|(name, ..)| name == pod).map(|(.., hash)| hash.clone()).unwrap()
}

fn is_current(world: &World, pod: &str) {
    assert_eq!(started_with(world, pod), world.label(pod, "palladion.dev/config"), "{pod}");
    assert!(world.is_at_rest(), "{}", world.status());
}

/// web-0 has started, and nobody knows; web-1 is as it was.
fn started_unseen(spec: Value) -> World {
    let mut world = World::settled(spec);
    world.restart_sandbox("web-0");
    world.kubelet.silent_once_open = true;
    world.pass(1);
    assert_eq!(world.kubelet.starts.len(), 3, "it has started");
    let status = world.pod("web-0")["status"].clone();
    assert!(
        !text(&status, "/initContainerStatuses/0/state/running/startedAt").is_empty(),
        "{status}"
    );
    world
}

fn heard(world: &mut World) {
    world.kubelet.silent_once_open = false;
    world.kubelet.mute.clear();
    world.pass(60);
}

#[test]
fn a_ticket_that_comes_after_the_start_does_not_hide_what_the_pod_started_with() {
    let mut world = started_unseen(a_spec());
    world.ring(4, 4);
    world.pass(5);
    heard(&mut world);
    is_current(&world, "web-0");
    is_current(&world, "web-1");
    assert!(world.texts()["web-0.conf"].contains("10.96.1.3"));
}

#[test]
fn a_change_of_the_spec_that_comes_after_the_start_restarts_the_pod() {
    let debug = |spec: Value| with(spec, "/config/parameters/level", json!("debug"));
    for spec in [a_spec(), signalled(a_spec())] {
        let mut world = started_unseen(spec.clone());
        world.set_spec(debug(spec));
        world.pass(5);
        heard(&mut world);
        is_current(&world, "web-0");
        is_current(&world, "web-1");
        assert!(world.kubelet.signals.iter().all(|(pod, _)| pod != "web-1"));
    }
}

#[test]
fn a_signal_is_enough_for_what_comes_from_outside_after_the_start() {
    let mut world = started_unseen(signalled(a_spec()));
    world.ring(4, 4);
    world.pass(5);
    heard(&mut world);
    assert_eq!(world.kubelet.starts.len(), 3, "nobody was restarted");
    let of = |pod: &str| world.kubelet.signals.iter().filter(|(name, _)| name == pod).count();
    assert_eq!((of("web-0"), of("web-1")), (1, 1));
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_ticket_that_was_not_used_is_taken_back_when_the_ring_falls() {
    let mut world = World::settled(a_spec());
    world.restart_sandbox("web-0");
    world.kubelet.blind.insert("web-0".into());
    world.pass(5);
    assert_eq!(world.label("web-0", "status"), "ready", "it has a ticket");
    assert_eq!(world.kubelet.starts.len(), 2, "and does not know");
    world.ring(3, 1);
    world.pass(100);
    assert_eq!(world.label("web-0", "status"), "", "{}", world.status());
    world.kubelet.blind.clear();
    world.pass(100);
    assert_eq!(world.kubelet.starts.len(), 2, "the ring is away");
    world.ring(3, 3);
    world.pass(10);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert!(world.is_at_rest(), "{}", world.status());
}
