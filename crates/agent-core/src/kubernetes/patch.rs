//! The difference between two statuses as a JSON merge patch (RFC 7396).

use serde_json::{Map, Value};

/// What turns `from` into `to`; `None` where they are equal.
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    if from == to {
        return None;
    }
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return Some(to.clone());
    };
    let mut patch = Map::new();
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, new) in to {
        let change = match from.get(key) {
            Some(old) => difference(old, new),
            None => Some(new.clone()),
        };
        if let Some(change) = change {
            patch.insert(key.clone(), change);
        }
    }
    Some(Value::Object(patch))
}

/// What tells only how far something is, and may wait.
const PROGRESS: [(&str, &str); 3] =
    [("server", "message"), ("operation", "progress"), ("operation", "message")];

/// Does a patch tell of progress and of nothing else?
pub fn is_progress(patch: &Value) -> bool {
    let Some(parts) = patch.as_object() else {
        return false;
    };
    parts.iter().all(|(part, change)| {
        change.as_object().is_some_and(|fields| {
            fields.keys().all(|field| PROGRESS.contains(&(part.as_str(), field.as_str())))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_sent_and_what_is_gone_is_nulled() {
        let from = json!({"a": 1, "b": {"x": 1, "y": 2}, "c": [1], "d": 1});
        let to = json!({"a": 1, "b": {"x": 1, "y": 3}, "c": [1, 2], "e": 5});
        assert_eq!(
            difference(&from, &to),
            Some(json!({"b": {"y": 3}, "c": [1, 2], "d": null, "e": 5}))
        );
        assert_eq!(difference(&to, &to), None);
        assert_eq!(difference(&Value::Null, &json!({"a": 1})), Some(json!({"a": 1})));
    }

    #[test]
    fn progress_may_wait_and_news_may_not() {
        assert!(is_progress(&json!({"operation": {"progress": 3, "message": "x"}})));
        assert!(!is_progress(&json!({"operation": {"progress": 3, "state": "Succeeded"}})));
        assert!(!is_progress(&json!({"server": {"message": "x", "mode": "NORMAL"}})));
        assert!(!is_progress(&json!({"hostID": "h"})));
    }
}
