//! The agents of services with real servers, without Kubernetes. The libraries of ZooKeeper come
//! by Maven, as those of the testbed do; RabbitMQ is that of the testbed's image, with its Erlang.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use palladion_testbed::cache::Cache;
use palladion_testbed::images;
use palladion_testbed::progress::Lines;

use super::cargo;
use super::steps::Tally;

const ZOOKEEPER: &str = "palladion-agent-zookeeper";
const RABBITMQ: &str = "palladion-agent-rabbitmq";
/// The directory in which somebody has another RabbitMQ.
const NAMED: &str = "RABBITMQ_BIN";

/// Programs that are made for `/usr`, and find each other there, laid over what this machine has
/// there, for one command alone. `$0` is where they are.
const OVER: &str = r#"mount -t overlay overlay -o "lowerdir=$0/usr:/usr" /usr || {
    echo "cannot mount an overlay on /usr in a mount namespace; this needs root" >&2
    exit 1
}
exec "$@""#;

/// All of them.
pub fn with_real_servers(tally: &mut Tally) -> Result<()> {
    step(tally, ZOOKEEPER, &mut tests_of(ZOOKEEPER))?;
    let mut of_rabbitmq = match std::env::var_os(NAMED) {
        Some(_) => tests_of(RABBITMQ),
        None => over(&rabbitmq()?, &tests_of(RABBITMQ)),
    };
    step(tally, RABBITMQ, &mut of_rabbitmq)
}

fn step(tally: &mut Tally, package: &str, command: &mut Command) -> Result<()> {
    tally.step(&format!("{package} with real servers"), "", command)
}

fn tests_of(package: &str) -> Command {
    let mut command = cargo(&["test", "--package", package, "--locked", "--test", "real"]);
    command.args(["--", "--ignored"]);
    command
}

/// RabbitMQ and Erlang, as the testbed has them.
fn rabbitmq() -> Result<PathBuf> {
    let version = images::RABBITMQ_VERSIONS[0];
    images::rabbitmq_programs(&Cache::of_user()?, version, &mut Lines)
        .with_context(|| format!("taking RabbitMQ {version} out of the testbed's image"))
}

/// The same command where these programs are in `/usr`.
fn over(programs: &Path, command: &Command) -> Command {
    let mut over = Command::new("unshare");
    over.args(["--mount", "--", "sh", "-c", OVER]).arg(programs);
    over.arg(command.get_program()).args(command.get_args());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    over.envs(set.collect::<Vec<(&OsStr, &OsStr)>>());
    if let Some(directory) = command.get_current_dir() {
        over.current_dir(directory);
    }
    over
}
