//! Objects that somebody deletes: what is lost with them, and what is not.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::fields::INITIALIZATION;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::json;

use super::{NAMESPACE, SOON, three_members};

pub(super) fn status(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let erase = json!([{ "op": "remove", "path": "/status" }]).to_string();
    bed()
        .cluster
        .kubectl(&[
            "patch",
            "cassandracluster",
            "ring",
            "-n",
            NAMESPACE,
            "--subresource=status",
            "--type=json",
            "-p",
            &erase,
        ])
        .expect("erase");
    ring.wait_ready(3).expect("all ready");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(
        ring.cluster().expect("cluster")["status"][INITIALIZATION].is_null(),
        "a ring that exists is not initialized again"
    );
    ring.check_data().expect("all rows");
}

const FIRST: &str = "ring-dc1-a-0";

/// A Service of somebody else gets the address as soon as it is free; its name.
fn taken_by_a_stranger(address: &str) -> &'static str {
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "stranger" },
        "spec": { "clusterIP": address, "ports": [{ "port": 80 }] },
    });
    wait_for("the address to be free", SOON, || {
        Ok(bed().apply(NAMESPACE, &service.to_string()).is_ok().then_some(()))
    })
    .expect("taken");
    "stranger"
}

pub(super) fn cluster_made_again(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let address = text(&ring.member(FIRST).expect("member"), "/spec/address").to_string();
    bed()
        .kubectl(&format!("delete cassandracluster ring -n {NAMESPACE} --wait=true --timeout=120s"))
        .expect("delete");
    wait_for("the members to be gone", Duration::from_secs(120), || {
        Ok(bed().list(NAMESPACE, "cassandramembers")?.is_empty().then_some(()))
    })
    .expect("gone");
    assert_eq!(
        bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims").len(),
        3,
        "the data stays"
    );
    let stranger = taken_by_a_stranger(&address);
    bed().apply(NAMESPACE, &three_members().manifest(NAMESPACE)).expect("apply");
    let said = ring.wait_reason("Degraded", Reason::AddressTaken, SOON).expect("it is told");
    assert!(said.contains(FIRST) && said.contains(&address), "{said}");
    wait_for("the other two", SOON, || {
        Ok((ring.cluster()?["status"]["members"] == "2/3").then_some(()))
    })
    .expect("they start without it");
    bed().kubectl(&format!("delete service {stranger} -n {NAMESPACE}")).expect("delete");
    ring.wait_ready(3).expect("all ready");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(
        ring.cluster().expect("cluster")["status"][INITIALIZATION].is_null(),
        "no ring is initialized over data"
    );
    ring.check_data().expect("all rows");
}

pub(super) fn policy_delete(ring: &Ring<'_>) {
    let policy = json!({ "spec": { "deletionPolicy": "Delete" } });
    bed().patch(NAMESPACE, "cassandracluster", "ring", &policy).expect("patch");
    wait_for("the finalizer", SOON, || {
        let cluster = ring.cluster()?;
        Ok(cluster["metadata"]["finalizers"][0].is_string().then_some(()))
    })
    .expect("the finalizer is set");
    bed()
        .kubectl(&format!("delete cassandracluster ring -n {NAMESPACE} --wait=false"))
        .expect("delete");
    let said = ring.wait_reason("Progressing", Reason::Deleting, SOON).expect("what it waits for");
    assert!(said.contains("stopped") || said.contains("PersistentVolumeClaim"), "{said}");
    let words = format!("wait --for=delete cassandracluster/ring -n {NAMESPACE} --timeout=180s");
    bed().kubectl(&words).expect("its end");
    let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
    assert!(claims.is_empty(), "{} claims are left", claims.len());
}
