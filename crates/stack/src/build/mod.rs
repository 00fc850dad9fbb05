//! The objects that are made. Nothing here can fail, and nothing is decided.

pub mod child;
pub mod daemon_set;
pub mod gated;
pub mod map;
pub mod services;
pub mod set;

use crate::owner::Owner;
use palladion_api::labels::{APP_NAME, MANAGED_BY, PALLADION};
use palladion_plan::Resource;
use serde_json::{Map, Value, json};

/// Labels of everything that belongs to an owner.
pub fn labels(owner: Owner<'_>) -> Map<String, Value> {
    let mut labels = Map::new();
    let app = owner.label.rsplit('/').next().unwrap_or_default();
    for (key, value) in [(MANAGED_BY, PALLADION), (APP_NAME, app), (owner.label, owner.name)] {
        labels.insert(key.to_string(), value.into());
    }
    labels
}

/// Name, namespace, labels and owner of an object of ours.
pub fn metadata(owner: Owner<'_>, name: &str) -> Value {
    json!({
        "name": name,
        "namespace": owner.namespace,
        "labels": labels(owner),
        "ownerReferences": [{
            "apiVersion": owner.resource.api_version(),
            "kind": owner.resource.kind,
            "name": owner.name,
            "uid": owner.uid,
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
