//! The admission policy of members leaves people the fields that are theirs, and
//! no other. A field that is new is the operator's until somebody says otherwise.

use palladion_api::{crd, labels};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What people may write.
const FOR_PEOPLE: [&str; 4] = ["wanted", "allowStaleStart", "pendingMaintenance", "owes"];

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(path).expect("a file of the repository")
}

/// A variable of the policy.
fn variable(name: &str) -> String {
    let policy = read("charts/palladion/templates/policy-members.yaml");
    assert!(policy.contains(&format!("expression: \"variables.{name}\"")), "asked of each request");
    let variable = policy.split("- name: ").find(|part| part.starts_with(&format!("{name}\n")));
    variable.expect("the policy has this variable").to_string()
}

/// A member as the operator writes it.
fn member() -> Value {
    let snapshot = read("crates/cassandra/src/build/snapshots/member.snap");
    let object = snapshot.splitn(3, "---\n").nth(2).expect("an object");
    serde_yaml::from_str(object).expect("YAML")
}

fn fields_of_a_member() -> BTreeSet<String> {
    let definitions = crd::all();
    let member = definitions.iter().find(|d| d.spec.names.kind == "CassandraMember");
    let schema = crd::schema(member.expect("there is a kind of members"));
    let spec = schema["properties"]["spec"]["properties"].as_object();
    spec.expect("a member has a spec").keys().cloned().collect()
}

/// Fields that a rule of the definition keeps for everybody.
fn fixed() -> BTreeSet<String> {
    let definitions = crd::all();
    let member = definitions.iter().find(|d| d.spec.names.kind == "CassandraMember");
    let schema = crd::schema(member.expect("there is a kind of members"));
    let rules = schema["properties"]["spec"]["x-kubernetes-validations"].as_array();
    let rules = rules.into_iter().flatten().filter_map(|r| r["rule"].as_str());
    let field = |rule: &str| {
        let field = rule.strip_prefix("oldSelf.")?.split_once(" == self.")?.0;
        (rule == format!("oldSelf.{field} == self.{field}")).then(|| field.to_string())
    };
    rules.filter_map(field).collect()
}

#[test]
fn people_write_what_is_theirs_of_a_member_and_nothing_else() {
    let policy = variable("kept");
    let is_kept = |field: &String| {
        let kept = format!("object.spec.?{field} == oldObject.spec.?{field}");
        let mut found = policy.match_indices(&kept);
        found.any(|(at, kept)| policy[at + kept.len()..].starts_with([' ', ')']))
    };
    let fixed = fixed();
    assert!(fixed.contains("rack"), "{fixed:?}");
    let open: BTreeSet<String> = fields_of_a_member()
        .into_iter()
        .filter(|field| !fixed.contains(field) && !is_kept(field))
        .collect();
    assert_eq!(open, FOR_PEOPLE.map(str::to_string).into(), "open to whoever may patch members");
}

/// Whoever sets another owner has the garbage collector delete the record; whoever
/// takes a label off hides it from the operator (safety rule 6.12).
#[test]
fn only_the_operator_says_whose_a_member_is() {
    let policy = variable("belonging");
    let member = member();
    for field in ["ownerReferences", "finalizers"] {
        let kept = format!("object.metadata.?{field} == oldObject.metadata.?{field} &&");
        assert!(policy.contains(&kept), "{field}");
    }
    let written = |field: &str| {
        let written = member["metadata"][field].as_object().expect("the operator writes some");
        written.keys().cloned().collect::<BTreeSet<String>>()
    };
    let mut annotations = written("annotations");
    annotations.extend(
        [labels::GONE, labels::DOWN_SINCE, labels::HINTS_PENDING, labels::STOPPED_WITH_RING]
            .map(str::to_string),
    );
    for (field, keys) in [("labels", written("labels")), ("annotations", annotations)] {
        let all = format!(
            "].all(key, object.metadata.?{field}[?key] == oldObject.metadata.?{field}[?key])"
        );
        let list = policy.split(&all).next().and_then(|before| before.rsplit('[').next());
        let kept: BTreeSet<String> = list
            .expect("a list before it")
            .split(',')
            .map(|key| key.trim().trim_matches('\'').to_string())
            .collect();
        assert_eq!(kept, keys, "{field}");
    }
}
