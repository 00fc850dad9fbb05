//! `cargo xtask soak`: the same tests with their long repetitions, and the
//! simulator without its shortcuts.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use palladion_e2e::story::Length;
use palladion_testbed::ClusterName;

use super::conclude;
use super::lanes::{self, Bench, Playing};
use super::steps::Tally;
use crate::install;

/// The simulator disturbs every write instead of a spread of them.
const SIMULATE_ALL: &str = "PALLADION_SIM_ALL";
/// How many random histories the simulator plays.
const HISTORIES: &str = "PALLADION_SIM_HISTORIES";

#[derive(Args)]
pub struct SoakArguments {
    /// Name of the testbed; it is recreated, and so is the one beside it with 2 appended to the name
    #[arg(long, default_value = "soak", value_parser = ClusterName::parse)]
    name: ClusterName,
    #[command(flatten)]
    playing: Playing,
    /// Random histories of the simulator
    #[arg(long, default_value_t = 150)]
    histories: u32,
}

/// Run everything that landing has no time for.
pub fn soak(arguments: &SoakArguments) -> Result<()> {
    let begin = Instant::now();
    let mut tally = Tally::default();
    let SoakArguments { name, playing, histories } = arguments;
    let bench = Bench { name, playing, length: Length::Soak };
    if playing.list {
        return bench.list();
    }
    if !playing.is_part() {
        let outcome = offline(*histories, &mut tally);
        tally.ended(outcome);
    }
    let outcome = lanes::run(&bench, &mut tally);
    tally.ended(outcome);
    conclude(begin, &tally)
}

fn offline(histories: u32, tally: &mut Tally) -> Result<()> {
    tally.step(
        "simulator, every write",
        "",
        Command::new(env!("CARGO"))
            .current_dir(install::root())
            .args(["test", "--package", "palladion-cassandra", "--locked"])
            .args(["--test", "scenarios", "--", "--nocapture"])
            .env(SIMULATE_ALL, "1")
            .env(HISTORIES, histories.to_string()),
    )?;
    tally.step(
        "the testbed itself",
        "",
        Command::new(env!("CARGO"))
            .current_dir(install::root())
            .args(["test", "--package", "palladion-testbed", "--locked"])
            .args(["--test", "real", "--", "--ignored", "--test-threads", "1"]),
    )
}
