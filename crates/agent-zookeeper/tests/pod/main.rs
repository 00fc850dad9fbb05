//! A whole pod without Kubernetes, Java and root: the real init and agent, a fake API, and
//! a fake server that this same binary plays when it is started under the name `java`.
#![allow(clippy::unwrap_used, missing_docs)]

mod cases;
#[path = "../../../agent/tests/pod/fake_api.rs"]
mod fake_api;
mod fake_server;
mod harness;
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
    let arguments: Vec<String> = std::env::args().collect();
    if arguments[0].ends_with("/java") {
        fake_server::run(&arguments[1..]);
        return ExitCode::SUCCESS;
    }
    if arguments.get(1).is_some_and(|first| ["init", "agent", "drain"].contains(&first.as_str())) {
        return Agent::parse().verb.run().unwrap();
    }
    let wanted = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'));
    let chosen = |name: &str| wanted.is_none_or(|word| name.contains(word.as_str()));
    let all: Vec<_> = cases::ALL.iter().filter(|(name, _)| chosen(name)).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        all.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", all.len());
    let mut failed = 0;
    for (name, case) in &all {
        let word = match catch_unwind(AssertUnwindSafe(case)) {
            Ok(()) => "ok",
            Err(_) => {
                failed += 1;
                "FAILED"
            }
        };
        println!("test {name} ... {word}");
    }
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, all.len() - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
