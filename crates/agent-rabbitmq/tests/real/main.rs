//! Real nodes of RabbitMQ under the real init and agent: each pod in namespaces of its own,
//! on a bridge that nothing else is on. The test is the operator, over a fake API.
//!
//! Needs root, `unshare`, and RabbitMQ with Erlang, and some minutes, so that it runs when
//! it is asked for: `cargo test -p palladion-agent-rabbitmq --test real -- --ignored`, with
//! the directory of `rabbitmq-server` in `RABBITMQ_BIN`, or Debian's package installed.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../../../e2e/src/rabbitmq/client.rs"]
#[allow(dead_code, reason = "stories on a testbed use more of it")]
mod amqp;
mod cases;
mod cluster;
#[path = "../../../agent/tests/pod/fake_api.rs"]
mod fake_api;
#[path = "../../../agent-zookeeper/tests/real/network.rs"]
mod network;
mod pod;
#[path = "../../../agent/tests/pod/processes.rs"]
mod processes;
mod streams;

use clap::Parser;
use palladion_agent_rabbitmq::cli::Verb;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

/// Where Debian's package has the programs that do not change the user.
const DEBIAN: &str = "/usr/lib/rabbitmq/bin";

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
    let Some(bin) = bin() else {
        eprintln!("no RabbitMQ is here: set RABBITMQ_BIN, or install Debian's rabbitmq-server");
        return ExitCode::FAILURE;
    };
    if !network::is_own() {
        return network::again_in_own(&arguments);
    }
    run(&bin, arguments.iter().find(|argument| !argument.starts_with('-')))
}

fn bin() -> Option<PathBuf> {
    let named = std::env::var_os("RABBITMQ_BIN").map(PathBuf::from);
    named.or_else(|| Some(DEBIAN.into())).filter(|bin| bin.join("rabbitmq-server").exists())
}

fn run(bin: &std::path::Path, wanted: Option<&String>) -> ExitCode {
    network::build();
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in cases::ALL {
        if wanted.is_some_and(|word| !name.contains(word.as_str())) {
            continue;
        }
        let word = match catch_unwind(AssertUnwindSafe(|| case(bin))) {
            Ok(()) => {
                passed += 1;
                "ok"
            }
            Err(_) => {
                failed += 1;
                "FAILED"
            }
        };
        println!("test {name} ... {word}");
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
