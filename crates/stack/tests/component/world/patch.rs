//! What the world itself reckons, so that it does not take the word of the mind.

use serde_json::Value;

/// Are as many members ready as a dependency asks for?
pub(super) fn is_enough(service: &Value, minimum: &Value) -> bool {
    match (minimum.as_i64(), minimum.as_str()) {
        (Some(number), _) => service["ready"].as_i64() >= Some(number),
        (None, Some("All")) => service["ready"] == service["wanted"],
        (None, _) => service["active"] == true,
    }
}

/// A merge patch that makes `wanted` of `have`: what is dropped becomes null.
pub(super) fn replacing(have: &Value, wanted: &Value) -> Value {
    let (Some(have), Some(want)) = (have.as_object(), wanted.as_object()) else {
        return wanted.clone();
    };
    let mut patch = serde_json::Map::new();
    for key in have.keys().filter(|k| !want.contains_key(*k)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in want {
        patch.insert(key.clone(), have.get(key).map_or(value.clone(), |h| replacing(h, value)));
    }
    Value::Object(patch)
}
