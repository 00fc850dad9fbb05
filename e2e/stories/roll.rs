//! Day two of a ring: stop and start, restarts, drift, volumes, pauses,
//! rollouts, an upgrade from 4.1 to 5.0, racks that come and go. A soak repeats
//! the stops, restarts and rollouts.

mod drift;
mod palladion;
mod racks;
mod runtime;
mod server;
mod stop;
mod versions;
mod volumes;

use std::time::Duration;

use palladion_e2e::story::{Story, is_soak};
use palladion_e2e::wanted::{OLDER_VERSION, VERSION};
use palladion_e2e::{Ring, WantedRing, a_ring, bed};
use serde_json::{Value, json};

const NAMESPACE: &str = "roll";
const SOON: Duration = Duration::from_secs(180);
/// A server restarts in ten seconds; a busy machine takes longer.
const RESTARTS_IN: Duration = Duration::from_secs(600);

/// Two racks, three members, two copies.
fn a_ring_of(version: &'static str) -> WantedRing {
    a_ring().version(version).racks(&[("a", 2), ("b", 1)]).rows(2).moves_under_load()
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .ring(a_ring_of(OLDER_VERSION))
        .step("a ring is stopped and started all at once", stop::and_start)
        .step("a rack and one member are restarted alone in their pods", stop::a_rack_and_a_member)
        .in_soak()
        .step(
            "limits and log levels change while servers run",
            runtime::runtime_settings_come_and_go,
        )
        .in_soak()
        .step("what somebody changed by hand is put back", drift::put_back)
        .step("a claim grows and never shrinks and no pod is touched", volumes::grow)
        .in_soak()
        .step("nothing but status is written while paused", stop::paused)
        .in_soak()
        .step(
            "a broken rollout stops at its canary and a newer spec overtakes it",
            versions::broken,
        )
        .step("an upgrade to 5.0 goes one by one and not back", versions::upgrade)
        .leaves(a_ring_of(VERSION))
        .ring(a_ring_of(VERSION))
        .step("two racks come at once and are dropped again", racks::come_and_go)
        .in_soak()
        .step(
            "resources, placement and annotations of a rack restart that rack alone",
            racks::restart_alone,
        )
        .in_soak()
        .step(
            "an upgrade of Palladion restarts nobody and a rollout takes the newest agent",
            palladion::upgrade,
        )
        .step("an environment and a token restart every server once", stop::every_server_once)
        .in_soak()
        .into()
}

/// How often a thing is done: more often in a soak.
fn times(soak: usize) -> usize {
    if is_soak() { soak } else { 1 }
}

fn patch(spec: &Value) {
    bed()
        .patch(NAMESPACE, "cassandracluster", NAMESPACE, &json!({ "spec": spec }))
        .expect("the patch should be accepted");
}

/// A small rack.
fn rack(name: &str, members: u32) -> Value {
    let resources =
        json!({ "requests": { "cpu": "100m", "memory": "1Gi" }, "limits": { "memory": "1Gi" } });
    json!({ "name": name, "members": members, "resources": resources })
}

/// The racks as they are wanted now.
fn racks_of(ring: &Ring<'_>) -> Value {
    ring.cluster().expect("cluster")["spec"]["datacenter"]["racks"].clone()
}

fn set_racks(wanted: &Value) {
    patch(&json!({ "datacenter": { "racks": wanted } }));
}
