//! The operator's rights against what it did, in both directions: it was never
//! refused, and it has no right that no story needed. The runner's last act, when
//! the stories have made it do all that it can do, on every testbed of the run.

use std::collections::BTreeSet;

use palladion_e2e::Bed;
use palladion_e2e::audits;
use palladion_e2e::bed::OPERATOR_USER;
use palladion_e2e::story::{Story, is_soak};
use palladion_testbed::audit::AuditEntry;
use serde_json::Value;

/// After all stories.
pub fn last_act() -> Story {
    Story::named("rights")
        .step("the operator has exactly the rights it uses", operator_uses_its_rights)
        .step("the agents have exactly the rights they use", agents_use_their_rights)
        .into()
}

/// After some of them, which cannot show that every right is needed.
pub fn last_act_of_a_part() -> Story {
    Story::named("rights")
        .step("the operator asked for nothing beyond its rights", operator_keeps_to_its_rights)
        .step("the agents asked for nothing beyond their rights", agents_keep_to_their_rights)
        .into()
}

/// A verb on a resource of a group.
type Right = (String, String, String);

/// Rights that leave no trace of their own in the audit log, and why.
const UNSEEN: [(&str, &str, &str); 8] = [
    // Asked by an admission plugin that not every API server runs, about owner references.
    ("cassandraclusters/finalizers", "update", "palladion.dev"),
    ("zonedstatefulsets/finalizers", "update", "palladion.dev"),
    ("components/finalizers", "update", "palladion.dev"),
    ("nodeagentgroups/finalizers", "update", "palladion.dev"),
    ("stacks/finalizers", "update", "palladion.dev"),
    ("zookeeperclusters/finalizers", "update", "palladion.dev"),
    ("rabbitmqclusters/finalizers", "update", "palladion.dev"),
    // Asked when a role binding is made.
    ("clusterroles", "bind", "rbac.authorization.k8s.io"),
];

/// Rights whose only use on a real ring takes longer than a landing may.
const OF_THE_SOAK: [(&str, &str, &str); 1] = [
    // A schedule with `concurrencyPolicy: Replace` aborts a task that waits for a machine.
    ("cassandratasks", "patch", "palladion.dev"),
];

fn asked_by_operator(beds: &[Bed]) -> Vec<AuditEntry> {
    audits::asked(beds, OPERATOR_USER, |_| true).expect("the audit logs")
}

fn right(group: &str, resource: &str, verb: &str) -> Right {
    (group.to_string(), resource.to_string(), verb.to_string())
}

fn granted(bed: &Bed, roles: &[(&str, &str)]) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for (kind, name) in roles {
        let text = bed.kubectl(&format!("get {kind} {name} -o json")).expect("a role of the chart");
        let role: Value = serde_json::from_str(&text).expect("JSON");
        for rule in role["rules"].as_array().into_iter().flatten() {
            let words = |key: &str| -> Vec<String> {
                rule[key]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|v| v.as_str().map(str::to_string))
                    .collect()
            };
            for group in words("apiGroups") {
                for resource in words("resources") {
                    rights.extend(words("verbs").iter().map(|verb| right(&group, &resource, verb)));
                }
            }
        }
    }
    rights
}

fn used(entries: &[AuditEntry]) -> BTreeSet<Right> {
    entries
        .iter()
        .filter(|e| !e.resource.starts_with('/'))
        .map(|e| {
            let resource = if e.subresource.is_empty() {
                e.resource.clone()
            } else {
                format!("{}/{}", e.resource, e.subresource)
            };
            // An apply that makes an object is a patch in the log; the right to create is asked as well.
            right(&e.api_group, &resource, &e.verb)
        })
        .collect()
}

/// Is this right needed, given what was used?
fn needed(right: &Right, used: &BTreeSet<Right>) -> bool {
    let (group, resource, verb) = right;
    let is_among = |rights: &[(&str, &str, &str)]| {
        rights.iter().any(|(r, v, g)| r == resource && v == verb && g == group)
    };
    let with = |verb: &str| used.contains(&(group.clone(), resource.clone(), verb.to_string()));
    // A watch that cannot be streamed begins with a list; an apply may create, and
    // what it would create is read if it exists, which may happen to no object of the run.
    is_among(&UNSEEN)
        || (!is_soak() && is_among(&OF_THE_SOAK))
        || with(verb)
        || (verb == "list" && with("watch"))
        || (matches!(verb.as_str(), "create" | "get") && with("patch"))
}

