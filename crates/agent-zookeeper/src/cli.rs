//! The verbs of the agent in a pod of ZooKeeper. They are those of every agent, so that
//! pods of all systems are built alike; `PALLADION_SYSTEM` says whose pod it is.

use crate::agent;
use crate::settings::Settings;
use anyhow::Result;
use clap::Subcommand;
use palladion_agent_core::{drain, init};
use std::process::ExitCode;

/// The variable by which a pod says which system its server is one of.
pub const SYSTEM: &str = "PALLADION_SYSTEM";
/// What it says in pods of ZooKeeper.
pub const ZOOKEEPER: &str = "zookeeper";

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Run as process 1 of the server's container: start, reap, signal.
    Init(Settings),
    /// Run the agent; `init` starts it.
    Agent(Settings),
    /// Tell the running agent that the container is about to end (preStop hook). Never fails the hook.
    Drain {
        /// Longest time to wait for the answer, in seconds.
        #[arg(long, default_value_t = 10)]
        timeout: u64,
        /// Where its socket is.
        #[command(flatten)]
        settings: Settings,
    },
}

impl Verb {
    /// Do it.
    ///
    /// # Errors
    /// What could not be done, and why.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Verb::Init(settings) => return init::run(&settings.pod.init_socket()),
            Verb::Agent(settings) => agent::run(settings)?,
            Verb::Drain { timeout, settings } => drain::ask(&settings.pod.agent_socket(), timeout),
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        verb: Verb,
    }

    /// As the operator writes them into pods; the rest comes from the environment.
    #[test]
    fn the_words_of_pod_templates_are_understood() {
        let pod = "--pod-name zk-0 --pod-namespace n --pod-uid u --node-name n --pod-revision r";
        let parsed = |verb: &str| {
            let words = format!("agent {verb} {pod}");
            Cli::try_parse_from(words.split(' ')).map(|cli| cli.verb)
        };
        let Ok(Verb::Init(settings)) = parsed("init") else { panic!("it is init") };
        assert_eq!(settings.data_root.to_str(), Some("/palladion"));
        assert_eq!(settings.data_dir.to_str(), Some("/data"));
        assert_eq!(settings.log_dir.to_str(), Some("/datalog"));
        assert!(settings.server_address.is_loopback());
        assert!(matches!(parsed("agent"), Ok(Verb::Agent(_))));
        assert!(matches!(parsed("drain"), Ok(Verb::Drain { timeout: 10, .. })));
    }
}
