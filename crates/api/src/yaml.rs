//! YAML that every reader takes alike. Go's and Java's readers speak YAML 1.1,
//! for which a plain `Off` or `yes` is a boolean; our writer speaks 1.2, for which
//! it is text and needs no quotes. Kubernetes refuses a definition whose default
//! is such a boolean, and Cassandra a setting.

use serde_json::Value;

/// Text that YAML 1.1 takes for a boolean and 1.2 does not, in small letters.
const BOOLEANS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
/// Nothing that begins with `@` is plain text in any YAML.
const QUOTED: &str = "@quoted:";

/// As YAML, in the order of the value's maps; keys in quotes come first.
///
/// # Errors
/// The value has no form in YAML; one that came from JSON always has.
pub fn to_string(value: &Value) -> Result<String, serde_yaml::Error> {
    Ok(serde_yaml::to_string(&marked(value))?.replace(QUOTED, ""))
}

fn marked(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(mark(text)),
        Value::Array(all) => all.iter().map(marked).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (mark(key), marked(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn mark(text: &str) -> String {
    let is_boolean = BOOLEANS.contains(&text.to_ascii_lowercase().as_str());
    if is_boolean { format!("{QUOTED}{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_older_readers_take_for_a_boolean_is_quoted() {
        let value = json!({"default": "Off", "enum": ["Off", "Password"], "y": {"no": "ON"}});
        assert_eq!(
            to_string(&value).expect("YAML"),
            "'y':\n  'no': 'ON'\ndefault: 'Off'\nenum:\n- 'Off'\n- Password\n"
        );
    }

    #[test]
    fn all_else_is_as_it_was() {
        let value = json!({"a": true, "b": "true", "c": "offline", "d": "Off we go: \"@\"\nno\n"});
        let text = to_string(&value).expect("YAML");
        assert_eq!(text, serde_yaml::to_string(&value).expect("YAML"));
        let back: Value = serde_yaml::from_str(&text).expect("what was written");
        assert_eq!(back, value);
    }
}
