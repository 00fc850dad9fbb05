//! Two rings in one namespace, with names of which one begins with the other:
//! each has its own objects, and what happens to one is nothing to the other.

use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, a_ring, bed, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "neighbours";
/// Its set is named like a rack of the first one's might be.
const OTHER: &str = "neighbours-dc1";
const SOON: Duration = Duration::from_secs(300);

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .ring(a_ring().racks(&[("a", 1)]).rows(1))
        .step("two rings of one namespace have nothing to do with each other", side_by_side)
        .in_soak()
        .leaves_no_ring()
        .into()
}

/// Objects of a cluster, by its label: their names.
fn of_cluster(kind: &str, cluster: &str) -> Vec<String> {
    let objects = bed().list(NAMESPACE, kind).expect("objects");
    let its = |o: &&Value| o["metadata"]["labels"]["palladion.dev/cluster"] == cluster;
    objects.iter().filter(its).map(|o| text(o, "/metadata/name").to_string()).collect()
}

fn status(cluster: &str) -> Value {
    let found = bed().get(NAMESPACE, "cassandracluster", cluster).expect("get");
    found.map(|c| c["status"].clone()).unwrap_or_default()
}

fn side_by_side(ring: &Ring<'_>) {
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    let wanted = a_ring().racks(&[("a", 1)]).line("deletionPolicy: Delete");
    bed().apply(NAMESPACE, &wanted.manifest(OTHER)).expect("apply");
    wait_for("the other ring", SOON, || Ok((status(OTHER)["members"] == "1/1").then_some(())))
        .expect("it forms");
    for cluster in [NAMESPACE, OTHER] {
        for kind in ["cassandramembers", "pods", "persistentvolumeclaims"] {
            assert_eq!(of_cluster(kind, cluster).len(), 1, "{kind} of {cluster}");
        }
    }
    let other = bed().get(NAMESPACE, "cassandramember", &of_cluster("cassandramembers", OTHER)[0]);
    let other = other.expect("get").expect("the member of the other ring");
    assert_eq!(other["status"]["ring"]["members"], 1, "a ring of its own: {}", other["status"]);
    assert!(ids.iter().all(|(_, id)| id != text(&other, "/status/hostID")), "another host ID");
    // What is asked of one restarts nobody of the other, and with one goes nothing of the other.
    let patch = json!({ "spec": { "restartToken": "once" } });
    bed().patch(NAMESPACE, "cassandracluster", OTHER, &patch).expect("patch");
    wait_for("the other member to be started again", SOON, || {
        let name = text(&other, "/metadata/name");
        let member = bed().get(NAMESPACE, "cassandramember", name)?.unwrap_or_default();
        let starts = member["status"]["startHistory"].as_array().map_or(0, Vec::len);
        Ok((starts == 2 && status(OTHER)["members"] == "1/1").then_some(()))
    })
    .expect("restarted");
    bed()
        .kubectl(&format!("delete cassandracluster {OTHER} -n {NAMESPACE} --wait=false"))
        .expect("delete");
    wait_for("the other ring to be gone with its data", SOON, || {
        let gone = of_cluster("persistentvolumeclaims", OTHER).is_empty()
            && of_cluster("pods", OTHER).is_empty();
        Ok(gone.then_some(()))
    })
    .expect("gone");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "its pod is the same");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "and so is its member");
    let starts = ring.members().expect("members")[0]["status"]["startHistory"].clone();
    assert_eq!(starts.as_array().map(Vec::len), Some(1), "started once: {starts}");
    ring.check_data().expect("all rows");
}
