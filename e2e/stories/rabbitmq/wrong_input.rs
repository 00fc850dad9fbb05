//! What is refused, by whom, and with which words.

use std::path::Path;
use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::mistakes::{Finder, Said, wait_named};
use palladion_e2e::person::Person;
use palladion_e2e::rabbitmq::{Cluster, example};
use serde_json::{Value, json};

use super::forming::three;

const WRONG: &str = "rmq-wrong";

pub fn refused() {
    bed().fresh_namespace(WRONG).expect("a namespace");
    let right = Cluster { name: WRONG }.manifest(3, &["paused: true"]);
    let cases = [
        ("nodes: 3", "nodes: 2", "1, 3, 5 or 7"),
        ("version: 3.10.8", "version: 3.9.29", "3.10"),
        ("version: 3.10.8", "version: 4.0.5", "3.13"),
        ("paused: true", "config: {cluster_formation.node_cleanup.interval: '1'}", "cluster_form"),
        ("paused: true", "config: {default_user: admin}", "secretName"),
        ("paused: true", "plugins: [rabbitmq_peer_discovery_k8s]", "peer_discovery"),
        ("paused: true", "env: [{name: RABBITMQ_NODENAME, value: x@y}]", "RABBITMQ_"),
        ("paused: true", "ports: {amqp: 15672}", "port"),
        ("memory: 768Mi", "memory: 256Mi", "memory"),
    ];
    for (from, to, expected) in cases {
        let wrong = right.replace(from, to);
        assert_ne!(wrong, right, "the case should change something: {from}");
        let error = bed().apply(WRONG, &wrong).expect_err("should be refused");
        assert!(format!("{error:#}").contains(expected), "{to}: {error:#}");
    }
    bed().apply(WRONG, &right).expect("what is right is accepted");
    for (spec, expected) in
        [(json!({ "ports": { "amqp": 5673 } }), "ports"), (json!({ "vhost": "another" }), "vhost")]
    {
        let moved = json!({ "spec": spec });
        let error = bed().patch(WRONG, "rabbitmqcluster", WRONG, &moved).expect_err("refused");
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
    bed().kubectl(&format!("delete namespace {WRONG} --wait=false")).expect("clean up");
}

/// Each manifest corrects the mistake before it and makes the next: what is named then is the
/// next one alone.
pub fn named_and_cured() {
    const NAME: &str = "rmq-mistakes";
    let cluster = Cluster { name: NAME };
    let class = "storage: {volumeClaimTemplate: {spec: {storageClassName: fast-and-missing}}}";
    let placement = "placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}]}}}";
    let right = cluster.manifest(1, &[]);
    bed().fresh_namespace(NAME).expect("a namespace");
    let named = |wrong: &str, finder: Finder, said: Said| {
        assert_ne!(wrong, right, "the case should change something");
        cluster.service().apply(wrong);
        wait_named((NAME, "rabbitmqcluster", NAME), &said, (finder, NAME), Instant::now());
    };
    let words: &[&str] = &["fast-and-missing", "create it, or name another"];
    let missing = Said { type_: "Accepted", reason: Reason::StorageClassMissing, words };
    named(&cluster.manifest(1, &[class]), Finder::Operator, missing);
    let words: &[&str] = &["nodes are available"];
    let nowhere = Said { type_: "Degraded", reason: Reason::Unschedulable, words };
    named(&cluster.manifest(1, &[placement]), Finder::Scheduler, nowhere);
    let words: &[&str] = &["3.10.404"];
    let unpulled = Said { type_: "Degraded", reason: Reason::ImagePullFailed, words };
    named(&right.replace("version: 3.10.8", "version: 3.10.404"), Finder::Kubelet, unpulled);
    let words: &[&str] = &["Secret not-there is missing", "correct `secretName`"];
    let uncredited = Said { type_: "Degraded", reason: Reason::CredentialsMissing, words };
    named(&cluster.manifest(1, &["secretName: not-there"]), Finder::Agent, uncredited);
    // In the cluster's own zone, where nobody else is asked.
    let words: &[&str] = &["svc.not.cluster.local", "correct `clusterDomain`"];
    let unresolved = Said { type_: "Degraded", reason: Reason::NameUnresolved, words };
    named(&cluster.manifest(1, &["clusterDomain: not.cluster.local"]), Finder::Agent, unresolved);
    let words: &[&str] = &["in Secret not-there", "or remove `definitionsSecretName`"];
    let undefined = Said { type_: "Degraded", reason: Reason::DefinitionsMissing, words };
    let definitions = cluster.manifest(1, &["definitionsSecretName: not-there"]);
    named(&definitions, Finder::Agent, undefined);
    cluster.service().apply(&right);
    cluster.wait_nodes(1);
    cluster.service().end();
}

/// Assert that it was refused, with these words.
fn is_refused(outcome: anyhow::Result<String>, words: &str) {
    let error = format!("{:#}", outcome.expect_err("should be refused"));
    assert!(error.contains(words), "refused with other words: {error}");
}

pub fn policies() {
    let cluster = three();
    let namespace = cluster.name;
    let members = [0, 1].map(|ordinal| cluster.service().member_name(ordinal));
    let account = format!("{namespace}-rmq-member");
    let pod = Person::account(namespace, &account, Some(members[0].as_str()));
    let pod = pod.expect("a kubeconfig of a pod");
    // What its status says already: to write it changes nothing.
    let address = cluster.service().member(0)["status"]["address"].take();
    let written = json!({ "status": { "address": address } });
    let write = |member: &str| pod.write_status(namespace, ("ServiceMember", member), &written);
    write(&members[0]).expect("its own status");
    is_refused(write(&members[1]), "may not write the status of");
    let admin = Person::user("kim", &["system:masters", "system:authenticated"]);
    let admin = admin.expect("a kubeconfig of a person");
    let member = format!("servicemember/{}", members[0]);
    let by_admin = |words: &[&str]| {
        admin.kubectl(&[words, &["--dry-run=server", "-n", namespace]].concat(), "")
    };
    let spec = json!({ "spec": { "restartToken": "now" } }).to_string();
    let changed = by_admin(&["patch", &member, "--type=merge", "-p", &spec]);
    is_refused(changed, "only the operator writes the spec of a member");
    is_refused(by_admin(&["delete", &member]), "`nodes` of the RabbitmqCluster");
    by_admin(&["annotate", &member, "palladion.dev/replace=some-volume"])
        .expect("the annotation is for people");
}

pub fn every_example() {
    let namespace = "rmq-examples";
    bed().fresh_namespace(namespace).expect("a namespace");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/rabbitmq");
    let files = std::fs::read_dir(folder).expect("examples");
    let names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".yaml").map(Into::into))
        .collect();
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let words = ["create", "--dry-run=server", "-n", namespace, "-f", "-", "-o", "json"];
        let made = bed().cluster.kubectl_with_input(&words, &example(&name));
        let made = made.unwrap_or_else(|e| panic!("{name}: {e:#}"));
        let made: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(made["kind"], "RabbitmqCluster", "{name}");
    }
    bed().kubectl(&format!("delete namespace {namespace} --wait=false")).expect("clean up");
}
