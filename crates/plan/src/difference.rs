//! Merge patches (RFC 7396) from what is to what should be.

use serde_json::{Map, Value};

/// What turns `have` into exactly `want`; `None` if it is so already.
pub fn difference(have: Option<&Value>, want: &Value) -> Option<Value> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_should_not_be_there_is_taken_away_at_any_depth() {
        let have = json!({ "a": 1, "b": { "c": 2, "d": [1] }, "e": 5 });
        let want = json!({ "a": 1, "b": { "d": [2] }, "f": 6 });
        let change = json!({ "b": { "c": null, "d": [2] }, "e": null, "f": 6 });
        assert_eq!(difference(Some(&have), &want), Some(change));
        assert_eq!(difference(Some(&want), &want), None);
        assert_eq!(difference(None, &want), Some(want.clone()));
        assert_eq!(difference(None, &Value::Null), None);
    }
}
