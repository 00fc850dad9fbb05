//! What every object has: labels and the owner.

use crate::validate::Valid;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use serde_json::{Map, Value, json};

/// What Kubernetes' recommended name label says.
const APP: &str = "zookeeper";

/// Labels of everything that belongs to the ensemble.
pub fn cluster_labels(valid: &Valid) -> Map<String, Value> {
    [
        ("app", APP),
        (labels::APP_NAME, APP),
        (labels::MANAGED_BY, labels::PALLADION),
        (labels::ZOOKEEPER, &valid.name),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_string(), Value::from(value)))
    .collect()
}

/// Labels of everything that belongs to a member.
pub fn member_labels(valid: &Valid, member: &MemberName) -> Map<String, Value> {
    let mut all = cluster_labels(valid);
    all.insert(labels::MEMBER.into(), Value::from(member.as_str()));
    all
}

/// What set and Services select by: it can never change.
pub fn selector(valid: &Valid) -> Value {
    json!({ labels::ZOOKEEPER: valid.name })
}

/// Metadata of an object that the cluster owns.
pub fn metadata(valid: &Valid, name: &str, labels: &Map<String, Value>) -> Value {
    json!({
        "name": name,
        "namespace": valid.namespace,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
            "kind": "ZookeeperCluster",
            "name": valid.name,
            "uid": valid.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}
