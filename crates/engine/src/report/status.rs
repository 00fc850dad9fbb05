//! The difference between the status that is stored and the one that is wanted,
//! as a merge patch.

use serde_json::{Map, Value};

/// A merge patch of the top-level fields of `wanted` that differ from `stored`;
/// `None` if none does. A `null` in `wanted` removes the field, a field that
/// is missing in `wanted` is left alone.
pub fn patch(stored: Option<&Value>, wanted: &Value) -> Option<Value> {
    let Value::Object(wanted) = wanted else {
        return None;
    };
    let nothing = Map::new();
    let stored = stored.and_then(Value::as_object).unwrap_or(&nothing);
    let mut changes = Map::new();
    for (name, value) in wanted {
        if let Some(change) = difference(stored.get(name), &without_nulls(value)) {
            changes.insert(name.clone(), change);
        }
    }
    (!changes.is_empty()).then_some(Value::Object(changes))
}

/// Does this patch of a status change nothing but the words of its conditions:
/// the reasons and messages, and none of the types and states?
pub fn is_words_only(stored: Option<&Value>, change: &Value) -> bool {
    let states = |conditions: Option<&Value>| -> Option<Vec<(String, String)>> {
        let text = |c: &Value, field: &str| c[field].as_str().unwrap_or_default().to_string();
        let all = conditions?.as_array()?.iter();
        Some(all.map(|c| (text(c, "type"), text(c, "status"))).collect())
    };
    let fields = change.as_object();
    let only_conditions = fields.is_some_and(|f| f.keys().all(|name| name == "conditions"));
    let before = states(stored.and_then(|s| s.get("conditions")));
    only_conditions && before.is_some() && before == states(change.get("conditions"))
}

/// What turns `have` into exactly `want`; `None` if it is so already.
fn difference(have: Option<&Value>, want: &Value) -> Option<Value> {
    match (have, want) {
        (None, Value::Null) => None,
        (None, want) => Some(want.clone()),
        (Some(Value::Object(have)), Value::Object(want)) => {
            let mut changes = Map::new();
            for (name, value) in want {
                if let Some(change) = difference(have.get(name), value) {
                    changes.insert(name.clone(), change);
                }
            }
            for name in have.keys().filter(|name| !want.contains_key(*name)) {
                changes.insert(name.clone(), Value::Null);
            }
            (!changes.is_empty()).then_some(Value::Object(changes))
        }
        (Some(have), want) if have == want => None,
        (Some(_), want) => Some(want.clone()),
    }
}

/// Below the top level a `null` means absent: the API server does not store it.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, v)| !v.is_null());
            Value::Object(kept.map(|(k, v)| (k.clone(), without_nulls(v))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// RFC 7396.
    fn merge(target: &mut Value, patch: &Value) {
        let Value::Object(fields) = patch else {
            *target = patch.clone();
            return;
        };
        if !target.is_object() {
            *target = json!({});
        }
        let map = target.as_object_mut().unwrap();
        for (name, value) in fields {
            if value.is_null() {
                map.remove(name);
            } else {
                merge(map.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
    }

    #[test]
    fn a_status_that_is_so_already_is_not_written() {
        let stored = json!({"a": 1, "b": {"c": [1]}, "other": 5});
        assert_eq!(patch(Some(&stored), &json!({"a": 1, "b": {"c": [1]}})), None);
        assert_eq!(patch(Some(&stored), &json!({"b": {"c": [1], "d": null}})), None);
        assert_eq!(patch(Some(&stored), &json!({"gone": null})), None);
        assert_eq!(patch(Some(&stored), &Value::Null), None);
    }

    #[test]
    fn only_the_fields_that_differ_are_written_and_the_result_is_what_was_wanted() {
        let stored =
            json!({"a": 1, "racks": {"x": {"ready": 1}, "y": {"ready": 2}}, "turn": {"step": "s"}});
        let wanted = json!({"a": 1, "racks": {"x": {"ready": 2}}, "turn": null});
        let change = patch(Some(&stored), &wanted).unwrap();
        assert_eq!(change, json!({"racks": {"x": {"ready": 2}, "y": null}, "turn": null}));
        let mut result = stored;
        merge(&mut result, &change);
        assert_eq!(result, json!({"a": 1, "racks": {"x": {"ready": 2}}}));
        assert_eq!(patch(Some(&result), &wanted), None);
    }

    #[test]
    fn words_are_told_from_states() {
        let condition = |status: &str, message: &str| json!({"conditions": [{"type": "Ready", "status": status, "message": message}]});
        let stored = condition("True", "one");
        let is_words = |wanted: &Value| {
            let change = patch(Some(&stored), wanted).unwrap();
            is_words_only(Some(&stored), &change)
        };
        assert!(is_words(&condition("True", "two")));
        assert!(!is_words(&condition("False", "two")));
        let mut more = condition("True", "two");
        more["members"] = json!("1/3");
        assert!(!is_words(&more));
        assert!(!is_words_only(None, &stored));
    }

    #[test]
    fn nulls_inside_lists_are_not_written_for_ever() {
        let wanted = json!({"conditions": [{"type": "Ready", "message": null}]});
        let change = patch(None, &wanted).unwrap();
        assert_eq!(patch(Some(&change), &wanted), None);
    }
}
