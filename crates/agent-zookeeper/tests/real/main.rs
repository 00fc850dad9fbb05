//! Real servers of ZooKeeper under the real init and agent: each pod in namespaces of its
//! own, on a bridge that nothing else is on. The test is the operator, over a fake API.
//!
//! Needs root, Java and Maven, and some minutes, so that it runs when it is asked for:
//! `cargo test -p palladion-agent-zookeeper --test real -- --ignored`, with a version of
//! `images/zookeeper` in `ZOOKEEPER_VERSION`, or all of them.
#![allow(clippy::unwrap_used, missing_docs)]

mod cases;
mod client;
mod disk;
mod ensemble;
#[path = "../../../agent/tests/pod/fake_api.rs"]
mod fake_api;
mod image;
mod network;
mod pod;
#[path = "../../../agent/tests/pod/processes.rs"]
mod processes;

use clap::Parser;
use palladion_agent_zookeeper::cli::Verb;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// What this program is inside a pod.
#[derive(Parser)]
struct Agent {
    #[command(subcommand)]
    verb: Verb,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| pod::VERBS.contains(&first.as_str())) {
        return Agent::parse().verb.run().unwrap();
    }
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    if has("--list") {
        let word = if has("--ignored") { "test" } else { "ignored" };
        cases::ALL.iter().for_each(|(name, _)| println!("{name}: {word}"));
        return ExitCode::SUCCESS;
    }
    if !has("--ignored") && !has("--include-ignored") {
        println!("\ntest result: ok. 0 passed; 0 failed; {} ignored", cases::ALL.len());
        return ExitCode::SUCCESS;
    }
    if !network::is_own() {
        return network::again_in_own(&arguments);
    }
    run(arguments.iter().find(|argument| !argument.starts_with('-')))
}

fn run(wanted: Option<&String>) -> ExitCode {
    network::build();
    let mut failed = Vec::new();
    let mut passed = 0;
    for version in image::versions() {
        let home = image::home(&version);
        for (name, case) in cases::ALL {
            let name = format!("{name} ({version})");
            if wanted.is_some_and(|word| !name.contains(word.as_str())) {
                continue;
            }
            match catch_unwind(AssertUnwindSafe(|| case(&home))) {
                Ok(()) => passed += 1,
                Err(_) => failed.push(name.clone()),
            }
            let word = if failed.contains(&name) { "FAILED" } else { "ok" };
            println!("test {name} ... {word}");
        }
    }
    let word = if failed.is_empty() { "ok" } else { "FAILED" };
    println!("\ntest result: {word}. {passed} passed; {} failed; 0 ignored", failed.len());
    if failed.is_empty() && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
