//! The CustomResourceDefinitions, made from the types. Nothing is written by
//! hand: the chart's copies and the reference pages come from here.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceValidation,
};
use kube_core::{CustomResourceExt, Rule};
use serde_json::{Map, Value, json};

use crate::backup::CassandraBackup;
use crate::backup_schedule::CassandraBackupSchedule;
use crate::cluster::CassandraCluster;
use crate::component::Component;
use crate::member::CassandraMember;
use crate::node_agents::{NodeAgentGroup, NodeAgentProfile};
use crate::operator_config::OperatorConfig;
use crate::rabbitmq::RabbitmqCluster;
use crate::registration::Registration;
use crate::restore::CassandraRestore;
use crate::service_member::ServiceMember;
use crate::stack::Stack;
use crate::task::CassandraTask;
use crate::task_schedule::CassandraTaskSchedule;
use crate::zoned_stateful_set::{ZonedStatefulSet, root_rules};
use crate::zookeeper::ZookeeperCluster;
use crate::{labels, rules};

/// All kinds, in the order in which they are documented.
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![
        finished(CassandraCluster::crd(), &rules::cluster::of_the_whole_object()),
        finished(CassandraMember::crd(), &[]),
        finished(CassandraTask::crd(), &[]),
        finished(CassandraTaskSchedule::crd(), &rules::task_schedule::of_the_whole_object()),
        finished(CassandraBackup::crd(), &[]),
        finished(CassandraBackupSchedule::crd(), &rules::task_schedule::of_the_whole_object()),
        finished(CassandraRestore::crd(), &[]),
        finished(OperatorConfig::crd(), &[rules::named_default()]),
        finished(ZonedStatefulSet::crd(), &root_rules()),
        finished(ZookeeperCluster::crd(), &rules::zookeeper::of_the_whole_object()),
        finished(RabbitmqCluster::crd(), &rules::rabbitmq::of_the_whole_object()),
        finished(ServiceMember::crd(), &rules::service_member::of_the_whole_object()),
        finished(Component::crd(), &rules::component::of_the_whole_object()),
        finished(NodeAgentProfile::crd(), &[]),
        finished(NodeAgentGroup::crd(), &rules::node_agents::of_the_whole_group()),
        finished(Registration::crd(), &[]),
        finished(Stack::crd(), &rules::stack::of_the_whole_object()),
    ]
}

/// Kinds whose status is written by agents.
const MEMBERS: [&str; 2] = ["CassandraMember", "ServiceMember"];

/// The schema of a definition's only version, as JSON.
pub fn schema(definition: &CustomResourceDefinition) -> Value {
    let schema = definition.spec.versions.first().and_then(|v| v.schema.as_ref());
    serde_json::to_value(schema.and_then(|s| s.open_api_v3_schema.as_ref())).unwrap_or(Value::Null)
}

/// `root` are the rules that see the object's own name.
fn finished(mut definition: CustomResourceDefinition, root: &[Rule]) -> CustomResourceDefinition {
    definition.metadata.labels =
        Some([(labels::APP_NAME.to_string(), labels::PALLADION.to_string())].into());
    // An uninstalled chart must not take the definitions, and with them every ring, along.
    definition.metadata.annotations =
        Some([("helm.sh/resource-policy".to_string(), "keep".to_string())].into());
    let mut schema = schema(&definition);
    finish(&mut schema, "");
    if MEMBERS.contains(&definition.spec.names.kind.as_str()) {
        open_words(&mut schema["properties"]["status"]);
    }
    if !root.is_empty() {
        schema[RULES] = json!(root);
        say_what_a_quantity_is(&mut schema[RULES]);
    }
    if let Some(version) = definition.spec.versions.first_mut() {
        let open_api_v3_schema = serde_json::from_value(schema).ok();
        version.schema = Some(CustomResourceValidation { open_api_v3_schema });
    }
    definition
}

/// What Kubernetes itself accepts as a quantity.
const QUANTITY: &str =
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$";

/// Bounds of lists and texts in Kubernetes' own types that our rules walk: CEL
/// is only admitted over what is bounded. The type's name, the bound, its value.
const BOUNDS: [(&str, &str, u64); 11] = [
    ("env[].name", "maxLength", 253),
    ("volumeClaimTemplate.spec.accessModes", "maxItems", 4),
    ("volumeClaimTemplate.spec.accessModes[]", "maxLength", 32),
    ("volumeClaimTemplate.spec.storageClassName", "maxLength", 253),
    ("volumeClaimTemplate.spec.volumeMode", "maxLength", 32),
    ("volumeClaimTemplate.metadata.labels", "maxProperties", 32),
    ("volumeClaimTemplates[].spec.accessModes", "maxItems", 4),
    ("volumeClaimTemplates[].spec.accessModes[]", "maxLength", 32),
    ("volumeClaimTemplates[].spec.storageClassName", "maxLength", 253),
    ("volumeClaimTemplates[].spec.volumeMode", "maxLength", 32),
    ("volumeClaimTemplates[].metadata.labels", "maxProperties", 32),
];

