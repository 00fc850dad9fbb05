//! `cargo xtask test`: everything that must pass before a change lands. Closes
//! with one line of counts, which are those of the tests that ran.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use palladion_testbed::progress::Lines;
use palladion_testbed::{Cluster, ClusterName, Config};

use crate::install;

/// Tests repeat what is too long for landing where this is set to 1.
const SOAK: &str = "PALLADION_SOAK";
/// The simulator disturbs every write instead of a spread of them.
const SIMULATE_ALL: &str = "PALLADION_SIM_ALL";
/// How many random histories the simulator plays.
const HISTORIES: &str = "PALLADION_SIM_HISTORIES";

#[derive(Args)]
pub struct SoakArguments {
    /// Name of the testbed; it is made anew
    #[arg(long, default_value = "soak", value_parser = ClusterName::parse)]
    name: ClusterName,
    /// Keep the testbed afterwards, to look at a failure
    #[arg(long)]
    keep: bool,
    /// Run only the testbed tests whose name contains this, and no simulation
    #[arg(long)]
    only: Option<String>,
    /// Random histories of the simulator
    #[arg(long, default_value_t = 150)]
    histories: u32,
}

/// `cargo xtask soak`: the same tests with their long repetitions, and the
/// simulator without its shortcuts.
pub fn soak(arguments: &SoakArguments) -> Result<()> {
    let begin = Instant::now();
    let mut counts = Counts::default();
    let mut failures: Vec<String> = Vec::new();
    if arguments.only.is_none() {
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(install::root())
            .args(["test", "--package", "palladion-cassandra", "--locked"])
            .args(["--test", "scenarios", "--", "--nocapture"])
            .env(SIMULATE_ALL, "1")
            .env(HISTORIES, arguments.histories.to_string());
        step(
            "simulator, every write",
            &mut command,
            &mut counts,
            &mut failures,
        )?;
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(install::root())
            .args(["test", "--package", "palladion-testbed", "--locked"])
            .args(["--test", "real", "--", "--ignored", "--test-threads", "1"]);
        step(
            "the testbed itself",
            &mut command,
            &mut counts,
            &mut failures,
        )?;
    }
    let arguments = Arguments {
        no_testbed: false,
        keep: arguments.keep,
        name: arguments.name.clone(),
        only: arguments.only.clone(),
        length: Length::Soak,
    };
    on_testbed(&arguments, &mut counts, &mut failures)?;
    conclude(begin, counts, &failures)
}

/// How often the tests repeat what they do.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// As often as landing has time for.
    #[default]
    Landing,
    /// As often as the issues ask for.
    Soak,
}

#[derive(Args)]
pub struct Arguments {
    /// Leave out the tests that need the testbed
    #[arg(long)]
    no_testbed: bool,
    /// Keep the testbed afterwards, to look at a failure
    #[arg(long)]
    keep: bool,
    /// Name of the testbed: its own, so that one left running is not touched
    #[arg(long, default_value = "ci", value_parser = ClusterName::parse)]
    name: ClusterName,
    /// Run only the testbed tests whose name contains this
    #[arg(long)]
    only: Option<String>,
    #[arg(skip)]
    length: Length,
}

/// Counts of tests that ran.
#[derive(Default, Clone, Copy)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let begin = Instant::now();
    let mut counts = Counts::default();
    let mut failures: Vec<String> = Vec::new();
    if arguments.only.is_none() {
        offline(&mut counts, &mut failures)?;
    }
    if !arguments.no_testbed {
        on_testbed(arguments, &mut counts, &mut failures)?;
    }
    conclude(begin, counts, &failures)
}

fn conclude(begin: Instant, counts: Counts, failures: &[String]) -> Result<()> {
    let ignored = if counts.ignored > 0 {
        format!(", {} skipped", counts.ignored)
    } else {
        String::new()
    };
    for failure in failures {
        eprintln!("failed: {failure}");
    }
    eprintln!("{:.0} s in all", begin.elapsed().as_secs_f64());
    if counts.passed + counts.failed == 0 {
        bail!("no test ran");
    }
    // A failed check that is no test, such as formatting, counts as one.
    let failed = counts
        .failed
        .max(u64::try_from(failures.len()).unwrap_or(1));
    println!("{} passed, {failed} failed{ignored}", counts.passed);
    if !failures.is_empty() {
        bail!("{} step(s) failed", failures.len());
    }
    Ok(())
}

