//! Whose a member is: what people may not write, and what Kubernetes' own
//! controllers still do.

use std::time::Duration;

use palladion_e2e::bed;
use palladion_e2e::bed::wait_for;
use palladion_e2e::fields::BELONGING;
use serde_json::{Value, json};

use super::{NAMESPACE, OTHER, admin, member, operator, refused, two_members};

pub(super) fn whose_it_is() {
    two_members();
    let metadata = |patch: Value| admin().patch(NAMESPACE, OTHER, &json!({ "metadata": patch }));
    let absent = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "absent", "uid": "0" });
    for patch in [
        // The garbage collector deletes what only an absent owner has.
        json!({ "ownerReferences": [absent] }),
        json!({ "finalizers": ["example.com/held"] }),
        json!({ "labels": { "app.kubernetes.io/managed-by": "helm" } }),
        json!({ "labels": { "palladion.dev/cluster": "other" } }),
        json!({ "labels": { "palladion.dev/member": "other" } }),
        json!({ "annotations": { "palladion.dev/gone": "it is" } }),
        json!({ "annotations": { "palladion.dev/down-since": "2020-01-01T00:00:00Z" } }),
        json!({ "annotations": { "palladion.dev/cluster-uid": "0" } }),
    ] {
        refused(metadata(patch), BELONGING);
    }
    metadata(json!({ "labels": { "team": "store" }, "annotations": { "example.com/note": "x" } }))
        .expect("other labels and annotations may be changed");
    let labels = json!({ "metadata": { "labels": { "palladion.dev/cluster": "demo" } } });
    operator().patch(NAMESPACE, OTHER, &labels).expect("the operator labels its members");
}

/// Kubernetes itself takes owners off, and deletes what they leave: with or
/// without waiting, and also if nobody else may.
pub(super) fn of_a_deleted_cluster() {
    let namespace = "admission-owners";
    bed().fresh_namespace(namespace).expect("a namespace");
    for (cascade, stays) in [("orphan", true), ("foreground", false), ("background", false)] {
        let uid = a_paused_cluster(namespace);
        let mut object: Value =
            serde_json::from_str(&member("demo-dc1-a-0", &json!({}))).expect("JSON");
        object["metadata"]["namespace"] = json!(namespace);
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraCluster", "name": "demo", "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }]);
        operator().kubectl(&["create", "-f", "-"], &object.to_string()).expect("a member");
        let how = format!("--cascade={cascade}");
        let delete = ["delete", "cassandracluster/demo", "-n", namespace, &how];
        admin().kubectl(&delete, "").expect("the cluster to go");
        wait_for("the garbage collector", Duration::from_secs(60), || {
            let member = bed().get(namespace, "cassandramember", "demo-dc1-a-0")?;
            let done = match &member {
                Some(member) => stays && member["metadata"]["ownerReferences"].is_null(),
                None => !stays,
            };
            Ok(done.then_some(()))
        })
        .expect(cascade);
        if stays {
            let gone = ["delete", "cassandramember/demo-dc1-a-0", "-n", namespace];
            operator().kubectl(&gone, "").expect("the operator deletes members");
        }
    }
    bed().remove_namespace(namespace).expect("the namespace to go");
}

/// A cluster that the operator leaves alone; its uid.
pub(super) fn a_paused_cluster(namespace: &str) -> Value {
    let cluster = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraCluster",
        "metadata": { "name": "demo", "namespace": namespace },
        "spec": { "version": "5.0.5", "paused": true, "datacenter": { "name": "dc1", "racks": [{ "name": "a", "members": 1 }] } },
    });
    admin().kubectl(&["create", "-f", "-"], &cluster.to_string()).expect("a cluster");
    let made = bed().get(namespace, "cassandracluster", "demo").expect("a cluster");
    made.expect("it was just created")["metadata"]["uid"].clone()
}
