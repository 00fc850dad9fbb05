//! Schema of the pod template of a staged service. Only what admission rules
//! need is spelled out; Kubernetes itself checks the rest when pods are created,
//! so that a field of a newer Kubernetes needs no newer operator.

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
                    "properties": { "name": { "type": "string", "minLength": 1, "maxLength": 63 } }
                },
                "spec": { "type": "object", "x-kubernetes-preserve-unknown-fields": true }
            },
            "x-kubernetes-preserve-unknown-fields": true
        }
    })
}
