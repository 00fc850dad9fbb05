//! What is refused, by whom, and with which words.

use std::path::Path;
use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::mistakes::{Finder, Said, wait_named};
use palladion_e2e::person::Person;
use palladion_e2e::zookeeper::{Ensemble, example};
use serde_json::{Value, json};

use super::forming::three;

const WRONG: &str = "zk-wrong";

pub fn refused() {
    bed().fresh_namespace(WRONG).expect("a namespace");
    let right = Ensemble { name: WRONG }.manifest(3, &["paused: true"]);
    let cases = [
        ("servers: 3", "servers: 2", "1, 3, 5 or 7"),
        ("version: 3.9.3", "version: 3.7.2", "3.8"),
        ("paused: true", "config: {db.autocreate: 'true'}", "`db.*`"),
        ("paused: true", "config: {server.4: 10.0.0.4}", "`server.*`"),
        ("paused: true", "env: [{name: JVMFLAGS, value: -Da=b}]", "JVMFLAGS"),
        ("-XX:+UseSerialGC", "-Dzookeeper.snapshot.trust.empty=true", "config"),
        ("paused: true", "ports: {client: 2888}", "port"),
        ("limits: {memory: 512Mi}", "limits: {memory: 64Mi}", "memory"),
    ];
    for (from, to, expected) in cases {
        let wrong = right.replace(from, to);
        assert_ne!(wrong, right, "the case should change something: {from}");
        let error = bed().apply(WRONG, &wrong).expect_err("should be refused");
        assert!(format!("{error:#}").contains(expected), "{to}: {error:#}");
    }
    bed().apply(WRONG, &right).expect("what is right is accepted");
    let moved = json!({ "spec": { "ports": { "client": 2182 } } });
    let error = bed().patch(WRONG, "zookeepercluster", WRONG, &moved).expect_err("refused");
    assert!(format!("{error:#}").contains("ports"), "{error:#}");
    bed().kubectl(&format!("delete namespace {WRONG} --wait=false")).expect("clean up");
}

/// Each manifest corrects the mistake before it and makes the next: what is named then is the
/// next one alone.
pub fn named_and_cured() {
    const NAME: &str = "zk-mistakes";
    let ensemble = Ensemble { name: NAME };
    let class = "storage: {volumeClaimTemplate: {spec: {storageClassName: fast-and-missing}}}";
    let placement = "placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}]}}}";
    let variable = "env: [{name: A, valueFrom: {secretKeyRef: {name: not-there, key: k}}}]";
    let right = ensemble.manifest(1, &[]);
    bed().fresh_namespace(NAME).expect("a namespace");
    let named = |wrong: &str, finder: Finder, said: Said| {
        assert_ne!(wrong, right, "the case should change something");
        ensemble.service().apply(wrong);
        wait_named((NAME, "zookeepercluster", NAME), &said, (finder, NAME), Instant::now());
    };
    let words: &[&str] = &["fast-and-missing", "create it, or name another"];
    let missing = Said { type_: "Accepted", reason: Reason::StorageClassMissing, words };
    named(&ensemble.manifest(1, &[class]), Finder::Operator, missing);
    let words: &[&str] = &["nodes are available"];
    let nowhere = Said { type_: "Degraded", reason: Reason::Unschedulable, words };
    named(&ensemble.manifest(1, &[placement]), Finder::Scheduler, nowhere);
    let words: &[&str] = &["3.9.404"];
    let unpulled = Said { type_: "Degraded", reason: Reason::ImagePullFailed, words };
    named(&right.replace("version: 3.9.3", "version: 3.9.404"), Finder::Kubelet, unpulled);
    let words: &[&str] = &["not-there"];
    let failing = Said { type_: "Degraded", reason: Reason::PodFailing, words };
    named(&ensemble.manifest(1, &[variable]), Finder::Kubelet, failing);
    ensemble.service().apply(&right);
    ensemble.wait_servers(1);
    ensemble.service().end();
}

/// Assert that it was refused, with these words.
fn is_refused(outcome: anyhow::Result<String>, words: &str) {
    let error = format!("{:#}", outcome.expect_err("should be refused"));
    assert!(error.contains(words), "refused with other words: {error}");
}

/// What the status of a member says already: to write it changes nothing.
fn address_of(namespace: &str, member: &str) -> String {
    let found = bed().get(namespace, "servicemember", member).expect("get").expect("a member");
    found["status"]["address"].as_str().expect("its address").to_owned()
}

pub fn policies() {
    let ensemble = three();
    let (namespace, members) =
        (ensemble.name, [ensemble.service().member_name(0), ensemble.service().member_name(1)]);
    let account = format!("{namespace}-zk-member");
    let pod = Person::account(namespace, &account, Some(members[0].as_str()));
    let pod = pod.expect("a kubeconfig of a pod");
    let written = json!({ "status": { "address": address_of(namespace, &members[0]) } });
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
    is_refused(by_admin(&["delete", &member]), "lower `servers`");
    is_refused(by_admin(&["label", &member, "palladion.dev/zookeeper-"]), "identifying labels");
    by_admin(&["annotate", &member, "palladion.dev/replace=some-volume"])
        .expect("the annotation is for people");
}

pub fn every_example() {
    let namespace = "zk-examples";
    bed().fresh_namespace(namespace).expect("a namespace");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/zookeeper");
    let files = std::fs::read_dir(folder).expect("examples");
    let names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".yaml").map(Into::into))
        .collect();
    assert!(names.len() >= 2, "{names:?}");
    for name in names {
        let words = ["create", "--dry-run=server", "-n", namespace, "-f", "-", "-o", "json"];
        let made = bed().cluster.kubectl_with_input(&words, &example(&name));
        let made = made.unwrap_or_else(|e| panic!("{name}: {e:#}"));
        let made: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(made["kind"], "ZookeeperCluster", "{name}");
    }
    bed().kubectl(&format!("delete namespace {namespace} --wait=false")).expect("clean up");
}
