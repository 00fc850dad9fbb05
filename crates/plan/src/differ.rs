//! Does an observed object already say what we want of it? Decides whether a
//! server-side apply is sent at all.

mod added;

pub use added::without_added;

use serde_json::Value;

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
