//! Every admission rule, run offline over the manifests that the tests on the
//! testbed hand to the real API server.

mod fields;
#[path = "../../../tests/manifests/manifests.rs"]
mod manifests;
mod offline;
mod structural;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use kube_core::cel::{CompiledSchema, Validator, apply_defaults, compile_schema};
use manifests::{Manifest, Verdict, read_all};
use serde::Deserialize as _;
use serde_json::Value;

/// Each folder of manifests, with the kinds whose every rule they must break.
const FOLDERS: [(&str, &[&str]); 6] = [
    (
        "",
        &[
            "CassandraCluster",
            "CassandraMember",
            "CassandraTask",
            "CassandraTaskSchedule",
            "CassandraBackup",
            "CassandraBackupSchedule",
            "OperatorConfig",
        ],
    ),
    ("zoned", &["ZonedStatefulSet"]),
    ("stack", &["Component", "NodeAgentProfile", "NodeAgentGroup", "Registration", "Stack"]),
    ("zookeeper", &["ZookeeperCluster"]),
    ("rabbitmq", &["RabbitmqCluster"]),
    ("service-member", &["ServiceMember"]),
];

fn folders() -> impl Iterator<Item = (Vec<Manifest>, &'static [&'static str])> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/manifests");
    FOLDERS
        .iter()
        .map(move |(folder, kinds)| (root.join(folder), *kinds))
        .filter(|(folder, _)| folder.join("refused").is_dir())
        .map(|(folder, kinds)| (read_all(&folder), kinds))
}

fn all() -> Vec<Manifest> {
    folders().flat_map(|(manifests, _)| manifests).collect()
}

/// A kind's schema, its rules compiled once.
struct Judge {
    schema: Value,
    rules: CompiledSchema,
}

fn judges() -> &'static BTreeMap<String, Judge> {
    static JUDGES: LazyLock<BTreeMap<String, Judge>> = LazyLock::new(|| {
        let definitions = palladion_api::crd::all();
        let judge = |definition| {
            let schema = palladion_api::crd::schema(definition);
            let rules = compile_schema(&offline::adapted(schema.clone()));
            Judge { schema, rules }
        };
        definitions.iter().map(|d| (d.spec.names.kind.clone(), judge(d))).collect()
    });
    &JUDGES
}

/// What is said against an object, and by which rules.
#[derive(Default)]
struct Refusal {
    words: Vec<String>,
    rules: Vec<String>,
}

fn judge(object: &Value, old: Option<&Value>) -> Refusal {
    let Judge { schema, rules } = &judges()[object["kind"].as_str().expect("an object has a kind")];
    let mut refusal = Refusal { words: structural::refusals(schema, object), rules: Vec::new() };
    // As the API server has it: rules see an object with its defaults, and none that has the wrong shape.
    if refusal.words.iter().any(|w| structural::blocks_rules(w)) {
        return refusal;
    }
    let (new, old) = (apply_defaults(schema, object), old.map(|o| apply_defaults(schema, o)));
    if let Err(errors) = Validator::new().validate_compiled(rules, &new, old.as_ref()) {
        for error in errors.iter() {
            refusal.words.push(error.to_string());
            refusal.rules.push(error.rule.clone());
        }
    }
    refusal
}

