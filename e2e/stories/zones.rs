//! A ring whose spec names zones: each is a rack of its name, on nodes of that zone.
//! Zones come and go; and with `statefulSetReplace: Always` a change makes each
//! StatefulSet again around its pods.

use std::collections::BTreeMap;
use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed, wait_for};
use serde_json::json;

const NAMESPACE: &str = "zones";
const LABEL: &str = "topology.kubernetes.io/zone";
const SOON: Duration = Duration::from_secs(120);
/// All members, one after the other.
const RESTARTS_IN: Duration = Duration::from_secs(400);

fn in_zones(zones: &[&'static str]) -> WantedRing {
    a_ring().zones(zones).moves_under_load()
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .ring(in_zones(&["z1", "z2"]).rows(2))
        .step("each zone is a rack on its own nodes, and zones come and go", come_and_go)
        .in_soak()
        .step("a change makes StatefulSets again around their pods where that is asked for", again)
        .in_soak()
        .into()
}

/// The rack of each member, and the zone of the node that it runs on.
fn places(ring: &Ring<'_>) -> BTreeMap<String, (String, String)> {
    let members = ring.members().expect("members");
    let place = |member: &serde_json::Value| {
        let name = text(member, "/metadata/name").to_string();
        let node = text(member, "/status/agent/node");
        let node = bed().get("default", "node", node).expect("get").expect("its node");
        let zone = node["metadata"]["labels"][LABEL].as_str().unwrap_or_default().to_string();
        (name, (text(member, "/spec/rack").to_string(), zone))
    };
    members.iter().map(place).collect()
}

fn expect_places(ring: &Ring<'_>, zones: &[&str]) {
    let places = places(ring);
    let expected: BTreeMap<_, _> = zones
        .iter()
        .map(|zone| {
            (format!("{NAMESPACE}-dc1-{zone}-0"), ((*zone).to_string(), (*zone).to_string()))
        })
        .collect();
    assert_eq!(places, expected);
}

fn come_and_go(ring: &Ring<'_>) {
    expect_places(ring, &["z1", "z2"]);
    let writing = ring.writing(Writes::Rows).expect("writing");
    for zones in [&["z1", "z2", "z3"][..], &["z1", "z2"][..]] {
        bed().apply(NAMESPACE, &in_zones(zones).manifest(NAMESPACE)).expect("apply");
        ring.wait_members(u32::try_from(zones.len()).expect("few")).expect("as many as zones");
        expect_places(ring, zones);
    }
    writing.stop().expect("written");
    ring.check_data().expect("all rows");
}

/// The uid of the StatefulSet of each rack.
fn sets() -> BTreeMap<String, String> {
    let sets = bed().list(NAMESPACE, "statefulset").expect("sets");
    let uid = |set: &serde_json::Value| {
        (text(set, "/metadata/name").to_string(), text(set, "/metadata/uid").to_string())
    };
    sets.iter().map(uid).collect()
}

fn again(ring: &Ring<'_>) {
    let (ids, pods, before) =
        (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"), sets());
    assert_eq!(before.len(), 2, "{before:?}");
    let always = json!({ "spec": { "updateStrategy": { "statefulSetReplace": "Always" } } });
    bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &always).expect("patch");
    ring.wait_settled().expect("settled");
    assert_eq!(sets(), before, "that alone changes no template");
    let writing = ring.writing(Writes::Rows).expect("writing");
    let change = json!({ "spec": { "env": [{ "name": "ZONES", "value": "again" }] } });
    bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &change).expect("patch");
    wait_for("other StatefulSets of the same names", SOON, || {
        let now = sets();
        let others = now.iter().filter(|(name, uid)| before.get(*name).is_some_and(|b| b != *uid));
        Ok((others.count() == 2).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {before:?}, {:?}", sets()));
    wait_for("each pod to be replaced", RESTARTS_IN, || {
        let now = ring.pod_uids()?;
        let replaced = now.iter().filter(|pod| !pods.contains(pod)).count();
        Ok((now.len() == 2 && replaced == 2).then_some(()))
    })
    .expect("both");
    ring.wait_ready(2).expect("ready");
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "the same members");
    ring.check_data().expect("all rows");
}
