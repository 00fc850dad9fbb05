//! The admission policy of members leaves people the fields that are theirs, and
//! no other. A field that is new is the operator's until somebody says otherwise.

use palladion_api::crd;
use std::collections::BTreeSet;
use std::path::Path;

/// What people may write.
const FOR_PEOPLE: [&str; 5] =
    ["run", "restartToken", "allowStaleStart", "pendingMaintenance", "owes"];

/// The part of the policy that keeps fields for the operator.
fn policy() -> String {
    let name = "../charts/palladion/templates/policy-members.yaml";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let policy = std::fs::read_to_string(path).expect("the chart has a policy of members");
    let kept = policy.split("- name: ").find(|part| part.starts_with("kept\n"));
    kept.expect("the policy says what is kept").to_string()
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
    let policy = policy();
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
