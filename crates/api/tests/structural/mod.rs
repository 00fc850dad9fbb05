//! The part of a CustomResourceDefinition's schema that is not CEL, judged in
//! the API server's words as far as manifests expect them.

use serde_json::Value;

/// What the schema has against an object.
pub fn refusals(schema: &Value, object: &Value) -> Vec<String> {
    let mut said = Vec::new();
    // The API server checks these two itself.
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) && !object[name].is_null() {
            value(field, &object[name], name, &mut said);
        }
    }
    said
}

/// Rules are not run over an object that has the wrong shape.
pub fn blocks_rules(refusal: &str) -> bool {
    ["unknown field", "Required value", "must be of type", "Too many", "Too long"]
        .iter()
        .any(|w| refusal.contains(w))
}

fn value(schema: &Value, value: &Value, path: &str, said: &mut Vec<String>) {
    if let Some(wanted) = wrong_type(schema, value) {
        said.push(format!("{path}: Invalid value: must be of type {wanted}: {value}"));
        return;
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.contains(value)) {
        said.push(format!("{path}: Unsupported value: {value}: supported values: {values:?}"));
    }
    match value {
        Value::String(text) => string(schema, text, path, said),
        Value::Number(number) => bounds(schema, number.as_f64().unwrap_or_default(), path, said),
        Value::Array(items) => {
            at_most(schema, "maxItems", items.len(), "Too many", path, said);
            at_least(schema, "minItems", (items.len(), "items"), path, said);
            duplicates(schema, items, path, said);
            for (index, item) in items.iter().enumerate() {
                self::value(&schema["items"], item, &format!("{path}[{index}]"), said);
            }
        }
        Value::Object(fields) => {
            at_most(schema, "maxProperties", fields.len(), "Too many", path, said);
            at_least(schema, "minProperties", (fields.len(), "properties"), path, said);
            object(schema, fields, path, said);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn wrong_type(schema: &Value, value: &Value) -> Option<String> {
    if schema["x-kubernetes-int-or-string"] == true {
        return (!value.is_i64() && !value.is_u64() && !value.is_string())
            .then(|| "integer or string".to_string());
    }
    let wanted = schema["type"].as_str()?;
    let right = match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a schema of type {other}"),
    };
    (!right).then(|| wanted.to_string())
}

fn string(schema: &Value, text: &str, path: &str, said: &mut Vec<String>) {
    at_most(schema, "maxLength", text.chars().count(), "Too long", path, said);
    if schema["minLength"].as_u64().is_some_and(|least| (text.chars().count() as u64) < least) {
        said.push(format!(
            "{path}: Invalid value: \"{text}\": {path} in body should be at least {} chars long",
            schema["minLength"]
        ));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && !regex::Regex::new(pattern)
            .expect("a pattern of a schema should be a regular expression")
            .is_match(text)
    {
        said.push(format!(
            "{path}: Invalid value: \"{text}\": {path} in body should match '{pattern}'"
        ));
    }
}

fn bounds(schema: &Value, number: f64, path: &str, said: &mut Vec<String>) {
    if schema["minimum"].as_f64().is_some_and(|least| number < least) {
        said.push(format!(
            "{path}: Invalid value: {number}: {path} in body should be greater than or equal to {}",
            schema["minimum"]
        ));
    }
    if schema["maximum"].as_f64().is_some_and(|most| number > most) {
        said.push(format!(
            "{path}: Invalid value: {number}: {path} in body should be less than or equal to {}",
            schema["maximum"]
        ));
    }
}

fn at_most(
    schema: &Value,
    bound: &str,
    size: usize,
    words: &str,
    path: &str,
    said: &mut Vec<String>,
) {
    if schema[bound].as_u64().is_some_and(|most| size as u64 > most) {
        said.push(format!("{path}: {words}: {size}: must have at most {}", schema[bound]));
    }
}

fn object(
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    path: &str,
    said: &mut Vec<String>,
) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            said.push(format!("{path}.{name}: Required value"));
        }
    }
    let free = schema["x-kubernetes-preserve-unknown-fields"] == true;
    for (name, field) in fields {
        let path = format!("{path}.{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(known), _) => value(known, field, &path, said),
            (None, Some(any)) => value(any, field, &path, said),
            (None, None) if free => {}
            (None, None) => said.push(format!("strict decoding error: unknown field \"{path}\"")),
        }
    }
}

fn at_least(
    schema: &Value,
    bound: &str,
    (size, what): (usize, &str),
    path: &str,
    said: &mut Vec<String>,
) {
    if let Some(least) = schema[bound].as_u64().filter(|least| (size as u64) < *least) {
        said.push(format!(
            "{path}: Invalid value: {size}: {path} in body should have at least {least} {what}"
        ));
    }
}

/// Items of a list that is a map must differ in their keys.
fn duplicates(schema: &Value, items: &[Value], path: &str, said: &mut Vec<String>) {
    let Some(keys) = schema["x-kubernetes-list-map-keys"].as_array() else {
        return;
    };
    let key = |item: &Value| -> Vec<Value> {
        keys.iter().filter_map(Value::as_str).map(|key| item[key].clone()).collect()
    };
    for (index, item) in items.iter().enumerate() {
        if items[..index].iter().any(|earlier| key(earlier) == key(item)) {
            said.push(format!("{path}[{index}]: Duplicate value: {item}"));
        }
    }
}
