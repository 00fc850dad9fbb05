//! Merge patch (RFC 7396) and a server-side apply that is good enough: maps are
//! merged, lists replaced, what the last apply said and this one does not is
//! removed.

use serde_json::{Map, Value};

pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (name, value) in fields {
        let map = target.as_object_mut().unwrap();
        if value.is_null() {
            map.remove(name);
        } else {
            merge_patch(map.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Remove from `target` what `old` said and `new` does not.
pub fn prune(target: &mut Value, old: &Value, new: &Value) {
    let (Value::Object(map), Value::Object(old)) = (target, old) else {
        return;
    };
    for (name, was) in old {
        match new.get(name) {
            None => {
                map.remove(name);
            }
            Some(is) => {
                if let Some(child) = map.get_mut(name) {
                    prune(child, was, is);
                }
            }
        }
    }
}

/// Would applying `new` change a value that somebody else has set?
pub fn conflicts(stored: &Value, new: &Value) -> bool {
    match (stored, new) {
        (Value::Object(have), Value::Object(want)) => {
            want.iter().any(|(name, value)| have.get(name).is_some_and(|h| conflicts(h, value)))
        }
        (have, want) => have != want,
    }
}
