//! A whole pod without Kubernetes, Erlang and root: the real init and agent, a fake API, and
//! a fake RabbitMQ that this same binary plays when it is started under the name of one of
//! its programs. What the fake takes and answers follows RabbitMQ 3.10's own interface: the
//! environment of its start script, `rabbitmq.conf`, the verbs and the JSON of its command
//! line, and the pages of its management API. Real nodes are in `tests/real`.
#![allow(clippy::unwrap_used, missing_docs)]

mod cases;
#[path = "../../../agent/tests/pod/fake_api.rs"]
mod fake_api;
mod fake_cli;
mod fake_node;
mod fake_state;
mod harness;
#[path = "../../../agent/tests/pod/processes.rs"]
mod processes;

use clap::Parser;
use palladion_agent_rabbitmq::cli::Verb;
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
    match arguments[0].rsplit('/').next() {
        Some("rabbitmq-server") => {
            fake_node::run();
            return ExitCode::SUCCESS;
        }
        Some(program) if harness::PROGRAMS.contains(&program) => {
            return fake_cli::run(program, &arguments[1..]);
        }
        Some(_) | None => {}
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
