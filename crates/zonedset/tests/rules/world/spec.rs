//! Specs, to be changed by the tests.

use serde_json::{Value, json};

/// An owner of two zones with two replicas each, to be changed by the test.
pub fn a_spec() -> Value {
    json!({
        "zones": ["a", "b"],
        "template": { "spec": { "replicas": 2, "template": {
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "c", "image": "good:1" }] }
        } } }
    })
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

pub fn with_image(spec: Value, image: &str) -> Value {
    with(spec, "/template/spec/template/spec/containers/0/image", json!(image))
}
