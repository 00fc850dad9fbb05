//! `cargo xtask test`: everything that must pass before a change lands. Closes
//! with one line of counts, which are those of the tests that ran.

mod lanes;
mod soak;
mod steps;

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
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
    /// a second one, with 2 behind the name, works beside it
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
    if !playing.is_part() && !no_offline {
        let outcome = offline(&mut tally);
        tally.ended(outcome);
    }
    if !no_testbed {
        let outcome = lanes::run(&bench, &mut tally);
        tally.ended(outcome);
    }
    conclude(begin, &tally)
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
            &["test", "--workspace", "--exclude", "palladion-e2e", "--locked", "--no-fail-fast"],
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
