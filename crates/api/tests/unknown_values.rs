//! Agents of one version stay beside operators of another: a value of an enum
//! that one side does not know ends nobody's watch. Each enum of the schema of
//! `CassandraMember` is read with a value that does not exist.

use palladion_api::crd;
use palladion_api::member::{CassandraMember, CassandraMemberStatus};
use serde_json::{Value, json};
use std::sync::LazyLock;

const INVENTED: &str = "Invented";

/// Made once: there are many enums, and the definitions of all kinds take their time.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let definitions = crd::all();
    let member = definitions.iter().find(|d| d.spec.names.kind == "CassandraMember");
    crd::schema(member.expect("there is a kind of members"))
});

/// The words of an enum: a list, or what the description of an open one names.
fn words(schema: &Value) -> Option<Vec<String>> {
    if let Some(list) = schema["enum"].as_array() {
        return Some(list.iter().filter_map(Value::as_str).map(str::to_string).collect());
    }
    let said = schema["description"].as_str().filter(|_| schema["pattern"] == crd::WORD)?;
    let (_, list) = said.rsplit_once("One of ")?;
    Some(list.split('`').skip(1).step_by(2).map(str::to_string).collect())
}

/// Steps to each enum: a field, or `*` into a list or a map.
fn enums(schema: &Value, at: &[String], found: &mut Vec<Vec<String>>) {
    let into = |step: &str| [at, &[step.to_string()]].concat();
    if words(schema).is_some() {
        found.push(at.to_vec());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        enums(field, &into(name), found);
    }
    for each in ["items", "additionalProperties"] {
        if schema[each].is_object() {
            enums(&schema[each], &into("*"), found);
        }
    }
}

/// The least object that the schema allows, with the invented value at the end of
/// this way.
fn example(schema: &Value, way: Option<&[String]>) -> Value {
    if way.is_some_and(<[String]>::is_empty) {
        return json!(INVENTED);
    }
    let (step, rest) = match way.and_then(<[String]>::split_first) {
        Some((step, rest)) => (Some(step.as_str()), Some(rest)),
        None => (None, None),
    };
    match schema["type"].as_str() {
        Some("object") if schema["additionalProperties"].is_object() => match step {
            Some(_) => json!({ "x": example(&schema["additionalProperties"], rest) }),
            None => json!({}),
        },
        Some("object") => {
            let required = schema["required"].as_array();
            let is_required =
                |name: &str| required.is_some_and(|all| all.iter().any(|r| r == name));
            let fields = schema["properties"].as_object().into_iter().flatten();
            let wanted =
                fields.filter(|(name, _)| is_required(name) || step == Some(name.as_str()));
            wanted
                .map(|(name, field)| {
                    let rest = rest.filter(|_| step == Some(name.as_str()));
                    (name.clone(), example(field, rest))
                })
                .collect()
        }
        Some("array") if step.is_some() => json!([example(&schema["items"], rest)]),
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("string") | None if schema["format"] == "date-time" => json!("2026-01-01T00:00:00Z"),
        Some("string") | None => match words(schema) {
            Some(words) => json!(words[0]),
            None => json!("x"),
        },
        Some(other) => panic!("a type of schema that is new: {other}"),
    }
}

fn ways() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for part in ["spec", "status"] {
        enums(&SCHEMA["properties"][part], &[part.to_string()], &mut found);
    }
    found
}

fn stored(way: &[String]) -> Value {
    let mut root = SCHEMA.clone();
    // As the API server stores it; the schema's own fields are the kind's.
    root["required"] = json!(["spec", "metadata"]);
    let mut object = example(&root, Some(way));
    object["apiVersion"] = json!("palladion.dev/v1alpha1");
    object["kind"] = json!("CassandraMember");
    object["metadata"] = json!({ "name": "demo-dc1-a-0" });
    object
}

fn at<'a>(object: &'a Value, way: &[String]) -> &'a Value {
    way.iter().fold(object, |value, step| match (step.as_str(), value) {
        ("*", Value::Array(all)) => &all[0],
        ("*", value) => &value["x"],
        (name, value) => &value[name],
    })
}

