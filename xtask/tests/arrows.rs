//! The arrows of the house go down only: doors → engine → minds → plan → api.
//! A mind, `plan` and `api` do no I/O; only `engine` and the agent know the
//! Kubernetes client.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Crates that no pure crate may depend on: run times, clients, clocks by thread, randomness.
const IMPURE: [&str; 9] =
    ["tokio", "kube", "kube-client", "reqwest", "hyper", "axum", "rand", "uuid", "etcd-client"];
const PURE: [&str; 4] =
    ["palladion-api", "palladion-plan", "palladion-cassandra", "palladion-zonedset"];
const MINDS: [&str; 2] = ["palladion-cassandra", "palladion-zonedset"];
const KNOW_KUBE: [&str; 3] = ["palladion-engine", "palladion-agent", "palladion-e2e"];

/// Direct dependencies of each workspace crate, without those for tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .expect("cargo metadata should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("metadata lists packages");
    packages
        .iter()
        .map(|package| {
            let normal = package["dependencies"].as_array().into_iter().flatten();
            let names = normal
                .filter(|d| d["kind"].is_null() || d["kind"] == "build")
                .filter_map(|d| d["name"].as_str().map(str::to_string));
            (package["name"].as_str().unwrap_or_default().to_string(), names.collect())
        })
        .collect()
}

#[test]
fn pure_crates_do_no_io() {
    let all = dependencies();
    for name in PURE.iter().filter(|name| all.contains_key(**name)) {
        let impure: Vec<_> = IMPURE.iter().filter(|i| all[*name].contains(**i)).collect();
        assert!(
            impure.is_empty(),
            "{name} depends on {impure:?}: facts come in through the Snapshot"
        );
    }
    assert!(
        all.contains_key("palladion-plan"),
        "the list of pure crates no longer fits the workspace"
    );
}

#[test]
fn a_mind_imports_no_other_mind_and_no_door() {
    let all = dependencies();
    for mind in MINDS.iter().filter(|name| all.contains_key(**name)) {
        for other in all.keys().filter(|k| k.starts_with("palladion-") && k != mind) {
            let allowed = matches!(other.as_str(), "palladion-api" | "palladion-plan");
            assert!(allowed || !all[*mind].contains(other), "{mind} must not depend on {other}");
        }
    }
}

#[test]
fn the_engine_knows_no_system_and_only_it_and_the_agent_know_the_client() {
    let all = dependencies();
    for mind in MINDS {
        assert!(!all["palladion-engine"].contains(mind), "engine must not depend on {mind}");
    }
    for (name, needs) in &all {
        assert!(
            !needs.contains("kube") || KNOW_KUBE.contains(&name.as_str()),
            "{name} depends on kube; only {KNOW_KUBE:?} may"
        );
    }
}