#[test]
fn what_is_good_is_accepted_and_what_is_not_is_refused_with_the_right_words() {
    let mut wrong = Vec::new();
    let (mut judged, mut left) = (0, Vec::new());
    for manifest in all() {
        if let Some(why) = &manifest.offline_unsupported {
            left.push(format!("{} ({why})", manifest.name));
            continue;
        }
        judged += 1;
        if let Some(old) = &manifest.old {
            let said = judge(old, None).words;
            if !said.is_empty() {
                wrong.push(format!(
                    "{}: what was there before is itself refused: {said:#?}",
                    manifest.name
                ));
            }
        }
        let said = judge(&manifest.new, manifest.old.as_ref()).words;
        let missing: Vec<&String> =
            manifest.expect.iter().filter(|e| !said.iter().any(|s| s.contains(*e))).collect();
        match manifest.verdict {
            Verdict::Accepted if !said.is_empty() => {
                wrong.push(format!("{}: refused: {said:#?}", manifest.name))
            }
            Verdict::Refused if said.is_empty() => {
                wrong.push(format!("{}: accepted", manifest.name))
            }
            Verdict::Refused if !missing.is_empty() => {
                wrong.push(format!("{}: said {said:#?} and not {missing:?}", manifest.name))
            }
            Verdict::Accepted | Verdict::Refused => {}
        }
    }
    println!("{judged} manifests judged offline, {} left to the API server: {left:?}", left.len());
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_refusal_quotes_a_rule() {
    // A limit may be a number or a text: to guard it costs more than a rule may.
    const COSTS_TOO_MUCH: &str = "memory-limit-of-no-unit";
    let refused = |m: &&Manifest| m.verdict == Verdict::Refused && !m.name.contains(COSTS_TOO_MUCH);
    for manifest in all().iter().filter(refused) {
        for said in judge(&manifest.new, manifest.old.as_ref()).words {
            let is_quoted =
                said.contains("quantity(") || said.contains("has(r.") || said.len() > 500;
            assert!(!is_quoted, "{}: {said}", manifest.name);
        }
    }
}

#[test]
fn every_rule_is_broken_by_some_manifest() {
    let mut broken = BTreeSet::new();
    for manifest in all().iter().filter(|m| m.verdict == Verdict::Refused) {
        broken.extend(judge(&manifest.new, manifest.old.as_ref()).rules);
    }
    let mut rules = Vec::new();
    for kind in folders().flat_map(|(_, kinds)| kinds) {
        let schema = offline::adapted(judges()[*kind].schema.clone());
        collect(&schema, &mut rules);
    }
    assert!(
        rules.len() > 50,
        "only {} rules found: the walk over the schema is broken",
        rules.len()
    );
    let untested: Vec<&String> = rules.iter().filter(|r| !broken.contains(*r)).collect();
    assert!(untested.is_empty(), "write a manifest in tests/manifests/refused for: {untested:#?}");
}

fn collect(schema: &Value, rules: &mut Vec<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        rules.push(rule["rule"].as_str().expect("a rule has a text").to_string());
    }
    for field in schema["properties"].as_object().into_iter().flatten() {
        collect(field.1, rules);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            collect(&schema[inner], rules);
        }
    }
}

#[test]
fn every_field_says_what_it_is_for() {
    let mut silent = Vec::new();
    for (kind, judge) in judges() {
        for part in ["spec", "status"] {
            undocumented(&judge.schema["properties"][part], &format!("{kind}.{part}"), &mut silent);
        }
    }
    assert!(silent.is_empty(), "no description: {silent:#?}");
}

/// A StatefulSet's own words, which Kubernetes documents.
const KUBERNETES_OWN: [&str; 4] = [
    "ZonedStatefulSet.spec.template",
    "NodeAgentGroup.spec.template",
    "Component.spec.template",
    "Component.spec.volumeClaimTemplates",
];

fn undocumented(schema: &Value, path: &str, silent: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if KUBERNETES_OWN.contains(&path.as_str()) {
            continue;
        }
        if field["description"].as_str().is_none_or(str::is_empty) {
            silent.push(path.clone());
        }
        undocumented(field, &path, silent);
        undocumented(&field["items"], &format!("{path}[]"), silent);
    }
}

fn examples() -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = ["cassandra", "tasks"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("examples should be there"));
    entries
        .map(|entry| {
            let path = entry.expect("a folder should list its files").path();
            let text = std::fs::read_to_string(&path).expect("an example should be readable");
            let object =
                serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), object)
        })
        .collect()
}

#[test]
fn examples_are_accepted() {
    let examples = examples();
    assert!(examples.len() >= 3, "only {} examples found", examples.len());
    for (name, object) in examples {
        let said = judge(&object, None).words;
        assert!(said.is_empty(), "{name}: {said:#?}");
    }
}