/// Bring a generated schema to what the API server and people expect of one.
fn finish(schema: &mut Value, path: &str) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    // Absence says it already, and a rule that meets a null cannot be evaluated.
    map.remove("nullable");
    // The API server warns of formats that it does not know.
    match map.get("format").and_then(Value::as_str) {
        Some("uint8" | "uint16" | "int16") => map.insert("format".into(), json!("int32")),
        Some("uint32" | "uint64") => map.insert("format".into(), json!("int64")),
        _ => None,
    };
    if CLAIM_REQUESTS.iter().any(|end| path.ends_with(end)) {
        *map = quantity_text_map();
    }
    if map.get("x-kubernetes-int-or-string") == Some(&json!(true))
        && quantity(map.get("description"))
    {
        map.insert("description".into(), json!("A quantity, for example `500m`, `2` or `4Gi`."));
        map.insert("pattern".into(), json!(QUANTITY));
    }
    map.get_mut(RULES).into_iter().for_each(say_what_a_quantity_is);
    for (_, bound, value) in BOUNDS.iter().filter(|(end, ..)| path.ends_with(end)) {
        map.insert((*bound).into(), json!(value));
    }
    for (name, field) in
        map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        finish(field, &path);
    }
    if let Some(items) = map.get_mut("items") {
        finish(items, &format!("{path}[]"));
    }
    if let Some(values) = map.get_mut("additionalProperties") {
        finish(values, &format!("{path}.*"));
    }
}

/// A word of a status that agents write.
pub const WORD: &str = "^[A-Za-z][A-Za-z0-9]*$";
/// Characters of such a word at the most.
const LONGEST_WORD: u64 = 64;

/// Agents stay for long, also where an older release, with its schema, takes the place of
/// the one that they came with. A list of words would refuse the whole status of an agent
/// that has a newer one, and nobody would hear of that member any more; the operator
/// reads what it does not know as unknown. So the schema lists them for people only.
fn open_words(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(words)) = map.remove("enum") {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        let said = map.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = format!("{said} One of {}; newer agents may know more.", words.join(", "));
        map.insert("description".into(), json!(said.trim_start()));
        map.insert("type".into(), json!("string"));
        map.insert("pattern".into(), json!(WORD));
        map.insert("maxLength".into(), json!(LONGEST_WORD));
    }
    map.get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
        .for_each(|(_, field)| open_words(field));
    for each in ["items", "additionalProperties"] {
        map.get_mut(each).into_iter().for_each(open_words);
    }
}

/// Storage requests of a claim, which rules compare.
const CLAIM_REQUESTS: [&str; 2] = [
    "volumeClaimTemplates[].spec.resources.requests.*",
    "volumeClaimTemplate.spec.resources.requests.*",
];

/// A quantity that must be a text, because a rule that reads a number or a
/// text is estimated as if the text could fill the whole request.
pub(crate) fn quantity_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    quantity_text_map().into()
}

/// At most so many labels, whose values are such as labels of Kubernetes may have.
pub(crate) fn label_values(most: u32) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": most,
        "additionalProperties": {
            "type": "string",
            "maxLength": 63,
            "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
        }
    })
}

/// Where the rules of a schema are.
const RULES: &str = "x-kubernetes-validations";

/// What is said of a text that is no quantity.
const NOT_A_QUANTITY: &str =
    "amounts of memory and storage must be quantities, for example 512Mi or 4Gi";

/// A rule that reads a text as a quantity cannot be evaluated where it is none. The API
/// server then answers with the rule's message or, where it has none but an expression,
/// with all of the rule (`ruleErrorString` in its apiextensions).
fn say_what_a_quantity_is(rules: &mut Value) {
    for rule in rules.as_array_mut().into_iter().flatten() {
        let reads = rule["rule"].as_str().is_some_and(|text| text.contains("quantity("));
        if reads && rule.get("message").is_none() {
            rule["message"] = json!(NOT_A_QUANTITY);
        }
    }
}

pub(crate) fn quantity_text_map() -> Map<String, Value> {
    Map::from_iter([
        ("description".into(), json!("A quantity, for example `512Mi` or `4Gi`.")),
        ("type".into(), json!("string")),
        ("maxLength".into(), json!(32)),
        ("pattern".into(), json!(QUANTITY)),
    ])
}

fn quantity(description: Option<&Value>) -> bool {
    description.and_then(Value::as_str).is_some_and(|text| text.starts_with("Quantity is"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_of(schema: &Value, found: &mut Vec<Value>) {
        match schema {
            Value::Object(map) => {
                found.extend(
                    map.get(RULES).and_then(Value::as_array).into_iter().flatten().cloned(),
                );
                map.values().for_each(|value| rules_of(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| rules_of(item, found)),
            _ => {}
        }
    }

    /// Otherwise the answer to a misspelt amount quotes hundreds of characters of CEL.
    #[test]
    fn a_rule_that_reads_a_quantity_says_what_one_is_where_it_cannot_be_evaluated() {
        let mut rules = Vec::new();
        all().iter().for_each(|definition| rules_of(&schema(definition), &mut rules));
        let reads = |rule: &&Value| rule["rule"].as_str().unwrap_or_default().contains("quantity(");
        let reading: Vec<&Value> = rules.iter().filter(reads).collect();
        assert!(reading.len() >= 3, "{}", reading.len());
        for rule in reading {
            assert!(rule["message"].as_str().is_some_and(|m| m.len() < 200), "{rule:#}");
            assert!(rule["messageExpression"].is_string(), "{rule:#}");
        }
    }
}
