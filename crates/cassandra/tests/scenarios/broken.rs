//! Pods that are replaced because no server serves in them, and those that are not, because one
//! does.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use serde_json::json;

const LAST: &str = "demo-dc1-a-1";

/// A container that somebody injected fails beside the server, which serves.
fn a_sidecar_fails(world: &mut World, pod: &str) {
    let key = ObjectKey::new(kinds::POD, NAMESPACE, pod);
    let mut status = world.store.get(&key).expect("the pod should exist")["status"].clone();
    let statuses = status["containerStatuses"].as_array_mut().expect("it should have containers");
    let waiting =
        json!({ "reason": "CrashLoopBackOff", "message": "back-off restarting failed container" });
    statuses.push(json!({ "name": "proxy", "state": { "waiting": waiting } }));
    world.store.put_status(&key, status).expect("the pod should exist");
}

#[test]
fn a_rollout_stops_one_member_at_a_time_where_a_sidecar_fails_in_every_pod() {
    let mut world = a_ring(2, 1);
    for pod in world.names(kinds::POD) {
        a_sidecar_fails(&mut world, &pod);
    }
    world.destructive.clear();
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    world.expect_ring(3);
    let proofs: Vec<&String> = world.destructive.iter().filter(|s| s.contains("Idle")).collect();
    assert!(proofs.is_empty(), "{proofs:?}\n{}", world.last_words());
    assert!(world.unready_at_stop.is_empty(), "{:?}", world.unready_at_stop);
}

#[test]
fn a_member_whose_server_ends_while_a_rollout_is_stuck_comes_back_in_its_own_revision() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "broken_setting": 1 } }));
    world.pass(200);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    for _ in 0..2 {
        world.kill_server(LAST);
        world.pass(60);
    }
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.patch_spec(&json!({ "config": { "broken_setting": null } }));
    world.settle();
    world.expect_ring(3);
}
