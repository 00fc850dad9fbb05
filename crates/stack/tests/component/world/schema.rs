//! What the API server takes of a status: no list, map or text that is longer than the CRD
//! says. It refuses the whole status for one of them.

use palladion_api::crd;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The schema of the status of each kind.
static STATUSES: OnceLock<BTreeMap<String, Value>> = OnceLock::new();

/// The status of an object of this kind fits into its schema.
pub fn fits(kind: &str, status: &Value) {
    let all = STATUSES.get_or_init(|| {
        let status = |of: &_| crd::schema(of)["properties"]["status"].clone();
        crd::all().iter().map(|of| (of.spec.names.kind.clone(), status(of))).collect()
    });
    is_short(&all[kind], status, "status");
}

fn is_short(schema: &Value, value: &Value, path: &str) {
    let length = match value {
        Value::Array(all) => Some((all.len(), "maxItems")),
        Value::Object(all) => Some((all.len(), "maxProperties")),
        Value::String(text) => Some((text.chars().count(), "maxLength")),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    if let Some((length, limit)) = length
        && let Some(most) = schema[limit].as_u64()
    {
        assert!(length as u64 <= most, "{path} has {length}, and may have {most}");
    }
    for item in value.as_array().into_iter().flatten() {
        is_short(&schema["items"], item, path);
    }
    for (field, value) in value.as_object().into_iter().flatten() {
        let of_field = schema["properties"].get(field).unwrap_or(&schema["additionalProperties"]);
        is_short(of_field, value, &format!("{path}.{field}"));
    }
}
