//! Pieces of the JSON that servers answer with.

use serde_json::Value;

/// The strings of a list; none where it is no list.
pub(super) fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
}
