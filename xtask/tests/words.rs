//! Everything that Palladion says to people, in one file that a reviewer reads
//! as one diff; and no word in it, or in the documentation, of a voice that we
//! have left. Kubernetes and Cassandra have words of their own for those things.

mod tracked;
mod voice;

use palladion_api::reasons::Reason;
use palladion_api::words::Sample;
use serde_yaml::Value;
use std::collections::{BTreeMap, BTreeSet};
use tracked::root;
use voice::marks;

/// Fewer texts than these, and a test reads in the wrong place.
const LEAST_SENTENCES: usize = 250;
/// Of one sentence: with one and with many, say. What it may contain is listed by itself.
const SAMPLES: usize = 2;
const LEAST_PAGES: usize = 50;
const LEAST_RULES: usize = 60;
const LEAST_DESCRIPTIONS: usize = 200;

const CRDS: &str = "charts/palladion/files/crds";

/// Every sentence of every crate, with samples in place of what varies.
fn sentences() -> Vec<Sample> {
    [
        palladion_authority::samples(),
        palladion_plan::words::samples(),
        palladion_plan::workload::samples(),
        palladion_cassandra::words::samples(),
        palladion_zonedset::words::samples(),
        palladion_zookeeper::words::samples(),
        palladion_rabbitmq::words::samples(),
        palladion_stack::words::samples(),
        palladion_agent_gate::words::samples(),
        palladion_engine::samples(),
        palladion_agent_core::words::samples(),
        palladion_agent::words::samples(),
        palladion_agent_rabbitmq::words::samples(),
        palladion_agent_transfer::words::samples(),
        palladion_agent_zookeeper::words::samples(),
        palladion_backup::words::samples(),
        kubectl_palladion::words::samples(),
    ]
    .concat()
}

fn shown(sample: &Sample) -> String {
    let module = sample.module.replace("palladion_", "");
    let reason = sample.reason.map_or("-", Reason::as_str);
    format!("{module} {} [{reason}] {}", sample.name, sample.text)
}

/// Pages, and what of the chart and of the forge a person reads. CRDs are read
/// field by field.
const PAGES: [&str; 5] =
    ["*.md", ".github/*", "charts/*/values.yaml", "charts/*/Chart.yaml", "charts/*/templates/*"];

/// Of each group of pages one, without which the group is not read.
const SOME_PAGES: [&str; 7] = [
    "CHANGELOG.md",
    "crates/cassandra/tests/README.md",
    "e2e/README.md",
    "docs/concepts/safety.md",
    ".github/pull_request_template.md",
    "charts/palladion/templates/policy-members.yaml",
    "charts/palladion/values.yaml",
];

/// Pages that users and contributors read, each with its name.
fn pages() -> Vec<(String, String)> {
    tracked::names(&PAGES).into_iter().filter_map(tracked::text).collect()
}

/// The messages by which the API server refuses an object: of the rules of the
/// CRDs and of the policies of the chart, each with its place.
fn rules() -> BTreeSet<(String, String)> {
    let of_crds = descriptions().into_iter().filter(|(place, _)| !place.ends_with("description"));
    let policies = tracked::names(&["charts/*/templates/*.yaml"]);
    let lines = policies.into_iter().filter_map(tracked::text).flat_map(|(name, text)| {
        let name = name.rsplit('/').next().unwrap_or_default().to_string();
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with("message"));
        let pairs = lines.filter_map(|line| line.split_once(": "));
        pairs.map(|(key, text)| (format!("{name} {key}"), text.to_string())).collect::<Vec<_>>()
    });
    of_crds.chain(lines).collect()
}

/// Descriptions and messages of a CRD, at any depth.
fn gather(file: &str, value: &Value, into: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Mapping(map) => {
            for (key, value) in map {
                match (key.as_str(), value.as_str()) {
                    (
                        Some(name @ ("description" | "message" | "messageExpression")),
                        Some(text),
                    ) => {
                        into.insert((format!("{file} {name}"), text.to_string()));
                    }
                    (Some(_) | None, Some(_) | None) => gather(file, value, into),
                }
            }
        }
        Value::Sequence(all) => all.iter().for_each(|v| gather(file, v, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Tagged(_) => {}
    }
}

/// What CRDs say of their fields, and the messages of their rules.
fn descriptions() -> BTreeSet<(String, String)> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(root().join(CRDS)).expect("the CRDs should be there") {
        let path = entry.expect("a CRD should be readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a CRD should be text");
        gather(&name, &serde_yaml::from_str(&text).expect("a CRD should be YAML"), &mut all);
    }
    all
}

/// Texts with marks, each with its place. Fails where there is nothing to read.
#[track_caller]
fn expect_none(texts: impl IntoIterator<Item = (String, String)>, least: usize) {
    let mut count = 0;
    let mut found = Vec::new();
    for (place, text) in texts {
        count += 1;
        found.extend(marks(&text).into_iter().map(|m| format!("{place}: {m}")));
    }
    assert!(count >= least, "only {count} texts were read, of at least {least}");
    assert!(found.is_empty(), "write as Kubernetes and Cassandra do:\n{}", found.join("\n"));
}

#[test]
fn every_sentence() {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let all = sentences().into_iter().filter(|s| {
        let count = seen.entry((s.module, s.name)).or_default();
        *count += 1;
        *count <= SAMPLES
    });
    let mut lines: Vec<String> = all.map(|s| shown(&s)).collect();
    assert!(lines.len() >= LEAST_SENTENCES, "only {} sentences", lines.len());
    let rules = rules();
    assert!(rules.len() >= LEAST_RULES, "only {} messages of rules", rules.len());
    lines.extend(rules.into_iter().map(|(place, text)| format!("{place} {text}")));
    let is_broken = |line: &&String| line.contains('\n');
    assert_eq!(lines.iter().find(is_broken), None, "a sentence is one line");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn sentences_have_one_voice() {
    let all = sentences();
    expect_none(all.iter().map(|s| (s.name.to_string(), s.text.clone())), LEAST_SENTENCES);
}

#[test]
fn reasons_have_the_same_voice() {
    let texts = Reason::ALL.iter().flat_map(|reason| {
        let name = reason.as_str().to_string();
        [(name.clone(), reason.meaning().to_string()), (name, reason.next_step().to_string())]
    });
    expect_none(texts, Reason::ALL.len().max(50));
}

#[test]
fn fields_and_rules_have_the_same_voice() {
    expect_none(descriptions(), LEAST_DESCRIPTIONS);
    expect_none(rules(), LEAST_RULES);
}

#[test]
#[should_panic(expected = "crd messageExpression")]
fn a_mark_in_the_expression_of_a_rule_is_found() {
    let rule = "x-kubernetes-validations: [{messageExpression: \"'told %s'.format([self])\"}]";
    let mut all = BTreeSet::new();
    gather("crd", &serde_yaml::from_str(rule).expect("YAML"), &mut all);
    expect_none(all, 1);
}

#[test]
fn pages_have_the_same_voice() {
    let pages = pages();
    for page in SOME_PAGES {
        assert!(pages.iter().any(|(name, _)| name == page), "{page} is not read");
    }
    expect_none(pages, LEAST_PAGES);
}

#[test]
#[should_panic(expected = "told")]
fn a_mark_in_a_text_is_found() {
    expect_none([("a page".to_string(), "Users are told in a condition.".to_string())], 1);
}

#[test]
#[should_panic(expected = "only 0 texts")]
fn nothing_to_read_is_a_failure() {
    expect_none([], 1);
}
