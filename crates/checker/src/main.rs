//! `palladion-checker`: see the library.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use palladion_checker::{load, verify};

/// Nothing can be said about the data.
const COULD_NOT_LOOK: u8 = 2;

#[derive(Parser)]
#[command(
    name = "palladion-checker",
    about = "Writes known data to a ring while things happen to it, and reads every replica by itself afterwards",
    after_help = "Exit codes of verify: 0 nothing is wrong, 1 the data is wrong, 2 it could not be read"
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write for a time, and note every attempt and its answer
    Load(load::Arguments),
    /// Compare what the ring holds with what was acknowledged
    Verify(verify::Arguments),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().verb).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(COULD_NOT_LOOK)
        }
    }
}

/// JSON for programs goes to standard output, sentences to standard error.
async fn run(verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::Load(arguments) => {
            println!("{}", serde_json::to_string(&load::run(&arguments).await?)?);
            Ok(ExitCode::SUCCESS)
        }
        Verb::Verify(arguments) => {
            let report = verify::run(&arguments).await?;
            println!("{}", serde_json::to_string(&report)?);
            eprint!("{}", report.sentences());
            Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}
