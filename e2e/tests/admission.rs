//! What the API server refuses: the same manifests that the unit tests of
//! `palladion-api` judge offline, and the policies that look at who asks.

#[path = "../../tests/manifests/manifests.rs"]
mod manifests;

use std::path::Path;
use std::sync::{LazyLock, Once};

use manifests::{Manifest, Verdict, read_all};
use palladion_e2e::Bed;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::person::Person;
use serde_json::{Value, json};

const NAMESPACE: &str = "admission";
const MEMBER: &str = "cassandramember/demo-dc1-a-0";
const OTHER: &str = "cassandramember/demo-dc1-a-1";

fn bed() -> &'static Bed {
    static BED: LazyLock<Bed> = LazyLock::new(Bed::attach);
    &BED
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

/// Two members, and an account that may write the status of both as far as roles go.
fn two_members() {
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        bed().fresh_namespace(NAMESPACE).expect("a namespace");
        for name in ["demo-dc1-a-0", "demo-dc1-a-1"] {
            operator().kubectl(&["create", "-f", "-"], &member(name, &json!({ "owes": [{ "kind": "Repair", "reason": "an outage" }] }))).expect("a member");
        }
        for cluster in ["demo", "other"] {
            let name = format!("{cluster}-member");
            bed().kubectl(&format!("create serviceaccount {name} -n {NAMESPACE}")).expect("an account");
            bed().kubectl(&format!("create rolebinding {name} -n {NAMESPACE} --clusterrole=palladion-member --serviceaccount={NAMESPACE}:{name}")).expect("a binding");
        }
    });
}

/// Assert that it was refused, with these words.
fn refused(outcome: anyhow::Result<String>, words: &str) {
    let error = outcome.expect_err("should be refused").to_string();
    assert!(error.contains(words), "refused with other words: {error}");
}

fn status() -> Value {
    json!({ "status": { "address": "10.0.0.1" } })
}

#[test]
fn the_api_server_judges_every_manifest_as_the_unit_tests_do() {
    let namespace = "admission-manifests";
    bed().fresh_namespace(namespace).expect("a namespace");
    let manifests = read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/manifests"));
    let wrong: Vec<String> = manifests
        .iter()
        .filter_map(|m| wrong(m, namespace).map(|w| format!("{}: {w}", m.name)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), manifests.len(), wrong.join("\n"));
    let alone = manifests.iter().filter(|m| m.offline_unsupported.is_some()).count();
    println!("{} manifests judged by the API server, {alone} of them by it alone", manifests.len());
    bed().remove_namespace(namespace).expect("the namespace to go");
}

/// What is wrong with the API server's verdict, if anything.
fn wrong(manifest: &Manifest, namespace: &str) -> Option<String> {
    let kind = manifest.new["kind"].as_str()?.to_lowercase();
    let name = manifest.new["metadata"]["name"].as_str()?;
    if let Some(old) = &manifest.old {
        // Stored for a moment, and paused: no ring is to come of it.
        let mut old = old.clone();
        if kind == "cassandracluster" {
            old["spec"]["paused"] = json!(true);
        }
        if let Err(error) =
            writer(&kind).kubectl(&["create", "-n", namespace, "-f", "-"], &old.to_string())
        {
            return Some(format!("what was there before is itself refused: {error}"));
        }
        // A status that is created with an object is not stored; its owner writes it.
        if let Some(status) = old.get("status").filter(|_| kind == "cassandracluster") {
            let patch = json!({ "status": status }).to_string();
            let words = [
                "patch",
                &kind,
                name,
                "-n",
                namespace,
                "--subresource=status",
                "--type=merge",
                "-p",
                &patch,
            ];
            if let Err(error) = writer(&kind).kubectl(&words, "") {
                return Some(format!("its status is refused: {error}"));
            }
        }
        if !old["status"].is_null() {
            let status = json!({ "status": old["status"] }).to_string();
            let words = [
                "patch",
                &kind,
                name,
                "-n",
                namespace,
                "--subresource=status",
                "--type=merge",
                "-p",
                &status,
            ];
            writer(&kind).kubectl(&words, "").expect("a status");
        }
    }
    let verb = if manifest.old.is_some() { "replace" } else { "create" };
    let said = writer(&kind).kubectl(
        &[verb, "--dry-run=server", "-n", namespace, "-f", "-"],
        &manifest.new.to_string(),
    );
    if manifest.old.is_some() {
        writer(&kind)
            .kubectl(&["delete", &kind, name, "-n", namespace, "--wait=true"], "")
            .expect("an object to go");
    }
    match (manifest.verdict, said) {
        (Verdict::Accepted, Err(error)) => Some(format!("refused: {error}")),
        (Verdict::Refused, Ok(_)) => Some("accepted".into()),
        (Verdict::Refused, Err(error)) => {
            let error = error.to_string();
            manifest
                .expect
                .iter()
                .find(|e| !error.contains(*e))
                .map(|e| format!("said {error} and not {e}"))
        }
        (Verdict::Accepted, Ok(_)) => None,
    }
}

