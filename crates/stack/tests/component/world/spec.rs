//! Specs, to be changed by the tests.

use serde_json::{Value, json};

/// Two pods that depend on a ring. The text of the second one alone has a
/// parameter of its own.
pub fn a_spec() -> Value {
    let template = "ring {{ dependencies.ring.addresses | join(',') }}:{{ dependencies.ring.ports.cql }}\n\
        peers {% for node in nodes %}{{ node.address }} {% endfor %}\n\
        level {{ parameters.level }}{% if self.ordinal == 1 %} {{ parameters.second }}{% endif %}\n";
    json!({
        "replicas": 2,
        "template": { "spec": { "containers": [{ "name": "api", "image": "good:1" }] } },
        "network": { "ports": [{ "name": "http", "port": 8082 }] },
        "dependsOn": [{ "kind": "CassandraCluster", "name": "ring" }],
        "config": {
            "parameters": { "level": "info", "second": "a" },
            "files": [{ "name": "conf", "template": template }],
        },
    })
}

/// The process of a pod is signalled for a change from outside.
pub fn signalled(spec: Value) -> Value {
    with(spec, "/reload", json!({ "policy": "Signal", "process": "api", "container": "api" }))
}

/// All pods are recreated for a change.
pub fn recreated(spec: Value) -> Value {
    with(spec, "/reload", json!({ "policy": "Recreate" }))
}

pub fn with(mut spec: Value, pointer: &str, value: Value) -> Value {
    let mut at = &mut spec;
    for part in pointer.split('/').skip(1) {
        at = match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[part],
        };
    }
    *at = value;
    spec
}
