//! The objects that are made. Nothing here can fail, and nothing is decided.

pub mod gated;
pub mod map;
pub mod services;
pub mod set;

use crate::resources::COMPONENT;
use crate::validate::Valid;
use palladion_api::component::names;
use palladion_api::labels::{APP_NAME, MANAGED_BY, PALLADION};
use palladion_plan::Resource;
use serde_json::{Map, Value, json};

/// Labels of everything that belongs to a Component.
pub fn labels(valid: &Valid) -> Map<String, Value> {
    let mut labels = Map::new();
    for (key, value) in
        [(MANAGED_BY, PALLADION), (APP_NAME, "component"), (names::OWNER, valid.name.as_str())]
    {
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
            "apiVersion": COMPONENT.api_version(),
            "kind": COMPONENT.kind,
            "name": valid.name,
            "uid": valid.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}

/// An object with its kind.
pub fn object(resource: Resource, metadata: Value) -> Value {
    json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        "metadata": metadata,
    })
}
