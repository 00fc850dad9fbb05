//! The arrows of the house go down only: doors → engine → minds → plan → api.
//! A mind, `plan` and `api` do no I/O; only `engine` and the agent know the
//! Kubernetes client. Within a mind the wings form no circle.

mod proofs;
mod wings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Crates that no pure crate may depend on: run times, clients, clocks by thread, randomness.
const IMPURE: [&str; 9] =
    ["tokio", "kube", "kube-client", "reqwest", "hyper", "axum", "rand", "uuid", "etcd-client"];
const GRAMMAR: [&str; 2] = ["palladion-api", "palladion-plan"];
/// Arrows between the wings of one mind that lie on a circle; lower it when
/// there are fewer, never raise it.
const ARROWS_ON_CIRCLES: usize = 0;
const KNOW_KUBE: [&str; 4] =
    ["palladion-engine", "palladion-agent-core", "palladion-agent", "palladion-e2e"];

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

/// A mind speaks the grammar, and neither carries plans out nor puts minds together.
fn minds(all: &BTreeMap<String, BTreeSet<String>>) -> Vec<&str> {
    // Stores of locks speak to what the engine is given.
    let is_io = |name: &str| ["palladion-engine", "palladion-locks"].contains(&name);
    let is_door = |name: &str| is_io(name) || all[name].contains("palladion-engine");
    let speaks = all.iter().filter(|(_, needs)| needs.contains("palladion-plan"));
    let minds: Vec<&str> = speaks.map(|(n, _)| n.as_str()).filter(|n| !is_door(n)).collect();
    assert!(minds.contains(&"palladion-cassandra"), "the minds are no longer found: {minds:?}");
    minds
}

#[test]
fn the_test_of_what_pure_crates_can_read_names_every_mind() {
    let all = dependencies();
    let pure = include_str!("pure.rs");
    let (_, listed) = pure.split_once("const PURE: [&str; ").expect("pure.rs has a list");
    let (listed, _) = listed.split_once("];").expect("it ends");
    for name in GRAMMAR.into_iter().chain(minds(&all)) {
        let quoted = format!("\"{}\"", name.trim_start_matches("palladion-"));
        assert!(listed.contains(&quoted), "{name} is pure, but not in {listed}");
    }
}

#[test]
fn pure_crates_do_no_io() {
    let all = dependencies();
    for name in GRAMMAR.into_iter().chain(minds(&all)) {
        let impure: Vec<_> = IMPURE.iter().filter(|i| all[name].contains(**i)).collect();
        assert!(
            impure.is_empty(),
            "{name} depends on {impure:?}: facts come in through the Snapshot"
        );
    }
}

#[test]
fn a_mind_imports_no_other_mind_and_no_door() {
    let all = dependencies();
    for mind in minds(&all) {
        for other in all.keys().filter(|k| k.starts_with("palladion-") && *k != mind) {
            let allowed = GRAMMAR.contains(&other.as_str());
            assert!(allowed || !all[mind].contains(other), "{mind} must not depend on {other}");
        }
    }
}

#[test]
fn the_engine_knows_no_system_and_only_it_and_the_agent_know_the_client() {
    let all = dependencies();
    for mind in minds(&all) {
        assert!(!all["palladion-engine"].contains(mind), "engine must not depend on {mind}");
    }
    for (name, needs) in &all {
        assert!(
            !needs.contains("kube") || KNOW_KUBE.contains(&name.as_str()),
            "{name} depends on kube; only {KNOW_KUBE:?} may"
        );
    }
}

