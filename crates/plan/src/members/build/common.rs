//! What every object has: labels and the owner.

use super::super::spec::ServiceSpec;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use serde_json::{Map, Value, json};

/// Labels of everything that belongs to the service.
pub fn cluster_labels(spec: &ServiceSpec) -> Map<String, Value> {
    [
        ("app", spec.kind.app),
        (labels::APP_NAME, spec.kind.app),
        (labels::MANAGED_BY, labels::PALLADION),
        (spec.kind.label, &spec.name),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_string(), Value::from(value)))
    .collect()
}

/// Labels of everything that belongs to a member.
pub fn member_labels(spec: &ServiceSpec, member: &MemberName) -> Map<String, Value> {
    let mut all = cluster_labels(spec);
    all.insert(labels::MEMBER.into(), Value::from(member.as_str()));
    all
}

/// What set and Services select by: it can never change.
pub fn selector(spec: &ServiceSpec) -> Value {
    json!({ spec.kind.label: spec.name })
}

/// Metadata of an object that the cluster owns.
pub fn metadata(spec: &ServiceSpec, name: &str, labels: &Map<String, Value>) -> Value {
    json!({
        "name": name,
        "namespace": spec.namespace,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
            "kind": spec.kind.owner.kind,
            "name": spec.name,
            "uid": spec.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}
