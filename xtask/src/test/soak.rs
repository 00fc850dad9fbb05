//! `cargo xtask soak`: the same tests with their long repetitions, the simulator without
//! its shortcuts, the agents with real servers, and backups with stores of other projects.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use palladion_e2e::story::Length;
use palladion_testbed::ClusterName;

use super::lanes::{self, Bench, Playing};
use super::servers::with_real_servers;
use super::steps::Tally;
use super::{beside, cargo, conclude, room, stores};
use crate::{idle, install};

/// The simulator disturbs every write instead of a spread of them.
const SIMULATE_ALL: &str = "PALLADION_SIM_ALL";
/// How many random histories the simulator plays.
const HISTORIES: &str = "PALLADION_SIM_HISTORIES";
/// The minds whose simulators do, with the test that plays each.
const SIMULATORS: [(&str, &str); 3] = [
    ("palladion-cassandra", "scenarios"),
    ("palladion-zookeeper", "ensemble"),
    ("palladion-rabbitmq", "cluster"),
];

/// Optimised, which landing has no time to compile: the stories take a quarter.
fn words<'a>((package, test): (&'a str, &'a str)) -> [&'a str; 8] {
    ["test", "--profile", "simulator", "--package", package, "--locked", "--test", test]
}

#[derive(Args)]
pub struct SoakArguments {
    /// Name of the testbed; it is recreated, and so are those beside it with 2, 3 and so on appended to the name
    #[arg(long, default_value = "soak", value_parser = ClusterName::parse)]
    name: ClusterName,
    #[command(flatten)]
    playing: Playing,
    /// Install the stores of other projects and run their tests, and nothing else
    #[arg(long, conflicts_with_all = ["only", "from"])]
    stores: bool,
    /// Run the tests of the agents of ZooKeeper and RabbitMQ with real servers, and nothing else
    #[arg(long, conflicts_with_all = ["only", "from", "stores"])]
    servers: bool,
    /// Random histories of the simulator
    #[arg(long, default_value_t = 150)]
    histories: u32,
}

/// Run everything that landing has no time for.
pub fn soak(arguments: &SoakArguments) -> Result<()> {
    let begin = Instant::now();
    let mut tally = Tally::default();
    let SoakArguments { name, playing, stores, servers, histories } = arguments;
    let bench = Bench { name, playing, length: Length::Soak };
    if playing.list {
        return bench.list();
    }
    room::look()?;
    if *stores {
        stores::with_stores(&mut tally);
        return conclude(begin, &tally);
    }
    if *servers {
        let outcome = with_real_servers(&mut tally);
        tally.ended(outcome);
        return conclude(begin, &tally);
    }
    if playing.is_part() {
        let outcome = lanes::run(&bench, &mut tally);
        tally.ended(outcome);
        return conclude(begin, &tally);
    }
    let outcome =
        build().and_then(|()| the_testbed(&mut tally)).and_then(|()| with_real_servers(&mut tally));
    tally.ended(outcome);
    stores::with_stores(&mut tally);
    beside(&bench, &mut tally, || simulator(*histories));
    conclude(begin, &tally)
}

/// Before anything is measured by a clock: a compiler takes what rings need.
fn build() -> Result<()> {
    for simulator in SIMULATORS {
        let mut command = cargo(&words(simulator));
        let built = command.arg("--no-run").status().context("building the simulator")?;
        if !built.success() {
            let (package, _) = simulator;
            bail!("the simulator of {package} does not compile; what the compiler says is above");
        }
    }
    Ok(())
}

/// Every write, and random histories.
fn simulator(histories: u32) -> Tally {
    let mut tally = Tally::default();
    for simulator in SIMULATORS {
        let mut command = idle::command(env!("CARGO"));
        command
            .current_dir(install::root())
            .args(words(simulator))
            .args(["--", "--nocapture"])
            .env(SIMULATE_ALL, "1")
            .env(HISTORIES, histories.to_string());
        let (package, _) = simulator;
        let step = format!("simulator of {package}, every write");
        let outcome = tally.step(&step, "[simulator] ", &mut command);
        tally.ended(outcome);
    }
    tally
}

fn the_testbed(tally: &mut Tally) -> Result<()> {
    let words = ["test", "--package", "palladion-testbed", "--locked", "--test", "real"];
    let mut command = cargo(&words);
    command.args(["--", "--ignored", "--test-threads", "1"]);
    tally.step("the testbed itself", "", &mut command)
}
