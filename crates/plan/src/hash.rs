//! Stable hashes of JSON values, for names and annotations.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a full hash; 64 bits are enough to tell a rack's revisions apart.
const DIGITS: usize = 16;

/// Hash of a value, independent of the order of keys.
pub fn of(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    let digest = Sha256::digest(text.as_bytes());
    let mut hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    hex.truncate(DIGITS);
    hex
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                quoted(key, out);
                out.push(':');
                canonical(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::String(text) => quoted(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.push_str(&value.to_string());
        }
    }
}

/// A JSON string. Nearly none needs escaping, and hashing is most of what a
/// decision costs.
fn quoted(text: &str, out: &mut String) {
    if text.bytes().any(|b| b < 0x20 || b == b'"' || b == b'\\') {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_and_the_order_of_items_does() {
        assert_eq!(of(&json!({"a": 1, "b": 2})), of(&json!({"b": 2, "a": 1})));
        assert_ne!(of(&json!([1, 2])), of(&json!([2, 1])));
    }

    #[test]
    fn text_is_written_as_json_has_it() {
        for text in
            ["plain", "a \"quoted\" one", "back\\slash", "line\nbreak", "\u{1}", "ümlaut \u{7f}"]
        {
            let mut out = String::new();
            quoted(text, &mut out);
            assert_eq!(out, Value::from(text).to_string());
        }
    }
}
