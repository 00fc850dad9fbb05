//! `cargo xtask mutants`: breaks one safety rule at a time in a copy of the
//! sources, and sees a test fail. A mutant that no test catches is a defect of
//! the tests. The mutants stand in `xtask/mutants/`.

mod list;
mod report;
mod trial;
mod workplace;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use palladion_testbed::cache::Cache;

use crate::install;
use list::Mutant;
use report::{Outcome, Report};
use trial::{Tests, Tried};
use workplace::Workplace;

/// Where the copy of the sources and what is built from it are kept.
const CACHED: &str = "mutants";

#[derive(Args)]
pub struct Arguments {
    /// Only mutants with this in their name; may be repeated
    #[arg(long)]
    only: Vec<String>,
    /// List the mutants and their tests, and run nothing
    #[arg(long)]
    list: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut mutants = list::read(install::root())?;
    let wanted = |mutant: &Mutant| arguments.only.iter().any(|name| mutant.name.contains(name));
    mutants.retain(|mutant| arguments.only.is_empty() || wanted(mutant));
    if mutants.is_empty() {
        bail!("no mutant has {:?} in its name; --list names them all", arguments.only);
    }
    if arguments.list {
        mutants.iter().for_each(|mutant| println!("{mutant}"));
        return Ok(());
    }
    let place = Workplace::open(&Cache::of_user()?.root().join(CACHED), install::root())?;
    let report = try_all(&place, &mutants)?;
    println!("{report}");
    match report.not_caught() {
        0 => Ok(()),
        n => bail!("{n} of {} mutants were not caught: see the table", mutants.len()),
    }
}

fn try_all(place: &Workplace, mutants: &[Mutant]) -> Result<Report> {
    all_pass_without(place, mutants)?;
    let mut report = Report::default();
    for (index, mutant) in mutants.iter().enumerate() {
        let begin = Instant::now();
        let outcome = place.with(mutant, || Ok(outcome(&trial::run(place, &tests(mutant))?)))?;
        let seconds = begin.elapsed().as_secs();
        eprintln!("{}/{} {}: {outcome}, {seconds} s", index + 1, mutants.len(), mutant.name);
        report.add(mutant, outcome, seconds);
    }
    Ok(report)
}

fn tests(mutant: &Mutant) -> Tests<'_> {
    Tests { suite: mutant.suite, names: mutant.tests.iter().map(String::as_str).collect() }
}

/// A test that fails anyway catches nothing.
fn all_pass_without(place: &Workplace, mutants: &[Mutant]) -> Result<()> {
    let mut suites: Vec<Tests<'_>> = Vec::new();
    for mutant in mutants {
        match suites.iter_mut().find(|tests| tests.suite == mutant.suite) {
            Some(tests) => tests.names.extend(mutant.tests.iter().map(String::as_str)),
            None => suites.push(tests(mutant)),
        }
    }
    for tests in &suites {
        eprintln!("without a mutant: tests of {}", tests.suite.package());
        match trial::run(place, tests)? {
            Tried::Passed => {}
            Tried::Failed(names) => {
                bail!("these tests fail without a mutant: {}", names.join(", "))
            }
            Tried::NotBuilt(why) | Tried::Ended(why) => {
                bail!("running tests of {} without a mutant: {why}", tests.suite.package())
            }
        }
    }
    Ok(())
}

fn outcome(tried: &Tried) -> Outcome {
    match tried {
        Tried::Passed => Outcome::Survived,
        Tried::Failed(names) => Outcome::Caught(names.clone()),
        Tried::NotBuilt(why) | Tried::Ended(why) => Outcome::Unfit(why.clone()),
    }
}
