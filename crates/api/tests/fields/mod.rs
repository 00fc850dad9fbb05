//! Every field of the kinds of a stack has a wrong value that is tried: some manifest is
//! refused for that field alone, which shows in that the refusal is gone once the field is
//! put right and nothing else is changed. Fields without a wrong value of the right type are
//! listed with the reason.

mod excused;
mod repair;

use crate::judges;
use excused::EXCUSED;
use serde_json::Value;
use std::collections::BTreeSet;

/// The kinds whose fields are looked at.
const KINDS: [&str; 8] = [
    "Component",
    "NodeAgentGroup",
    "NodeAgentProfile",
    "RabbitmqCluster",
    "Registration",
    "ServiceMember",
    "Stack",
    "ZookeeperCluster",
];

/// Parts of a claim that are refused whole, whatever they say.
const WHOLE: [&str; 3] = [".dataSource", ".dataSourceRef", ".spec.selector"];

/// A field that holds a value of its own: `[]` stands for the items of a list.
fn fields(schema: &Value, path: &str, found: &mut Vec<String>) {
    // Both values of a switch are right.
    if schema["type"] == "boolean" {
        return;
    }
    let items = &schema["items"];
    if WHOLE.iter().any(|part| path.ends_with(part)) {
        return found.push(path.to_string());
    }
    if let Some(inner) = schema["properties"].as_object() {
        for (name, field) in inner {
            fields(field, &format!("{path}.{name}"), found);
        }
    } else if items["properties"].is_object() {
        fields(items, &format!("{path}[]"), found);
    } else {
        found.push(path.to_string());
    }
}

fn fields_of(kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    fields(&judges()[kind].schema["properties"]["spec"], "spec", &mut found);
    found
}

/// Is a field this one, or below it?
fn is_below(field: &str, above: &str) -> bool {
    let rest = field.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
}

fn excuse(kind: &str, field: &str) -> Option<usize> {
    let fits = |(kinds, above, _): &(&[&str], &str, &str)| {
        (kinds.is_empty() || kinds.contains(&kind)) && is_below(field, above)
    };
    EXCUSED.iter().position(fits)
}

#[test]
fn a_wrong_value_of_every_field_is_tried() {
    let (mut untried, mut used) = (Vec::new(), BTreeSet::new());
    for kind in KINDS {
        let open = fields_of(kind).into_iter().filter(|field| match excuse(kind, field) {
            Some(excuse) => {
                used.insert(excuse);
                false
            }
            None => true,
        });
        let mut open: Vec<String> = open.collect();
        for manifest in repair::refused(kind) {
            open.retain(|field| !manifest.is_cured_by(field));
        }
        untried.extend(open.into_iter().map(|field| format!("{kind} {field}")));
    }
    assert!(untried.is_empty(), "write a manifest in tests/manifests for: {untried:#?}");
    let unused = EXCUSED.iter().enumerate().filter(|(at, _)| !used.contains(at));
    let unused: Vec<_> = unused.map(|(_, excuse)| excuse).collect();
    assert!(unused.is_empty(), "no field is excused by {unused:#?}");
}

#[test]
fn what_is_excused_is_refused_by_nobody() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        let mut excused: Vec<String> = fields_of(kind);
        excused.retain(|field| excuse(kind, field).is_some());
        for manifest in repair::refused(kind) {
            let cured = excused.iter().filter(|field| manifest.is_cured_by(field));
            wrong.extend(cured.map(|field| format!("{kind} {field}: {}", manifest.name())));
        }
    }
    assert!(wrong.is_empty(), "these are tried, and need no excuse: {wrong:#?}");
}

#[test]
fn a_manifest_is_not_cured_by_what_is_not_wrong() {
    let all = repair::refused("Component");
    let one = all.iter().find(|m| m.name() == "refused/component-port-twice.yaml");
    let one = one.expect("the manifest should be there");
    assert!(one.is_cured_by("spec.network.ports[].port"));
    for field in ["spec.replicas", "spec.template.spec.containers[].name", "spec.network.addresses"]
    {
        assert!(!one.is_cured_by(field), "{field} is not what is wrong");
    }
}
