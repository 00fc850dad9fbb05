//! The schemas: structural, bounded, described.

use crate::judge::{definitions, judges};
use palladion_api::crd;
use serde_json::Value;

/// What a structural schema may not have (Kubernetes, "Specifying a structural
/// schema"), and what only a structural one has to have.
fn objections(schema: &Value, path: &str, found: &mut Vec<String>) {
    let mut object = |what: &str| found.push(format!("{path}: {what}"));
    let has_type = schema["type"].is_string()
        || schema["x-kubernetes-int-or-string"] == true
        || schema["x-kubernetes-preserve-unknown-fields"] == true;
    if !has_type {
        object("no type");
    }
    for word in [
        "$ref",
        "definitions",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "uniqueItems",
        "nullable",
        "const",
    ] {
        let is_of_quantities = word == "anyOf" && schema["x-kubernetes-int-or-string"] == true;
        if !schema[word].is_null() && !is_of_quantities {
            object(word);
        }
    }
    if schema["properties"].is_object() && schema["additionalProperties"].is_object() {
        object("properties beside additionalProperties");
    }
    if schema["type"] == "array" && !schema["items"].is_object() {
        object("a list of anything");
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        objections(field, &format!("{path}.{name}"), found);
    }
    for each in ["items", "additionalProperties"] {
        if schema[each].is_object() {
            objections(&schema[each], &format!("{path}[]"), found);
        }
    }
}

#[test]
fn the_schemas_are_structural() {
    for (kind, judge) in judges() {
        let mut found = Vec::new();
        for part in ["spec", "status"] {
            objections(&judge.schema["properties"][part], &format!("{kind}.{part}"), &mut found);
        }
        assert!(found.is_empty(), "{found:#?}");
    }
}

fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if field["description"].as_str().is_none_or(str::is_empty) {
            found.push(path.clone());
        }
        undescribed(field, &path, found);
        undescribed(&field["items"], &format!("{path}[]"), found);
    }
}

#[test]
fn every_field_says_what_it_is_for() {
    for (kind, judge) in judges() {
        let mut found = Vec::new();
        for part in ["spec", "status"] {
            undescribed(&judge.schema["properties"][part], &format!("{kind}.{part}"), &mut found);
        }
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn an_unknown_value_is_no_offer() {
    for definition in definitions() {
        assert!(!crd::schema(&definition).to_string().contains("\"Unknown\""));
    }
}

#[test]
fn each_has_a_status_of_their_own_and_columns_that_say_whether_all_is_well() {
    for definition in definitions() {
        let version = &definition.spec.versions[0];
        assert!(version.subresources.as_ref().is_some_and(|s| s.status.is_some()));
        let columns = version.additional_printer_columns.iter().flatten();
        assert!(columns.count() >= 6);
    }
}
