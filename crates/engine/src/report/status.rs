//! The difference between the status that is stored and the one that is wanted,
//! as a merge patch.

use palladion_plan::difference::difference;
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

/// How soon a change of a status is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Something is so that was not.
    Now,
    /// The same is said in other words.
    Words,
    /// Only the list of waits differs; it goes along with other changes.
    Waits,
}

/// How soon this patch of a status is to be written.
pub fn urgency(stored: Option<&Value>, change: &Value) -> Urgency {
    let only = |names: &[&str]| {
        change.as_object().is_some_and(|f| f.keys().all(|name| names.contains(&name.as_str())))
    };
    if stored.is_some() && only(&["waits"]) {
        return Urgency::Waits;
    }
    // What a part of it is doing, such as a rack, its own conditions say as well.
    let mut rest = change.as_object().into_iter().flatten();
    let states = rest.all(|(name, value)| match name.as_str() {
        "conditions" => same_states(stored, change),
        "waits" => true,
        _ => is_of_conditions(value) || says_the_same(stored.and_then(|s| s.get(name)), value),
    });
    match states {
        true => Urgency::Words,
        false => Urgency::Now,
    }
}

/// Where the name of a field says that it is for people.
const MESSAGE: &str = "message";

/// Does a patch change nothing but messages?
fn says_the_same(stored: Option<&Value>, change: &Value) -> bool {
    match change {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            name == MESSAGE || says_the_same(stored.and_then(|s| s.get(name)), value)
        }),
        // Lists are replaced whole, so their parts are.
        Value::Array(_) => stored.map(without_messages) == Some(without_messages(change)),
        value => stored == Some(value),
    }
}

fn without_messages(value: &Value) -> Value {
    keeping(value, &|name, _| name != MESSAGE)
}

/// Do only the conditions of its parts differ?
fn is_of_conditions(change: &Value) -> bool {
    let only = |part: &Value| part.as_object().is_some_and(|p| p.keys().eq(["conditions"]));
    change.as_object().is_some_and(|parts| parts.values().all(only))
}

/// Are the types and states of all conditions the same, whatever their reasons
/// and messages?
fn same_states(stored: Option<&Value>, change: &Value) -> bool {
    let states = |conditions: Option<&Value>| -> Option<Vec<(String, String)>> {
        let text = |c: &Value, field: &str| c[field].as_str().unwrap_or_default().to_string();
        let all = conditions?.as_array()?.iter();
        Some(all.map(|c| (text(c, "type"), text(c, "status"))).collect())
    };
    let before = states(stored.and_then(|s| s.get("conditions")));
    before.is_some() && before == states(change.get("conditions"))
}

/// Below the top level a `null` means absent: the API server does not store it.
fn without_nulls(value: &Value) -> Value {
    keeping(value, &|_, value| !value.is_null())
}

/// The same with only those fields, at any depth, of which this is so.
fn keeping(value: &Value, is_kept: &impl Fn(&str, &Value) -> bool) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, value)| is_kept(name, value));
            Value::Object(kept.map(|(k, v)| (k.clone(), keeping(v, is_kept))).collect())
        }
        Value::Array(items) => items.iter().map(|item| keeping(item, is_kept)).collect(),
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
    fn words_and_waits_are_told_from_states() {
        let condition = |status: &str, message: &str| json!({"conditions": [{"type": "Ready", "status": status, "message": message}]});
        let stored = condition("True", "one");
        let soon = |wanted: &Value| urgency(Some(&stored), &patch(Some(&stored), wanted).unwrap());
        let with = |mut status: Value, field: &str, value: Value| {
            status[field] = value;
            status
        };
        let waits = json!([{"reason": "Joining"}]);
        assert_eq!(soon(&condition("True", "two")), Urgency::Words);
        assert_eq!(soon(&with(condition("True", "two"), "waits", waits.clone())), Urgency::Words);
        assert_eq!(soon(&with(condition("True", "one"), "waits", waits.clone())), Urgency::Waits);
        assert_eq!(soon(&with(condition("False", "two"), "waits", waits)), Urgency::Now);
        assert_eq!(soon(&with(condition("True", "two"), "members", json!("1/3"))), Urgency::Now);
        assert_eq!(soon(&condition("Unknown", "two")), Urgency::Now);
        assert_eq!(urgency(None, &stored), Urgency::Now);
        let rack = |part: Value| with(condition("True", "one"), "racks", json!({ "a": part }));
        let leaving = json!([{"type": "MemberLeaving", "status": "True"}]);
        assert_eq!(soon(&rack(json!({"conditions": leaving}))), Urgency::Words);
        assert_eq!(soon(&rack(json!({"conditions": leaving, "members": 2}))), Urgency::Now);
    }

    #[test]
    fn a_message_is_words_wherever_it_stands() {
        let check = |result: &str, message: Value| json!({"health": {"checks": [{"name": "Seeds", "result": result, "message": message}]}});
        let stored = check("Fail", json!("one"));
        let soon = |wanted: &Value| urgency(Some(&stored), &patch(Some(&stored), wanted).unwrap());
        assert_eq!(soon(&check("Fail", json!("two"))), Urgency::Words);
        assert_eq!(soon(&check("Fail", Value::Null)), Urgency::Words);
        assert_eq!(soon(&check("Pass", Value::Null)), Urgency::Now);
        let more = json!({"health": {"checks": [{"name": "Seeds", "result": "Fail", "since": 1}]}});
        assert_eq!(soon(&more), Urgency::Now);
        assert_eq!(soon(&json!({"health": {"checks": []}})), Urgency::Now);
        assert_eq!(soon(&json!({"health": null})), Urgency::Now);
        assert_eq!(soon(&json!({"health": {"message": "two"}, "turn": 1})), Urgency::Now);
    }

    #[test]
    fn nulls_inside_lists_are_not_written_for_ever() {
        let wanted = json!({"conditions": [{"type": "Ready", "message": null}]});
        let change = patch(None, &wanted).unwrap();
        assert_eq!(patch(Some(&change), &wanted), None);
    }
}