/// Every object of the examples of stacks; those of a Stack's services are judged by
/// their own kinds.
fn examples_of_stacks() -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stack");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root).expect("examples should be there") {
        let path = entry.expect("a folder should list its files").path();
        let text = std::fs::read_to_string(&path).expect("an example should be readable");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for document in serde_yaml::Deserializer::from_str(&text) {
            let object = Value::deserialize(document).expect("an example should be YAML");
            for service in object["spec"]["services"].as_array().into_iter().flatten() {
                let child = serde_json::json!({
                    "apiVersion": object["apiVersion"], "kind": service["kind"],
                    "metadata": { "name": service["name"] }, "spec": service["spec"],
                });
                all.push((format!("{name}: {}", service["name"]), child));
            }
            all.push((name.clone(), object));
        }
    }
    all
}

#[test]
fn examples_of_stacks_are_accepted() {
    let ours = |(_, object): &(String, Value)| {
        object["apiVersion"].as_str().is_some_and(|version| version.starts_with("palladion.dev/"))
    };
    let examples: Vec<(String, Value)> = examples_of_stacks().into_iter().filter(ours).collect();
    for kind in FOLDERS[2].1 {
        assert!(examples.iter().any(|(_, o)| o["kind"] == *kind), "no example of a {kind}");
    }
    for (name, object) in examples {
        let said = judge(&object, None).words;
        assert!(said.is_empty(), "{name}: {said:#?}");
    }
}

#[test]
fn every_kind_of_task_has_an_example() {
    let examples = examples();
    for kind in palladion_api::task::TaskKind::ALL {
        let is_one = |(_, object): &&(String, Value)| object["spec"][kind.field()].is_object();
        assert!(examples.iter().any(|e| is_one(&e)), "no example has {}", kind.field());
    }
}

#[test]
fn the_full_example_shows_every_field() {
    let example = |wanted: &str| {
        let found = examples().into_iter().find(|(name, _)| name == wanted);
        found.map(|(_, object)| object).expect("the example should be there")
    };
    let mut object = example("full.yaml");
    // What stands in the place of racks has an example of its own.
    let zones = example("zones.yaml");
    for field in ["zones", "zoneNodeLabel", "rackTemplate"] {
        object["spec"]["datacenter"][field] = zones["spec"]["datacenter"][field].clone();
    }
    // So has the other source of certificates.
    let signed = example("client-certificates.yaml");
    let operator = &signed["spec"]["tls"]["client"]["certificates"]["operator"];
    object["spec"]["tls"]["client"]["certificates"]["operator"] = operator.clone();
    // So have the other stores of backups.
    for store in ["gcs", "azure", "volume"] {
        let of = |object: &Value| object["spec"]["backup"]["store"][store].clone();
        let all = examples();
        let found = all.iter().map(|(_, object)| of(object)).find(Value::is_object);
        object["spec"]["backup"]["store"][store] = found.unwrap_or_default();
    }
    // So has the restore that a ring begins with.
    let restored = example("restored-ring.yaml")["spec"]["backup"]["restore"].clone();
    object["spec"]["backup"]["restore"] = restored;
    let schema = &judges()["CassandraCluster"].schema["properties"]["spec"];
    let mut missing = Vec::new();
    absent(schema, &object["spec"], "spec", &mut missing);
    assert!(missing.is_empty(), "examples/cassandra/full.yaml does not show {missing:?}");
}

/// Fields of ours that the object does not have. Kubernetes' own types and the
/// reserved settings, which nobody may show, are not looked into.
fn absent(schema: &Value, object: &Value, path: &str, missing: &mut Vec<String>) {
    const CLOSED: [&str; 13] = [
        "rackTemplate",
        "config",
        "clientsFrom",
        "metricsFrom",
        "env",
        "resources",
        "imagePullSecrets",
        "nodeAffinity",
        "podAffinity",
        "podAntiAffinity",
        "tolerations",
        "topologySpreadConstraints",
        "spec.datacenter.racks[].storage.volumeClaimTemplates[].spec",
    ];
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if object[name].is_null() {
            missing.push(path);
        } else if !CLOSED.contains(&name.as_str()) && !CLOSED.contains(&path.as_str()) {
            absent(field, &object[name], &path, missing);
            absent(&field["items"], &object[name][0], &format!("{path}[]"), missing);
        }
    }
}
