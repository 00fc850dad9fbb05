//! What the API server refuses: the same manifests that the unit tests of
//! `palladion-api` judge offline, and the policies that look at who asks.

mod certificates;
mod judged;
mod owners;
mod secrets;

use std::sync::LazyLock;

use palladion_e2e::bed;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::fields::{MEMBER_FIELDS_FOR_PEOPLE, ONLY_TAKEN_OUT, PENDING_MAINTENANCE};
use palladion_e2e::person::Person;
use palladion_e2e::story::Story;
use serde_json::{Value, json};

const NAMESPACE: &str = "admission";
const MEMBER: &str = "cassandramember/demo-dc1-a-0";
const OTHER: &str = "cassandramember/demo-dc1-a-1";

pub fn story() -> Story {
    Story::named("admission")
        .nodes(1)
        .step("the API server judges every manifest as the unit tests do", judged::every_manifest)
        .step("the API server accepts every example", judged::every_example)
        .step("a pod writes the status of its own member only", own_status)
        .step("another cluster's pod of the same name writes no status", another_clusters_pod)
        .step("a pod writes no spec and reads nothing but members", no_spec)
        .step("nobody but the operator creates or deletes a member", only_the_operator)
        .step("of a member people write what is theirs", what_is_theirs)
        .step("only the operator says whose a member is", owners::whose_it_is)
        .step("the operator creates the Secrets of rings alone", secrets::of_rings_alone)
        .step(
            "only the agent of a member asks for its certificate",
            certificates::are_asked_for_by_the_agent,
        )
        .in_soak()
        .step(
            "only the operator says which authorities a ring has",
            certificates::are_signed_with_the_operators_authorities,
        )
        .in_soak()
        .step(
            "the garbage collector deletes or orphans the members of a cluster",
            owners::of_a_deleted_cluster,
        )
        .step("a namespace with members can be deleted", namespace_goes)
        .into()
}

/// The operator, as the policies know it.
fn operator() -> &'static Person {
    static OPERATOR: LazyLock<Person> = LazyLock::new(|| {
        Person::account(OPERATOR_NAMESPACE, "palladion-operator", None)
            .expect("a kubeconfig of the operator")
    });
    &OPERATOR
}

/// A person with every right of the API server.
fn admin() -> &'static Person {
    static ADMIN: LazyLock<Person> = LazyLock::new(|| {
        Person::user("kim", &["system:masters", "system:authenticated"])
            .expect("a kubeconfig of a person")
    });
    &ADMIN
}

fn member(name: &str, spec: &Value) -> String {
    let mut object = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraMember", "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": { "cluster": "demo", "ring": "demo", "datacenter": "dc1", "rack": "a" },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object.to_string()
}

/// Two members, and an account that may write the status of both as far as
/// roles go; those of an earlier step, where there are any.
fn two_members() {
    let made = bed().get(NAMESPACE, "rolebinding", "other-member").expect("a binding, or none");
    if made.is_some() {
        return;
    }
    bed().fresh_namespace(NAMESPACE).expect("a namespace");
    for name in ["demo-dc1-a-0", "demo-dc1-a-1"] {
        let owing = json!({ PENDING_MAINTENANCE: [{ "kind": "Repair", "reason": "an outage" }] });
        operator().kubectl(&["create", "-f", "-"], &member(name, &owing)).expect("a member");
    }
    for cluster in ["demo", "other"] {
        let name = format!("{cluster}-member");
        bed().kubectl(&format!("create serviceaccount {name} -n {NAMESPACE}")).expect("an account");
        bed().kubectl(&format!("create rolebinding {name} -n {NAMESPACE} --clusterrole=palladion-member --serviceaccount={NAMESPACE}:{name}")).expect("a binding");
    }
}

/// Assert that it was refused, with these words.
fn refused(outcome: anyhow::Result<String>, words: &str) {
    let error = outcome.expect_err("should be refused").to_string();
    assert!(error.contains(words), "refused with other words: {error}");
}

fn status() -> Value {
    json!({ "status": { "address": "10.0.0.1" } })
}

/// The kind and name of a member, whose status is written.
fn status_of(member: &'static str) -> (&'static str, &'static str) {
    ("CassandraMember", member.trim_start_matches("cassandramember/"))
}

fn own_status() {
    two_members();
    let own = Person::account(NAMESPACE, "demo-member", Some("demo-dc1-a-0")).expect("a pod");
    own.write_status(NAMESPACE, status_of(MEMBER), &status())
        .expect("a pod may write the status of its own member");
    refused(
        own.write_status(NAMESPACE, status_of(OTHER), &status()),
        "pod demo-dc1-a-0 may not write the status of demo-dc1-a-1",
    );
    let podless = Person::account(NAMESPACE, "demo-member", None).expect("an account");
    refused(
        podless.write_status(NAMESPACE, status_of(MEMBER), &status()),
        "pod <none> may not write the status of demo-dc1-a-0",
    );
}

