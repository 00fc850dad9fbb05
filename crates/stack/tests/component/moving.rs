//! Pods on the network of their nodes have the addresses of these, which change when a pod
//! comes to another node: that is no reason to go round for ever.

use crate::world::{World, a_spec, recreated, signalled, with};
use palladion_api::Reason;
use serde_json::{Value, json};

const FILE: &str = "/config/files/0/template";

/// Three pods on nodes of which there are more.
fn on_many_nodes(spec: Value) -> World {
    let spec = with(with(spec, "/network/addresses", json!("HostNetwork")), "/replicas", json!(3));
    let mut world = World::new(spec);
    world.kubelet.rota = ["node-1", "node-2", "node-3", "node-4", "node-5"].into();
    world.ring(3, 3);
    world.pass(20);
    world
}

fn starts_after_one_is_lost(mut world: World) -> usize {
    assert!(world.is_at_rest(), "{}", world.status());
    let before = world.kubelet.starts.len();
    world.delete_pod("web-0");
    world.pass(600);
    assert!(world.is_at_rest(), "{}", world.status());
    world.kubelet.starts.len() - before
}

#[test]
fn addresses_of_peers_and_a_restart_for_each_change_do_not_go_together() {
    let world = on_many_nodes(a_spec());
    assert_eq!(world.says("Accepted"), format!("False {}", Reason::InvalidSpec));
    let message = world.condition("Accepted")["message"].to_string();
    assert!(message.contains("set `reload.policy` to Recreate or Signal"), "{message}");
}

#[test]
fn a_pod_that_comes_to_another_node_restarts_nobody_who_does_not_name_it() {
    let own =
        json!("{{ self.address }} of {{ nodes | length }}: {{ dependencies.ring.addresses[0] }}");
    assert_eq!(starts_after_one_is_lost(on_many_nodes(with(a_spec(), FILE, own))), 1);
}

#[test]
fn those_who_name_it_are_signalled() {
    assert_eq!(starts_after_one_is_lost(on_many_nodes(signalled(a_spec()))), 1);
}

#[test]
fn or_all_are_recreated_once() {
    let starts = starts_after_one_is_lost(on_many_nodes(recreated(a_spec())));
    assert!((3..=4).contains(&starts), "all three, and maybe the lost one before: {starts}");
}