/// The roles that the chart gives the operator.
const OPERATOR_ROLES: [(&str, &str); 3] = [
    ("clusterrole", "palladion-rings"),
    ("clusterrole", "palladion-cluster"),
    ("role", "palladion-leader -n palladion-system"),
];
const MEMBER_ROLES: [(&str, &str); 1] = [("clusterrole", "palladion-member")];

/// What was refused to the operator, of rights that are not among these.
fn refused(entries: &[AuditEntry], held: &BTreeSet<Right>) -> BTreeSet<String> {
    entries
        .iter()
        .filter(|e| e.code == 403)
        .filter(|e| used(std::slice::from_ref(*e)).is_disjoint(held))
        .map(|e| format!("{} {} {}/{}", e.verb, e.resource, e.namespace, e.name))
        .collect()
}

/// The rights hold in every namespace or in none. One that was granted
/// anywhere was not refused elsewhere for want of it: a namespace that is
/// being deleted takes nothing new, and says so with the same code.
fn held(entries: &[AuditEntry]) -> BTreeSet<Right> {
    let succeeded: Vec<AuditEntry> = entries.iter().filter(|e| e.code < 300).cloned().collect();
    used(&succeeded)
}

fn operator_uses_its_rights() {
    let beds = Bed::all_of_the_run();
    let entries = asked_by_operator(&beds);
    assert!(
        entries.len() > 100,
        "the operator has done next to nothing: run the other tests first"
    );
    let refused = refused(&entries, &held(&entries));
    assert!(refused.is_empty(), "refused: {refused:#?}");
    let used = used(&entries);
    let granted = granted(&beds[0], &OPERATOR_ROLES);
    let idle: Vec<Right> = granted.into_iter().filter(|r| !needed(r, &used)).collect();
    assert!(
        idle.is_empty(),
        "declared by a mind, the engine or the agent, and never used by the whole suite: {idle:#?}"
    );
}

fn operator_keeps_to_its_rights() {
    let beds = Bed::all_of_the_run();
    let entries = asked_by_operator(&beds);
    let mut held = held(&entries);
    held.extend(granted(&beds[0], &OPERATOR_ROLES));
    let refused = refused(&entries, &held);
    assert!(refused.is_empty(), "refused: {refused:#?}");
}

/// What the agents asked for. Stories try what must be refused with Python and
/// kubectl; the agent names itself.
fn is_of_an_agent(entry: &AuditEntry) -> bool {
    entry.user.ends_with("-member")
        && !entry.user_agent.starts_with("kubectl")
        && !entry.user_agent.contains("ython")
}

const ACCOUNTS: &str = "system:serviceaccount:";

fn agents_use_their_rights() {
    let beds = Bed::all_of_the_run();
    // All stories have been played, so every testbed has had a ring.
    let used = used(&audits::asked(&beds, ACCOUNTS, is_of_an_agent).expect("the audit logs"));
    let granted = granted(&beds[0], &MEMBER_ROLES);
    let idle: Vec<&Right> = granted.iter().filter(|r| !needed(r, &used)).collect();
    assert!(idle.is_empty(), "granted and never used: {idle:#?}");
    keep_to(&used, &granted);
}

fn agents_keep_to_their_rights() {
    let beds = Bed::all_of_the_run();
    // The steps that were chosen may need no ring.
    let any = |e: &AuditEntry| is_of_an_agent(e) || e.user.starts_with(OPERATOR_USER);
    let mut entries = audits::asked(&beds, ACCOUNTS, any).expect("the audit logs");
    entries.retain(is_of_an_agent);
    keep_to(&used(&entries), &granted(&beds[0], &MEMBER_ROLES));
}

fn keep_to(used: &BTreeSet<Right>, granted: &BTreeSet<Right>) {
    let beyond: Vec<&Right> = used.iter().filter(|r| !granted.contains(*r)).collect();
    assert!(beyond.is_empty(), "agents asked for what they may not: {beyond:#?}");
}
