//! `cargo xtask test`: everything that must pass before a change lands. Closes
//! with one line of counts, which are those of the tests that ran.

mod lanes;
mod programs;
mod room;
mod servers;
mod soak;
mod steps;
mod stores;

use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use palladion_e2e::story::Length;
use palladion_testbed::ClusterName;

use crate::{idle, install};
use lanes::{Bench, Playing};
use programs::Program;
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
    let mut programs = Vec::new();
    if is_offline {
        match offline(is_on_testbeds, &mut tally) {
            Ok(built) => programs = built,
            Err(error) => tally.ended(Err(error)),
        }
    }
    match (is_offline, is_on_testbeds) {
        (true, true) => beside(&bench, &mut tally, || in_idle_time(&programs)),
        (true, false) => tally.add(in_idle_time(&programs)),
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
    // What is at the end of a long log is what is read first.
    for line in &tally.reasons {
        eprintln!("{line}");
    }
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

/// What needs no testbed, but for what can wait; returns all test programs. What testbeds need
/// is built meanwhile: most of these tests wait more than they compute.
fn offline(is_on_testbeds: bool, tally: &mut Tally) -> Result<Vec<Program>> {
    let steps: [(&str, &[&str]); 2] = [
        ("format", &["fmt", "--all", "--check"]),
        ("generated files", &["xtask", "generate", "--check"]),
    ];
    for (name, words) in steps {
        tally.step(name, "", &mut cargo(words))?;
    }
    let mut programs = Vec::new();
    tally.timed("building the tests", || {
        programs = programs::all()?;
        Ok(())
    });
    // By name, so that two runs can be compared.
    programs.sort_by_key(Program::name);
    thread::scope(|scope| {
        let built = is_on_testbeds.then(|| scope.spawn(install::build_in_idle_time));
        for program in programs.iter().filter(|p| !is_played(p) && !is_timeless(p)) {
            run_program(program, &[], "", tally)?;
        }
        let Some(built) = built else { return Ok(()) };
        built.join().map_err(|_| anyhow!("the thread that builds for the testbeds broke"))?
    })?;
    Ok(programs)
}

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(install::root()).args(words);
    command
}

fn run_program(program: &Program, before: &[&str], prefix: &str, tally: &mut Tally) -> Result<()> {
    let mut command = program.command(before);
    tally.step(&program.name(), prefix, command.env("INSTA_UPDATE", "no"))
}

/// Is it a program of the end-to-end tests that plays on testbeds? Their runner's own tests do
/// not.
fn is_played(program: &Program) -> bool {
    program.package == "palladion-e2e" && !program.is_unit
}

/// Crates in whose tests no clock of the machine counts: the minds, whose simulators have their
/// own, and what is computed from what is given. They take longer than all others together.
const TIMELESS: [&str; 7] = [
    "palladion-api",
    "palladion-backup",
    "palladion-cassandra",
    "palladion-rabbitmq",
    "palladion-stack",
    "palladion-zonedset",
    "palladion-zookeeper",
];

/// What stands before each line of what runs in idle time.
const IDLE: &str = "[idle] ";

/// May it take as long as it likes?
fn is_timeless(program: &Program) -> bool {
    TIMELESS.contains(&program.package.as_str())
}

/// Tests that may take as long as they like, the linter, and the examples in documentation, in
/// the time that nobody else wants.
fn in_idle_time(programs: &[Program]) -> Tally {
    let mut tally = Tally::default();
    for program in programs.iter().filter(|p| is_timeless(p)) {
        let outcome = run_program(program, &idle::BEFORE, IDLE, &mut tally);
        tally.ended(outcome);
    }
    let steps: [(&str, &[&str]); 2] = [
        ("clippy", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
        (
            "examples in documentation",
            &["test", "--workspace", "--locked", "--doc", "--no-fail-fast"],
        ),
    ];
    for (name, words) in steps {
        let mut command = idle::command(env!("CARGO"));
        command.current_dir(install::root()).args(words);
        let outcome = tally.step(name, IDLE, &mut command);
        tally.ended(outcome);
    }
    tally
}
