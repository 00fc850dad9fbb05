//! Schema of the pod template of a staged service. Only what admission rules
//! need is spelled out; Kubernetes itself checks the rest when pods are created,
//! so that a field of a newer Kubernetes needs no newer operator.

use crate::crd::quantity_text_map;
use crate::names::LABEL;
use serde_json::{Value, json};

fn named(most: u32) -> Value {
    json!({
        "type": "array",
        "maxItems": most,
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": { "name": { "type": "string", "minLength": 1, "maxLength": 63 } },
            "x-kubernetes-preserve-unknown-fields": true
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"]
    })
}

fn containers() -> Value {
    let mut containers = named(16);
    containers["minItems"] = json!(1);
    containers["items"]["properties"]["readinessProbe"] =
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    containers
}

/// The pod template.
pub(crate) fn pod_template(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "metadata": {
                "type": "object",
                "properties": {
                    "labels": {
                        "type": "object",
                        "maxProperties": 64,
                        "additionalProperties": { "type": "string", "maxLength": 63 }
                    }
                },
                "x-kubernetes-preserve-unknown-fields": true
            },
            "spec": {
                "type": "object",
                "required": ["containers"],
                "properties": {
                    "initContainers": named(16),
                    "containers": containers(),
                    "volumes": named(32),
                    "hostNetwork": { "type": "boolean" },
                    "restartPolicy": { "type": "string", "enum": ["Always"] }
                },
                "x-kubernetes-preserve-unknown-fields": true
            }
        }
    })
}

/// What Kubernetes asks of a claim only when the pods are created, where nobody looks: a
/// set whose claims it refuses has no pods, and says so in an event alone.
fn claim() -> Value {
    let free = |mut schema: Value| {
        schema["type"] = json!("object");
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        schema
    };
    let modes = json!({
        "type": "array",
        "minItems": 1,
        "maxItems": 4,
        "items": {
            "type": "string",
            "enum": ["ReadWriteOnce", "ReadWriteOncePod", "ReadOnlyMany", "ReadWriteMany"]
        }
    });
    let amount = Value::from(quantity_text_map());
    let requests = free(json!({ "required": ["storage"], "properties": { "storage": amount } }));
    let resources =
        free(json!({ "required": ["requests"], "properties": { "requests": requests } }));
    let class = json!({ "type": "string", "maxLength": 253 });
    free(json!({
        "required": ["accessModes", "resources"],
        "properties": {
            "accessModes": modes,
            "resources": resources,
            "storageClassName": class,
            "volumeMode": { "type": "string", "enum": ["Filesystem", "Block"] }
        }
    }))
}

/// Claims of each pod.
pub(crate) fn claims(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 8,
        "items": {
            "type": "object",
            "required": ["metadata", "spec"],
            "properties": {
                "metadata": {
                    "type": "object",
                    "required": ["name"],
                    "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {
                        "name": { "type": "string", "minLength": 1, "maxLength": 63, "pattern": LABEL }
                    }
                },
                "spec": claim()
            },
            "x-kubernetes-preserve-unknown-fields": true
        }
    })
}
