//! Who says what is signed, and with which authorities: the operator signs what stands in the
//! status of a member.

use palladion_e2e::bed;
use palladion_e2e::person::Person;
use serde_json::{Value, json};

use super::owners::a_paused_cluster;
use super::{MEMBER, NAMESPACE, OTHER, admin, operator, refused, two_members};

const CLUSTER: &str = "cassandracluster/demo";
const ONLY_ITS_AGENT: &str = "only the agent of a member writes `status.tls`";
const ONLY_THE_OPERATOR: &str = "only the operator writes `status.authorities`";

fn patch_status(
    person: &Person,
    object: &str,
    namespace: &str,
    status: &Value,
) -> anyhow::Result<String> {
    let patch = json!({ "status": status }).to_string();
    let words =
        ["patch", object, "-n", namespace, "--subresource=status", "--type=merge", "-p", &patch];
    person.kubectl(&words, "")
}

/// A request of a member for a certificate.
fn a_request(of: &str) -> Value {
    json!({ "client": { "authority": "0", "request": of, "podUID": "0" } })
}

/// Not even an administrator: whoever writes there is given a certificate in the name of the
/// member.
pub(super) fn are_asked_for_by_the_agent() {
    two_members();
    let (own, name) = ("demo-dc1-a-0", super::status_of(MEMBER));
    let own = Person::account(NAMESPACE, "demo-member", Some(own)).expect("a pod");
    own.write_status(NAMESPACE, name, &json!({ "status": { "tls": a_request("its own") } }))
        .expect("the agent of a member asks for its certificate");
    for tls in [a_request("another's"), Value::Null] {
        let forged = json!({ "tls": tls });
        refused(patch_status(admin(), MEMBER, NAMESPACE, &forged), ONLY_ITS_AGENT);
    }
    let first = json!({ "tls": a_request("another's") });
    refused(patch_status(admin(), OTHER, NAMESPACE, &first), ONLY_ITS_AGENT);
    let forged = json!({ "status": { "tls": a_request("another's") } });
    refused(operator().write_status(NAMESPACE, name, &forged), "forbidden");
    patch_status(admin(), MEMBER, NAMESPACE, &json!({ "address": "10.0.0.2" }))
        .expect("administrators may write what is not signed");
    let stands = bed().get(NAMESPACE, "cassandramember", name.1).expect("get").expect("a member");
    assert_eq!(stands["status"]["tls"]["client"]["request"], "its own");
}

/// Whoever could add one would be trusted by all clients of the ring.
pub(super) fn are_signed_with_the_operators_authorities() {
    let namespace = "admission-authorities";
    bed().fresh_namespace(namespace).expect("a namespace");
    a_paused_cluster(namespace);
    let authority = |words: &str| json!({ "certificate": words, "fingerprint": "0", "madeAt": "2026-01-01T00:00:00Z", "notAfter": "2036-01-01T00:00:00Z" });
    let write = |authorities: Value| {
        patch_status(admin(), CLUSTER, namespace, &json!({ "authorities": authorities }))
    };
    refused(write(json!({ "client-1": authority("forged") })), ONLY_THE_OPERATOR);
    let recorded = json!({ "client-1": authority("one"), "client-2": authority("two") });
    let status = json!({ "status": { "authorities": recorded } });
    operator()
        .write_status(namespace, ("CassandraCluster", "demo"), &status)
        .expect("the operator records its authorities");
    for forged in [
        json!({ "client-1": authority("forged") }),
        json!({ "client-3": authority("forged") }),
        json!({ "client-1": null, "client-3": authority("one") }),
    ] {
        refused(write(forged), ONLY_THE_OPERATOR);
    }
    write(json!({ "client-1": null })).expect("administrators may remove one");
    let left = bed().get(namespace, "cassandracluster", "demo").expect("get").expect("a cluster");
    let names: Vec<&String> =
        left["status"]["authorities"].as_object().expect("some are left").keys().collect();
    assert_eq!(names, ["client-2"]);
    bed().remove_namespace(namespace).expect("the namespace to go");
}
