//! `cargo xtask soak`: the same tests with their long repetitions, the simulator without
//! its shortcuts, the agents with real servers, and backups with stores of other projects.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use palladion_e2e::story::Length;
use palladion_testbed::ClusterName;

use super::lanes::{self, Bench, Playing};
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

/// Where Debian's package has the programs of RabbitMQ.
const DEBIANS_RABBITMQ: &str = "/usr/lib/rabbitmq/bin";
/// The directory that they are in elsewhere.
const RABBITMQ: &str = "RABBITMQ_BIN";

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
    /// Random histories of the simulator
    #[arg(long, default_value_t = 150)]
    histories: u32,
}

/// Run everything that landing has no time for.
pub fn soak(arguments: &SoakArguments) -> Result<()> {
    let begin = Instant::now();
    let mut tally = Tally::default();
    let SoakArguments { name, playing, stores, histories } = arguments;
    let bench = Bench { name, playing, length: Length::Soak };
    if playing.list {
        return bench.list();
    }
    room::look()?;
    if *stores {
        stores::with_stores(&mut tally);
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

/// The agents of services with real servers, without Kubernetes. The libraries of ZooKeeper come
/// by Maven, as those of the testbed do. RabbitMQ is to be on this machine: that of the testbed is
/// in an image. Where it is not, its tests are counted as left out.
fn with_real_servers(tally: &mut Tally) -> Result<()> {
    let has_nodes = has_rabbitmq(std::env::var_os(RABBITMQ));
    if !has_nodes {
        eprintln!(
            "no rabbitmq-server in {DEBIANS_RABBITMQ}, nor in {RABBITMQ}: the tests of its agent with real nodes are left out"
        );
    }
    for (package, has_servers) in
        [("palladion-agent-zookeeper", true), ("palladion-agent-rabbitmq", has_nodes)]
    {
        let mut command = cargo(&["test", "--package", package, "--locked", "--test", "real"]);
        if has_servers {
            command.args(["--", "--ignored"]);
        }
        tally.step(&format!("{package} with real servers"), "", &mut command)?;
    }
    Ok(())
}

/// Is there a server where its agent's tests look for one?
fn has_rabbitmq(named: Option<OsString>) -> bool {
    let directory = named.map_or_else(|| DEBIANS_RABBITMQ.into(), PathBuf::from);
    directory.join("rabbitmq-server").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rabbitmq_is_where_its_programs_are() {
        let directory = std::env::temp_dir().join(format!("rabbitmq-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let named = || Some(directory.clone().into_os_string());
        assert!(!has_rabbitmq(named()));
        std::fs::write(directory.join("rabbitmq-server"), "").expect("written");
        assert!(has_rabbitmq(named()));
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