fn offline(counts: &mut Counts, failures: &mut Vec<String>) -> Result<()> {
    let steps: [(&str, &[&str]); 4] = [
        ("format", &["fmt", "--all", "--check"]),
        (
            "clippy",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ],
        ),
        ("generated files", &["xtask", "generate", "--check"]),
        (
            "unit and snapshot tests",
            &[
                "test",
                "--workspace",
                "--exclude",
                "palladion-e2e",
                "--locked",
                "--no-fail-fast",
            ],
        ),
    ];
    for (name, words) in steps {
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(install::root())
            .args(words)
            .env("INSTA_UPDATE", "no");
        step(name, &mut command, counts, failures)?;
    }
    Ok(())
}

fn on_testbed(
    arguments: &Arguments,
    counts: &mut Counts,
    failures: &mut Vec<String>,
) -> Result<()> {
    // One that an earlier run left behind is not what a fresh machine has.
    Cluster::down(&arguments.name, &mut Lines)?;
    let outcome = prepared(arguments, counts, failures);
    if arguments.keep {
        eprintln!("kept: cargo xtask testbed --name {} down", arguments.name);
    } else {
        Cluster::down(&arguments.name, &mut Lines)?;
    }
    outcome
}

fn prepared(arguments: &Arguments, counts: &mut Counts, failures: &mut Vec<String>) -> Result<()> {
    let config = Config {
        name: arguments.name.clone(),
        ..Config::default()
    };
    let cluster = Cluster::up(&config, &mut Lines)?;
    // Some tests probe by a command in the container, a right that is not given by default.
    install::install(&cluster, &["zonedStatefulSet.allowExec=true"], &mut Lines)?;
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(install::root())
        .args([
            "test",
            "--package",
            "palladion-e2e",
            "--locked",
            "--no-fail-fast",
            "--",
        ])
        .args(["--test-threads", "1", "--nocapture"])
        .args(&arguments.only)
        .env("PALLADION_TESTBED", arguments.name.as_str());
    if arguments.length == Length::Soak {
        command.env(SOAK, "1");
    }
    let failed_before = failures.len();
    step("tests on the testbed", &mut command, counts, failures)?;
    if failures.len() > failed_before {
        // A part of the testbed that has ended explains more than the tests can.
        eprintln!("the testbed is {}", cluster.status()?);
    }
    Ok(())
}

/// Run one step, pass its output on, and read the counts from it.
fn step(
    name: &str,
    command: &mut Command,
    counts: &mut Counts,
    failures: &mut Vec<String>,
) -> Result<()> {
    eprintln!("== {name}");
    let begin = Instant::now();
    let (status, ran) = run_counting(command).with_context(|| format!("running {name}"))?;
    counts.add(ran);
    let took = begin.elapsed().as_secs_f64();
    if status.success() {
        eprintln!("== {name}: passed in {took:.0} s");
    } else {
        eprintln!("== {name}: FAILED after {took:.0} s");
        failures.push(name.to_string());
    }
    Ok(())
}

fn run_counting(command: &mut Command) -> Result<(ExitStatus, Counts)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut counts = Counts::default();
    let stdout = child.stdout.take().context("reading its output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        if let Some(found) = result_line(&line) {
            counts.add(found);
        }
    }
    Ok((child.wait()?, counts))
}

/// The closing line of one test binary: `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn result_line(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |word: &str| {
        rest.split("; ")
            .find_map(|part| part.strip_suffix(word))
            .and_then(|n| n.trim().parse().ok())
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
        ignored: number("ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_closing_line_of_a_test_binary() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.01s";
        let counts = result_line(line).expect("should be read");
        assert_eq!((counts.passed, counts.failed, counts.ignored), (3, 2, 1));
        assert!(result_line("test decide::joins ... ok").is_none());
    }
}
