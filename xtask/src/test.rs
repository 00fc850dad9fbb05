//! `cargo xtask test`: everything that must pass before a change lands. Closes
//! with one line of counts, which are those of the tests that ran.

mod lanes;
mod room;
mod soak;
mod steps;

use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use palladion_e2e::story::Length;
use palladion_testbed::ClusterName;

use crate::install;
use lanes::{Bench, Playing};
pub use soak::{SoakArguments, soak};
use steps::Tally;

#[derive(Args)]
pub struct Arguments {
    /// Leave out the tests that need the testbed
    #[arg(long)]
    no_testbed: bool,
    /// Leave out all that needs no testbed: play the stories alone
    #[arg(long, conflicts_with = "no_testbed")]
    no_offline: bool,
    /// Name of the testbed, its own, so that one left running is not touched;
    /// those beside it have 2, 3 and so on behind the name
    #[arg(long, default_value = "ci", value_parser = ClusterName::parse)]
    name: ClusterName,
    #[command(flatten)]
    playing: Playing,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let begin = Instant::now();
    let mut tally = Tally::default();
    let Arguments { name, playing, no_testbed, no_offline } = arguments;
    let bench = Bench { name, playing, length: Length::Landing };
    if playing.list {
        return bench.list();
    }
    room::look()?;
    let (is_offline, is_on_testbeds) = (!playing.is_part() && !no_offline, !no_testbed);
    if is_offline {
        let outcome = offline(&mut tally).and_then(|()| build_the_mind());
        tally.ended(outcome);
    }
    match (is_offline, is_on_testbeds) {
        (true, true) => beside(&bench, &mut tally, the_mind),
        (true, false) => tally.add(the_mind()),
        (false, true) => {
            let outcome = lanes::run(&bench, &mut tally);
            tally.ended(outcome);
        }
        (false, false) => {}
    }
    conclude(begin, &tally)
}

/// Plays the stories, and runs `other` in the time that these leave: they wait for
/// servers more than they compute.
fn beside(bench: &Bench, tally: &mut Tally, other: impl FnOnce() -> Tally + Send) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let outcome = lanes::run(bench, tally);
        tally.ended(outcome);
        match other.join() {
            Ok(counted) => tally.add(counted),
            Err(_) => tally.ended(Err(anyhow!("the thread beside the stories broke"))),
        }
    });
}

fn conclude(begin: Instant, tally: &Tally) -> Result<()> {
    for failure in &tally.failures {
        eprintln!("failed: {failure}");
    }
    eprintln!("{:.0} s in all", begin.elapsed().as_secs_f64());
    println!("{}", tally.closing_line());
    if !tally.failures.is_empty() {
        bail!("{} failed, named above", tally.failures.len());
    }
    if tally.counts.passed + tally.counts.failed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

fn offline(tally: &mut Tally) -> Result<()> {
    let steps: [(&str, &[&str]); 5] = [
        ("format", &["fmt", "--all", "--check"]),
        ("clippy", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
        ("generated files", &["xtask", "generate", "--check"]),
        (
            "unit and snapshot tests",
            &[
                "test",
                "--workspace",
                "--exclude",
                "palladion-e2e",
                "--exclude",
                "palladion-cassandra",
                "--locked",
                "--no-fail-fast",
            ],
        ),
        ("runner of the stories", &["test", "--package", "palladion-e2e", "--locked", "--lib"]),
    ];
    for (name, words) in steps {
        tally.step(
            name,
            "",
            Command::new(env!("CARGO"))
                .current_dir(install::root())
                .args(words)
                .env("INSTA_UPDATE", "no"),
        )?;
    }
    Ok(())
}

/// The tests of the Cassandra mind, of which the simulator's stories take as long as
/// all others together.
const MIND: [&str; 5] = ["test", "--package", "palladion-cassandra", "--locked", "--no-fail-fast"];

/// Before anything is measured by a clock: a compiler takes what rings need.
fn build_the_mind() -> Result<()> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(install::root()).args(MIND).arg("--no-run");
    let built = command.status().context("building the tests of the mind")?;
    if !built.success() {
        bail!("the tests of palladion-cassandra do not compile; what the compiler says is above");
    }
    Ok(())
}

fn the_mind() -> Tally {
    let mut tally = Tally::default();
    let mut command = Command::new("nice");
    command
        .current_dir(install::root())
        .args(["-n", "19", env!("CARGO")])
        .args(MIND)
        .env("INSTA_UPDATE", "no");
    let outcome = tally.step("unit tests and simulator of the mind", "[mind] ", &mut command);
    tally.ended(outcome);
    tally
}
