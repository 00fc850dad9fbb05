//! The API server judges every manifest as the unit tests do.

use std::path::Path;
use std::sync::LazyLock;
use std::thread;

use anyhow::Context as _;
use palladion_e2e::bed;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::person::Person;
use serde_json::{Value, json};

use super::admin;
use crate::manifests::{Manifest, Verdict, read_all};

/// So many manifests are judged at a time, each in a namespace of its own: most of the time
/// kubectl waits for the API server.
const JUDGES: usize = 4;

/// Folders of manifests: of rings, of stacks, and of each kind below those. Zoned sets have a
/// story of their own.
const FOLDERS: [&str; 5] = ["", "stack", "zookeeper", "rabbitmq", "service-member"];

/// Kinds whose objects do nothing while they are paused.
const PAUSABLE: [&str; 7] = [
    "cassandracluster",
    "component",
    "nodeagentgroup",
    "rabbitmqcluster",
    "registration",
    "stack",
    "zookeepercluster",
];

/// Members, which the operator alone creates.
const MEMBERS: [&str; 2] = ["cassandramember", "servicemember"];

pub(super) fn every_manifest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/manifests");
    let manifests: Vec<Manifest> =
        FOLDERS.iter().flat_map(|folder| read_all(&root.join(folder))).collect();
    let wrong: Vec<String> = thread::scope(|scope| {
        let judge = |judge: usize| {
            let manifests = manifests.iter().skip(judge).step_by(JUDGES);
            scope.spawn(move || all_wrong(manifests, &format!("admission-manifests-{judge}")))
        };
        let judges: Vec<_> = (0..JUDGES).map(judge).collect();
        judges.into_iter().flat_map(|judge| judge.join().expect("a judge")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), manifests.len(), wrong.join("\n"));
    let alone = manifests.iter().filter(|m| m.offline_unsupported.is_some()).count();
    println!("{} manifests judged by the API server, {alone} of them by it alone", manifests.len());
}

/// Folders of examples of rings; those of other kinds are read in their own stories.
const EXAMPLES: [&str; 2] = ["cassandra", "tasks"];

/// With the schemas, the rules and the policies of a real cluster.
pub(super) fn every_example() {
    let namespace = "admission-examples";
    bed().fresh_namespace(namespace).expect("a namespace");
    for folder in EXAMPLES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(folder);
        let files = std::fs::read_dir(&folder).expect("examples").count();
        let folder = folder.display();
        let line = format!("create --dry-run=server -n {namespace} -o name -f {folder}");
        let made = bed().kubectl(&line).unwrap_or_else(|e| panic!("{folder}: {e:#}"));
        assert!(made.lines().count() >= files && files > 0, "{files} files in {folder}:\n{made}");
    }
    bed().remove_namespace(namespace).expect("the namespace to go");
}

/// What is wrong with the verdicts on these.
fn all_wrong<'a>(manifests: impl Iterator<Item = &'a Manifest>, namespace: &str) -> Vec<String> {
    bed().fresh_namespace(namespace).expect("a namespace");
    let told = |m: &Manifest| wrong(m, namespace).map(|why| format!("{}: {why}", m.name));
    let wrong = manifests.filter_map(told).collect();
    bed().remove_namespace(namespace).expect("the namespace to go");
    wrong
}

/// What is wrong with the API server's verdict, if anything.
fn wrong(manifest: &Manifest, namespace: &str) -> Option<String> {
    let kind = manifest.new["kind"].as_str()?.to_lowercase();
    let name = manifest.new["metadata"]["name"].as_str()?;
    let said = match &manifest.old {
        None => dry_run(&kind, "create", &manifest.new, namespace),
        Some(old) => {
            if let Err(error) = store(&kind, name, old, namespace) {
                return Some(format!("what was there before is itself refused: {error}"));
            }
            let said = dry_run(&kind, "replace", &manifest.new, namespace);
            writer(&kind)
                .kubectl(&["delete", &kind, name, "-n", namespace, "--wait=true"], "")
                .expect("an object to go");
            said
        }
    };
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

fn dry_run(kind: &str, verb: &str, object: &Value, namespace: &str) -> anyhow::Result<String> {
    let words = [verb, "--dry-run=server", "-n", namespace, "-f", "-"];
    writer(kind).kubectl(&words, &object.to_string())
}

/// Store an object for a moment, and paused: no ring is to come of it.
fn store(kind: &str, name: &str, object: &Value, namespace: &str) -> anyhow::Result<()> {
    let mut object = object.clone();
    if PAUSABLE.contains(&kind) {
        object["spec"]["paused"] = json!(true);
    }
    writer(kind).kubectl(&["create", "-n", namespace, "-f", "-"], &object.to_string())?;
    // A status that is created with an object is not stored; its owner writes it.
    if !object["status"].is_null() {
        let status = json!({ "status": object["status"] }).to_string();
        let target = ["patch", kind, name, "-n", namespace, "--subresource=status"];
        let words = [&target[..], &["--type=merge", "-p", &status]].concat();
        writer(kind).kubectl(&words, "").context("writing its status")?;
    }
    Ok(())
}

/// Who writes manifests of a kind: members are the operator's to make. With
/// every right of the API server, so that nothing but admission judges.
fn writer(kind: &str) -> &'static Person {
    static OPERATOR: LazyLock<Person> = LazyLock::new(|| {
        let name = format!("system:serviceaccount:{OPERATOR_NAMESPACE}:palladion-operator");
        Person::user(&name, &["system:masters", "system:authenticated"])
            .expect("a kubeconfig of the operator")
    });
    if MEMBERS.contains(&kind) { &OPERATOR } else { admin() }
}