/// What every agent has knows no system, and what a pod runs knows nothing of plans.
#[test]
fn the_agents_stand_on_their_core_and_no_agent_knows_a_plan() {
    let all = dependencies();
    let ours = |name: &str| {
        let needs = all[name].iter().filter(|need| need.starts_with("palladion-"));
        needs.map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(ours("palladion-agent-core"), ["palladion-api"]);
    // What holds keys and buffers knows neither Kubernetes nor the server.
    let below_transfer = ["palladion-api", "palladion-backup", "palladion-store"];
    assert_eq!(ours("palladion-agent-transfer"), below_transfer);
    assert!(!all["palladion-agent-transfer"].contains("kube"));
    assert_eq!(ours("palladion-store"), ["palladion-backup"]);
    assert_eq!(ours("palladion-backup"), ["palladion-api"]);
    for name in all.keys().filter(|name| name.starts_with("palladion-agent")) {
        let strangers = ["palladion-plan", "palladion-engine"];
        assert!(
            ours(name).iter().all(|need| !strangers.contains(need)),
            "{name}: {:?}",
            ours(name)
        );
    }
}

#[test]
#[allow(clippy::absurd_extreme_comparisons, reason = "the number written there is zero today")]
fn the_wings_of_a_mind_form_no_circle() {
    for mind in minds(&dependencies()) {
        let folder = mind.trim_start_matches("palladion-");
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(folder).join("src");
        let arrows = wings::arrows(&wings::sources(&src));
        assert!(!arrows.is_empty(), "{mind}: no arrow between files was read");
        let circular = wings::on_circles(&arrows);
        assert!(
            circular.len() <= ARROWS_ON_CIRCLES,
            "{mind}: wings need each other: {circular:#?}; move what both need down"
        );
    }
}

#[test]
fn a_circle_of_wings_is_seen() {
    let source = |path: &str, text: &str| (path.to_string(), text.to_string());
    let sources = [
        source("decide/mod.rs", "pub mod join;\npub mod turn;\n"),
        source("decide/join/mod.rs", "use crate::decide::{turn::lock, evidence};"),
        source("decide/turn/lock.rs", "fn f() { super::super::join::next(); }"),
        source("decide/evidence/ask.rs", "// crate::decide::join\nuse crate::facts::Facts;"),
        source("facts.rs", ""),
    ];
    let arrow = |from: &str, to: &str| (from.to_string(), to.to_string());
    let arrows = wings::arrows(&sources);
    assert!(arrows.contains(&arrow("decide/join", "decide/evidence")), "{arrows:?}");
    assert!(arrows.contains(&arrow("decide/evidence", "facts")), "{arrows:?}");
    let circle = [arrow("decide/join", "decide/turn"), arrow("decide/turn", "decide/join")];
    assert_eq!(wings::on_circles(&arrows), circle.into());
}

#[test]
fn only_evidence_makes_proofs() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let sources = wings::sources(&crates);
    for mind in ["cassandra", "zonedset", "zookeeper", "rabbitmq", "stack"] {
        let maker = format!("{mind}/src/decide/evidence/proof.rs");
        assert_eq!(proofs::reads(&sources, &maker), Some(true), "{maker} makes no proofs");
    }
    let found = proofs::strangers(&sources);
    assert!(found.is_empty(), "{found:#?}: only what gathers evidence makes proofs");
}

/// Each is a way in which a decider could come to make proofs by itself.
#[test]
fn a_decider_that_makes_proofs_is_seen() {
    let decider = "cassandra/src/decide/leave/steps.rs";
    let evidence = "cassandra/src/decide/evidence/proof.rs";
    let kept = "use palladion_plan::proof::MakesProofs;\nstruct Gathered;\nimpl MakesProofs for Gathered {}";
    let found =
        |path: &str, text: &str| proofs::strangers(&[(path.to_string(), text.to_string())]).len();
    assert_eq!(found(evidence, kept), 0);
    assert_eq!(found(decider, "// MakesProofs is not for us\nfn f() {}"), 0);
    for planted in [
        kept,
        "use palladion_plan::proof::MakesProofs as Right;\nimpl Right for Leaver {}",
        "use palladion_plan::proof::*;\nimpl MakesProofs for Leaver {}",
        "use palladion_plan::{proof::{self, Proof}};\nimpl proof::MakesProofs for Leaver {}",
        "impl palladion_plan::proof::MakesProofs\n    for Leaver\n{}",
        "#[derive(palladion_plan::MakesProofs)]\nstruct Leaver;",
    ] {
        assert_eq!(found(decider, planted), 1, "{planted}");
    }
    for planted in [
        kept.replace("struct", "pub struct"),
        kept.replace("struct", "pub(crate) struct"),
        kept.replace("use", "pub use"),
        kept.replace("use", "pub(super) use"),
        kept.replace("impl MakesProofs for Gathered", "impl<T> MakesProofs for T"),
        kept.replace("for Gathered", "for super::Member"),
        format!("{kept}\npub fn right() -> impl MakesProofs {{ Gathered }}"),
        format!("{kept}\npub type Right = Gathered;"),
        format!("{kept}\npub const RIGHT: Gathered = Gathered;"),
    ] {
        assert_eq!(found(evidence, &planted), 1, "{planted}");
    }
}
