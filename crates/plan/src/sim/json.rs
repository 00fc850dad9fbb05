//! How an API server changes objects: merge patches, and server-side apply as
//! far as one field manager needs it.

use serde_json::{Map, Value};

/// The string at a JSON pointer, empty where there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// JSON merge patch (RFC 7386).
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Server-side apply: fields that were applied before and are not any more are
/// removed, all that is stated is set; what others set stays. Lists are whole.
pub fn apply(target: &mut Value, before: Option<&Value>, wanted: &Value) {
    if let Some(before) = before {
        remove_dropped(target, before, wanted);
    }
    state(target, wanted);
}

fn remove_dropped(target: &mut Value, before: &Value, wanted: &Value) {
    let (Value::Object(target), Value::Object(before)) = (target, before) else {
        return;
    };
    for (key, old) in before {
        match (wanted.get(key), target.get_mut(key)) {
            (Some(new), Some(present)) => remove_dropped(present, old, new),
            (None, Some(Value::Object(present))) if old.is_object() => {
                let mut inner = Value::Object(std::mem::take(present));
                remove_dropped(&mut inner, old, &Value::Object(Map::new()));
                match inner {
                    Value::Object(rest) if !rest.is_empty() => *present = rest,
                    _ => {
                        target.remove(key);
                    }
                }
            }
            (None, Some(_)) => {
                target.remove(key);
            }
            (_, None) => {}
        }
    }
}

fn state(target: &mut Value, wanted: &Value) {
    match wanted {
        Value::Object(fields) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            let Some(map) = target.as_object_mut() else {
                return;
            };
            for (key, value) in fields.iter().filter(|(_, v)| !v.is_null()) {
                state(map.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            *target = wanted.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_merge_patch_removes_by_null_and_keeps_the_rest() {
        let mut object = json!({"a": 1, "b": {"c": 2, "d": 3}});
        merge(&mut object, &json!({"a": null, "b": {"c": 5}, "e": {"f": null}}));
        assert_eq!(object, json!({"b": {"c": 5, "d": 3}, "e": {}}));
    }

    #[test]
    fn apply_takes_back_what_it_no_longer_states_and_leaves_what_others_set() {
        let mut object = json!({"spec": {"ours": 1, "theirs": 2, "map": {"x": 1, "y": 2}}});
        let before = json!({"spec": {"ours": 1, "map": {"x": 1}}});
        apply(&mut object, Some(&before), &json!({"spec": {"new": 3}}));
        assert_eq!(object, json!({"spec": {"theirs": 2, "map": {"y": 2}, "new": 3}}));
    }
}