#[test]
fn every_enum_of_a_member_is_read_with_a_value_that_is_not_known() {
    let ways = ways();
    assert!(ways.len() >= 20, "{ways:?}");
    for way in &ways {
        let object = stored(way);
        assert_eq!(at(&object, way), INVENTED, "{way:?} of {object}");
        let member = serde_json::from_value::<CassandraMember>(object);
        let member = member.unwrap_or_else(|e| panic!("{}: {e}", way.join(".")));
        let mut named = member.spec.unknown();
        named.extend(member.status.iter().flat_map(CassandraMemberStatus::unknown));
        let field = way.join(".").replace(".*", "").replace("spec.owes", "spec.pendingMaintenance");
        assert!(
            named.len() == 1 && field.starts_with(named[0]),
            "{field} is named, so that readers can say so: {named:?}"
        );
    }
}

/// What the operator writes back of a list is what a newer one wrote.
#[test]
fn what_is_not_known_of_a_spec_is_written_as_it_was_read() {
    for way in ways().iter().filter(|way| way[0] == "spec") {
        let member: CassandraMember = serde_json::from_value(stored(way)).expect("a member");
        assert_eq!(at(&json!(member), way), INVENTED, "{way:?}");
    }
}

/// The schema at the end of this way.
fn field<'a>(schema: &'a Value, way: &[String]) -> &'a Value {
    way.iter().fold(schema, |schema, step| match step.as_str() {
        "*" if schema["items"].is_object() => &schema["items"],
        "*" => &schema["additionalProperties"],
        name => &schema["properties"][name],
    })
}

/// Otherwise the whole status of an agent that has a newer word is refused where an older
/// release, and with it its schema, has taken the place of a newer one.
#[test]
fn the_schema_takes_words_of_newer_agents_in_a_status_and_only_known_ones_in_a_spec() {
    let (status, spec): (Vec<_>, Vec<_>) = ways().into_iter().partition(|w| w[0] == "status");
    assert!(status.len() >= 10 && spec.len() >= 10, "{status:?} {spec:?}");
    for way in &status {
        let field = field(&SCHEMA, way);
        assert!(field["enum"].is_null(), "{way:?} is closed: {field}");
        let is_open = field["pattern"] == crd::WORD && field["maxLength"] == 64;
        assert!(is_open, "{way:?}: {field}");
    }
    for way in &spec {
        assert!(field(&SCHEMA, way)["enum"].is_array(), "{way:?} is written by people");
    }
}

#[test]
fn no_schema_offers_an_unknown_value() {
    for definition in crd::all() {
        let mut schema = crd::schema(&definition);
        // Whether a ring is well may be unknown: there it is a word of its own.
        let status = schema["properties"]["status"]["properties"].as_object_mut();
        if definition.spec.names.kind == "CassandraCluster" {
            let health = status.and_then(|fields| fields.remove("health"));
            assert!(health.is_some_and(|health| health.to_string().contains("\"Unknown\"")));
        }
        let text = schema.to_string();
        assert!(!text.contains("\"Unknown\""), "{}", definition.spec.names.kind);
    }
}

/// Every value that is known stays what it is.
#[test]
fn known_values_are_known() {
    let way = |text: &str| text.split('.').map(str::to_string).collect::<Vec<_>>();
    for (field, value) in [
        ("spec.run", "Stopped"),
        ("spec.start.kind", "Found"),
        ("spec.operation.kind", "RemoveNode"),
        ("spec.replace.cause", "Person"),
        ("spec.runtimeSettings.logLevels.*", "DEBUG"),
        ("status.server.state", "Running"),
    ] {
        let mut object = stored(&way(field));
        let text = object.to_string().replace(INVENTED, value);
        object = serde_json::from_str(&text).expect("JSON");
        let member: CassandraMember = serde_json::from_value(object).expect("a member");
        let unknown = member.status.map(|s| s.unknown()).unwrap_or_default();
        assert!(member.spec.unknown().is_empty() && unknown.is_empty(), "{field}: {value}");
    }
}
