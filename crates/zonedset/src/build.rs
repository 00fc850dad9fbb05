//! The objects that are made. Nothing here can fail, and nothing is decided.

pub mod services;
pub mod set;

use crate::resources::ZONED_SET;
use crate::validate::Valid;
use palladion_api::labels::{APP_NAME, MANAGED_BY, PALLADION};
use palladion_api::zoned_stateful_set::names;
use palladion_plan::Resource;
use serde_json::{Map, Value, json};

/// Labels of everything that belongs to an owner.
pub fn labels(valid: &Valid) -> Map<String, Value> {
    let mut labels = Map::new();
    for (key, value) in [
        (MANAGED_BY, PALLADION),
        (APP_NAME, "zoned-stateful-set"),
        (names::OWNER, valid.name.as_str()),
    ] {
        labels.insert(key.to_string(), value.into());
    }
    labels
}

/// Name, namespace, labels and owner of an object of ours.
pub fn metadata(valid: &Valid, name: &str) -> Value {
    json!({
        "name": name,
        "namespace": valid.namespace,
        "labels": labels(valid),
        "ownerReferences": [{
            "apiVersion": ZONED_SET.api_version(),
            "kind": ZONED_SET.kind,
            "name": valid.name,
            "uid": valid.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}

/// An object with its kind.
pub fn object(resource: Resource, metadata: Value, spec: Value) -> Value {
    json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        "metadata": metadata,
        "spec": spec,
    })
}
