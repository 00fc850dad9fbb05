//! A whole pod without Kubernetes and without Java: the real init and agent, a
//! fake API, and a fake server that this same binary plays when it is started
//! under the name `java`.
#![allow(clippy::unwrap_used, missing_docs)]

mod added;
mod backups;
mod cases;
mod certificates;
mod fake_api;
mod fake_backup;
mod fake_cql;
mod fake_load;
mod fake_replay;
mod fake_server;
mod harness;
mod living;
mod processes;
mod starting;

use std::panic::{AssertUnwindSafe, catch_unwind};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments[0].ends_with("/java") {
        fake_server::run(&arguments[1..]);
        return std::process::ExitCode::SUCCESS;
    }
    let wanted = arguments.iter().skip(1).find(|a| !a.starts_with('-'));
    let chosen = |name: &str| wanted.is_none_or(|w| name.contains(w.as_str()));
    let list = arguments.iter().any(|a| a == "--list");
    let all: Vec<_> = cases::all().filter(|(name, _)| chosen(name)).collect();
    if list {
        all.iter().for_each(|(name, _)| println!("{name}: test"));
        return std::process::ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", all.len());
    let mut failed = Vec::new();
    for (name, case) in &all {
        match catch_unwind(AssertUnwindSafe(case)) {
            Ok(()) => println!("test {name} ... ok"),
            Err(_) => {
                println!("test {name} ... FAILED");
                failed.push(*name);
            }
        }
    }
    let (word, passed) =
        (if failed.is_empty() { "ok" } else { "FAILED" }, all.len() - failed.len());
    let filtered = cases::all().count() - all.len();
    println!(
        "\ntest result: {word}. {passed} passed; {} failed; 0 ignored; 0 measured; {filtered} filtered out",
        failed.len()
    );
    if failed.is_empty() {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
