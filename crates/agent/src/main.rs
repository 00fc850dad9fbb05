//! `palladion-agent`: init and agent of a server's container. This file only says
//! which command does what; see the libraries for how. One program for all systems: the
//! pod says whose it is, and its commands are the same.

use anyhow::Result;
use clap::{Parser, Subcommand};
use palladion_agent::{agent, cdc, drain, init, install, settings::Settings};
use palladion_agent_gate::cli::Staged;
use palladion_agent_rabbitmq::cli::{RABBITMQ, Verb as OfRabbitmq};
use palladion_agent_transfer::archive::link;
use palladion_agent_transfer::run as transfer;
use palladion_agent_zookeeper::cli::{SYSTEM, Verb, ZOOKEEPER};
use palladion_api::server_config::CDC_DIRECTORY_VARIABLE;
use std::path::PathBuf;
use std::process::ExitCode;

/// Init and agent of a Palladion database container.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Init and agent of a ZooKeeper container.
#[derive(Parser)]
#[command(version, about)]
struct ZookeeperCli {
    #[command(subcommand)]
    verb: Verb,
}

/// Init and agent of a RabbitMQ container.
#[derive(Parser)]
#[command(version, about)]
struct RabbitmqCli {
    #[command(subcommand)]
    verb: OfRabbitmq,
}

#[derive(Subcommand)]
enum Command {
    /// Copy this binary and the Java agents beside it to a directory (init container).
    Install {
        /// Where to copy to.
        directory: PathBuf,
        /// Where the Java agents of the image are.
        #[arg(long, default_value = "/")]
        from: PathBuf,
        /// The directory that a reader of changes mounts: made before the reader starts.
        #[arg(long, env = CDC_DIRECTORY_VARIABLE)]
        cdc: Option<PathBuf>,
    },
    /// Run as process 1 of the database container: start, reap, signal.
    Init(Settings),
    /// Run the agent; `init` starts it.
    Agent(Settings),
    #[command(flatten)]
    Staged(Staged),
    /// Move the bytes of a backup: reads what to do from standard input; the agent starts it.
    Transfer,
    /// Link a segment of the commit log so that it stays until it is archived; the server starts it.
    Link {
        /// The segment.
        path: PathBuf,
        /// Where it is linked to.
        target: PathBuf,
    },
    /// Ask the running agent to drain the server (preStop hook). Never fails the hook.
    Drain {
        /// Longest time to wait for the answer, in seconds.
        #[arg(long, default_value_t = 90)]
        timeout: u64,
        #[command(flatten)]
        settings: Settings,
    },
}

fn main() -> Result<ExitCode> {
    let system = std::env::var_os(SYSTEM);
    if system.as_ref().is_some_and(|system| system == ZOOKEEPER) {
        return ZookeeperCli::parse().verb.run();
    }
    if system.is_some_and(|system| system == RABBITMQ) {
        return RabbitmqCli::parse().verb.run();
    }
    match Cli::parse().command {
        Command::Install { directory, from, cdc } => {
            install::run(&from, &directory)?;
            cdc.map_or(Ok(()), |directory| cdc::prepare(&directory))?;
        }
        Command::Init(settings) => return init::run(&settings.pod.init_socket()),
        Command::Agent(settings) => agent::run(settings)?,
        Command::Staged(staged) => return staged.run(),
        Command::Transfer => return Ok(transfer::run()),
        Command::Link { path, target } => link::link(&path, &target)?,
        Command::Drain { timeout, settings } => drain::ask(&settings.pod.agent_socket(), timeout),
    }
    Ok(ExitCode::SUCCESS)
}