fn another_clusters_pod() {
    two_members();
    let other = Person::account(NAMESPACE, "other-member", Some("demo-dc1-a-0")).expect("a pod");
    refused(
        other.write_status(NAMESPACE, status_of(MEMBER), &status()),
        "only the agent of this member may",
    );
}

fn no_spec() {
    two_members();
    let own = Person::account(NAMESPACE, "demo-member", Some("demo-dc1-a-0")).expect("a pod");
    refused(own.patch(NAMESPACE, MEMBER, &json!({ "spec": { "run": "Stopped" } })), "forbidden");
    own.kubectl(&["get", "cassandramembers", "-n", NAMESPACE], "").expect("members may be read");
    for kind in
        ["secrets", "pods", "configmaps", "services", "cassandraclusters", "persistentvolumeclaims"]
    {
        refused(own.kubectl(&["get", kind, "-n", NAMESPACE], ""), "forbidden");
    }
    refused(own.kubectl(&["get", "cassandramembers", "-n", "default"], ""), "forbidden");
}

fn only_the_operator() {
    two_members();
    refused(
        admin().kubectl(&["create", "-f", "-"], &member("demo-dc1-a-7", &json!({}))),
        "only the operator creates the members of a ring",
    );
    refused(
        admin().kubectl(&["delete", MEMBER, "-n", NAMESPACE], ""),
        "only the operator deletes it",
    );
    operator()
        .kubectl(&["create", "-f", "-"], &member("demo-dc1-a-8", &json!({})))
        .expect("the operator makes members");
    operator()
        .kubectl(&["delete", "cassandramember/demo-dc1-a-8", "-n", NAMESPACE], "")
        .expect("the operator deletes members");
}

fn what_is_theirs() {
    two_members();
    let spec = |patch: Value| admin().patch(NAMESPACE, OTHER, &json!({ "spec": patch }));
    spec(json!({ "wanted": { "run": "Stopped", "restartToken": "tonight" } }))
        .expect("people want servers stopped and restarted");
    spec(json!({ "wanted": { "run": "Running" } })).expect("and let them run again");
    admin()
        .patch(NAMESPACE, OTHER, &json!({ "metadata": { "labels": { "team": "store" } } }))
        .expect("people label");
    let intent = json!({ "kind": "Decommission", "nonce": "n", "hostID": "h", "volumeID": "v" });
    let permit =
        json!({ "kind": "Join", "nonce": "n", "podUID": "p", "volumeID": "v", "reason": "r" });
    let replace = json!({ "volumeID": "v", "hostID": "h", "address": "10.0.0.1", "cause": "Task", "reason": "r" });
    let removal = json!({ "nonce": "n", "hostID": "h", "volumeID": "v" });
    let debts = json!([{ "kind": "Repair", "reason": "an outage" }, { "kind": "Cleanup", "reason": "a join" }]);
    let theirs = MEMBER_FIELDS_FOR_PEOPLE;
    for (patch, words) in [
        (json!({ "intent": intent }), theirs),
        (json!({ "start": permit }), theirs),
        (json!({ "hostID": "h" }), theirs),
        (json!({ "volumeID": "v" }), theirs),
        (json!({ "seeds": ["10.0.0.1"] }), theirs),
        (json!({ "revisions": ["r"] }), theirs),
        (json!({ "address": "10.0.0.1" }), theirs),
        (json!({ "evidence": { "nonce": "n" } }), theirs),
        (json!({ "turnEpoch": 3 }), theirs),
        (json!({ "replace": replace }), theirs),
        (json!({ "removal": removal }), theirs),
        (json!({ "runtimeSettings": { "logLevels": { "ROOT": "DEBUG" } } }), theirs),
        (json!({ "run": "Stopped" }), theirs),
        (json!({ "run": "Terminated" }), theirs),
        (json!({ "restartToken": "tonight" }), theirs),
        (json!({ PENDING_MAINTENANCE: debts }), ONLY_TAKEN_OUT),
    ] {
        refused(spec(patch), words);
    }
    spec(json!({ PENDING_MAINTENANCE: [] })).expect("people waive debts");
    operator()
        .patch(NAMESPACE, OTHER, &json!({ "spec": { "start": permit } }))
        .expect("the operator gives permits");
}

fn namespace_goes() {
    let namespace = "admission-gone";
    bed().fresh_namespace(namespace).expect("a namespace");
    operator()
        .kubectl(
            &["create", "-n", namespace, "-f", "-"],
            &member("demo-dc1-a-0", &json!({}))
                .replace(&format!("\"{NAMESPACE}\""), &format!("\"{namespace}\"")),
        )
        .expect("a member");
    bed().remove_namespace(namespace).expect("Kubernetes' own controllers delete members");
}