/// Who writes manifests of a kind: members are the operator's to make. With
/// every right of the API server, so that nothing but admission judges.
fn writer(kind: &str) -> &'static Person {
    static OPERATOR: LazyLock<Person> = LazyLock::new(|| {
        let name = format!("system:serviceaccount:{OPERATOR_NAMESPACE}:palladion-operator");
        Person::user(&name, &["system:masters", "system:authenticated"])
            .expect("a kubeconfig of the operator")
    });
    if kind == "cassandramember" { &OPERATOR } else { admin() }
}

#[test]
fn a_pod_writes_the_status_of_its_own_member_only() {
    two_members();
    let own = Person::account(NAMESPACE, "demo-member", Some("demo-dc1-a-0")).expect("a pod");
    own.write_status(NAMESPACE, MEMBER, &status())
        .expect("a pod may write the status of its own member");
    refused(
        own.write_status(NAMESPACE, OTHER, &status()),
        "pod demo-dc1-a-0 may not write status of demo-dc1-a-1",
    );
    let podless = Person::account(NAMESPACE, "demo-member", None).expect("an account");
    refused(
        podless.write_status(NAMESPACE, MEMBER, &status()),
        "pod <none> may not write status of demo-dc1-a-0",
    );
}

#[test]
fn another_clusters_pod_of_the_same_name_writes_no_status() {
    two_members();
    let other = Person::account(NAMESPACE, "other-member", Some("demo-dc1-a-0")).expect("a pod");
    refused(
        other.write_status(NAMESPACE, MEMBER, &status()),
        "that is for the agent of this member",
    );
}

#[test]
fn a_pod_writes_no_spec_and_reads_nothing_but_members() {
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

#[test]
fn nobody_but_the_operator_makes_or_deletes_a_member() {
    two_members();
    refused(
        admin().kubectl(&["create", "-f", "-"], &member("demo-dc1-a-7", &json!({}))),
        "the operator makes the members of a ring",
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

#[test]
fn of_a_member_people_write_what_is_theirs() {
    two_members();
    let spec = |patch: Value| admin().patch(NAMESPACE, OTHER, &json!({ "spec": patch }));
    spec(json!({ "run": "Stopped", "restartToken": "tonight" }))
        .expect("people stop and restart servers");
    spec(json!({ "run": "Running" })).expect("and let them run again");
    admin()
        .patch(NAMESPACE, OTHER, &json!({ "metadata": { "labels": { "team": "store" } } }))
        .expect("people label");
    let intent = json!({ "kind": "Decommission", "nonce": "n", "hostID": "h", "volumeID": "v" });
    let permit =
        json!({ "kind": "Join", "nonce": "n", "podUID": "p", "volumeID": "v", "reason": "r" });
    let debts = json!([{ "kind": "Repair", "reason": "an outage" }, { "kind": "Cleanup", "reason": "a join" }]);
    let theirs = "only `run`, `restartToken` and `owes` of a member are for people";
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
        (json!({ "run": "Terminated" }), "only the operator sets Terminated"),
        (json!({ "owes": debts }), "a debt may be taken out of `owes`"),
    ] {
        refused(spec(patch), words);
    }
    spec(json!({ "owes": [] })).expect("people waive debts");
    operator()
        .patch(NAMESPACE, OTHER, &json!({ "spec": { "start": permit } }))
        .expect("the operator gives permits");
}

#[test]
fn a_namespace_with_members_can_be_deleted() {
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
