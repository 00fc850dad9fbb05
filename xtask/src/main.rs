//! The project's chores: `cargo xtask --help` lists them.
//!
//! One module per chore; each has an `Arguments` type and a `run`.

mod bench;
mod demo;
mod generate;
mod idle;
mod install;
mod install_cli;
mod mutants;
mod test;
mod testbed;
mod testbed_fault;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's chores")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// A real Cassandra ring on a real Kubernetes, from one command
    Demo(demo::Arguments),
    /// Make all generated files from the Rust types
    Generate(generate::Arguments),
    /// Build `kubectl palladion` and put it where kubectl finds its plugins
    InstallCli(install_cli::Arguments),
    /// The figures of the project, measured in one run and written to a report
    Bench(bench::Arguments),
    /// Break one safety rule at a time in a copy of the sources, and see a test fail
    Mutants(mutants::Arguments),
    /// Run the long repetitions that landing has no time for: on a testbed, and in the simulator
    Soak(test::SoakArguments),
    /// All that must pass before a change lands
    Test(test::Arguments),
    /// A real Kubernetes on this machine: start it, use it, break it, remove it
    Testbed(testbed::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Demo(arguments) => demo::run(&arguments),
        Chore::Generate(arguments) => generate::run(&arguments),
        Chore::InstallCli(arguments) => install_cli::run(&arguments),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Mutants(arguments) => mutants::run(&arguments),
        Chore::Soak(arguments) => test::soak(&arguments),
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Testbed(arguments) => testbed::run(arguments),
    }
}
