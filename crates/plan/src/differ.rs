//! Does an observed object already say what we want of it? Decides whether a
//! server-side apply is sent at all.

use serde_json::{Map, Value, json};

/// Does `observed` contain everything that `wanted` states? Fields that only
/// the observed object has are defaults or somebody else's and do not count.
/// Quantities that are written differently and mean the same are equal.
pub fn contains(observed: &Value, wanted: &Value) -> bool {
    match (observed, wanted) {
        (_, Value::Null) => true,
        (Value::Object(have), Value::Object(want)) => {
            want.iter().all(|(key, value)| match have.get(key) {
                Some(present) => contains(present, value),
                None => is_empty(value),
            })
        }
        (Value::Array(have), Value::Array(want)) => {
            have.len() == want.len() && have.iter().zip(want).all(|(h, w)| contains(h, w))
        }
        (have, want) => have == want || same_quantity(have, want),
    }
}

/// Maps whose every key means something to whoever reads them: a key that somebody
/// adds to a selector makes it select nothing. What an object of ours states
/// there is all that there should be. An apply takes out no key of others.
const WHOLLY_OURS: [&str; 3] = ["/data", "/spec/selector", "/spec/selector/matchLabels"];

/// The merge patch that takes out what others have added to maps that are wholly
/// ours; `None` = they have added nothing.
pub fn without_added(observed: &Value, wanted: &Value) -> Option<Value> {
    let mut patch = Value::Null;
    for pointer in WHOLLY_OURS {
        let map = |object: &Value| object.pointer(pointer).and_then(Value::as_object).cloned();
        let (Some(have), Some(want)) = (map(observed), map(wanted)) else {
            continue;
        };
        let added = have.keys().filter(|key| !want.contains_key(*key));
        let nulls: Map<String, Value> = added.map(|key| (key.clone(), Value::Null)).collect();
        if nulls.is_empty() {
            continue;
        }
        let mut at = &mut patch;
        for field in pointer.split('/').skip(1) {
            if !at[field].is_object() {
                at[field] = json!({});
            }
            at = &mut at[field];
        }
        if let Some(map) = at.as_object_mut() {
            map.extend(nulls);
        }
    }
    patch.is_object().then_some(patch)
}

/// An absent field equals an empty one: the API server drops empty maps and lists.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn same_quantity(a: &Value, b: &Value) -> bool {
    match (quantity(a), quantity(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// A Kubernetes quantity in thousandths, for comparison only; `None` if it is not one.
pub fn quantity(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let factor: i128 = match suffix {
        "m" => 1,
        "" => 1000,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "T" => 1_000_000_000_000_000,
        "Ki" => 1000 << 10,
        "Mi" => 1000 << 20,
        "Gi" => 1000 << 30,
        "Ti" => 1000 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let scale = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some(digits.parse::<i128>().ok()?.checked_mul(factor)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_that_the_server_added_do_not_count() {
        assert!(contains(&json!({"a": 1, "b": 2}), &json!({"a": 1})));
        assert!(!contains(&json!({"a": 1}), &json!({"a": 2})));
        assert!(!contains(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(contains(&json!({}), &json!({"labels": {}})));
    }

    #[test]
    fn a_key_that_somebody_added_is_taken_out_of_what_is_wholly_ours() {
        let of = |observed: Value, wanted: Value| without_added(&observed, &wanted);
        let ours = json!({"data": {"a": "1"}});
        assert_eq!(of(ours.clone(), ours.clone()), None);
        let added = json!({"data": {"a": "1", "b": "2"}, "binaryData": {"c": ""}});
        assert_eq!(of(added, ours), Some(json!({"data": {"b": null}})));
        let service = json!({"spec": {"selector": {"app": "x"}}});
        let of_nothing =
            json!({"spec": {"selector": {"app": "x", "role": "y"}, "type": "ClusterIP"}});
        let patch = json!({"spec": {"selector": {"role": null}}});
        assert_eq!(of(of_nothing, service), Some(patch));
        let budget = json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}});
        let of_less = json!({"spec": {"selector": {
            "matchLabels": {"app": "x", "role": "y"}, "matchExpressions": []}}});
        let patch = json!({"spec": {"selector": {
            "matchExpressions": null, "matchLabels": {"role": null}}}});
        assert_eq!(of(of_less, budget), Some(patch));
        let template = json!({"spec": {"template": {"metadata": {"annotations": {"a": "1"}}}}});
        assert_eq!(of(template, json!({"spec": {"template": {}}})), None, "others add there");
    }

    #[test]
    fn quantities_are_compared_by_what_they_mean() {
        assert!(contains(&json!({"cpu": "500m"}), &json!({"cpu": "0.5"})));
        assert!(contains(&json!({"memory": "1Gi"}), &json!({"memory": "1024Mi"})));
        assert!(!contains(&json!({"memory": "1Gi"}), &json!({"memory": "1000Mi"})));
    }

    #[test]
    fn a_missing_list_item_is_a_difference() {
        assert!(!contains(&json!({"args": ["a"]}), &json!({"args": ["a", "b"]})));
    }
}
