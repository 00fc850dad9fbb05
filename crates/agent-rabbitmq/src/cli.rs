//! The verbs of the agent in a pod of RabbitMQ. They are those of every agent, so that
//! pods of all systems are built alike; `PALLADION_SYSTEM` says whose pod it is.

use crate::agent;
use crate::settings::Settings;
use anyhow::Result;
use clap::Subcommand;
use palladion_agent_core::{drain, init};
use std::process::ExitCode;

/// What `PALLADION_SYSTEM` says in pods of RabbitMQ.
pub const RABBITMQ: &str = "rabbitmq";

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Run as process 1 of the server's container: start, reap, signal.
    Init(Settings),
    /// Run the agent; `init` starts it.
    Agent(Settings),
    /// Ask the running agent to hand over the node's queues and to drain it (preStop hook). Never fails the hook.
    Drain {
        /// Longest time to wait for the answer, in seconds.
        #[arg(long, default_value_t = 120)]
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
    use palladion_api::rabbitmq::CREDENTIALS_DIR;

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        verb: Verb,
    }

    /// As the operator writes them into pods; the rest comes from the environment.
    #[test]
    fn the_words_of_pod_templates_are_understood() {
        let pod = "--pod-name r-0 --pod-namespace n --pod-uid u --node-name n --pod-revision r";
        let parsed = |verb: &str| {
            let words = format!("agent {verb} {pod}");
            Cli::try_parse_from(words.split(' ')).map(|cli| cli.verb)
        };
        let Ok(Verb::Init(settings)) = parsed("init") else { panic!("it is init") };
        assert_eq!(settings.data_root.to_str(), Some("/palladion"));
        assert_eq!(settings.data_dir.to_str(), Some("/var/lib/rabbitmq"));
        assert_eq!(settings.credentials_dir.to_str(), Some(CREDENTIALS_DIR));
        assert!(settings.server_address.is_loopback());
        assert!(matches!(parsed("agent"), Ok(Verb::Agent(_))));
        assert!(matches!(parsed("drain"), Ok(Verb::Drain { timeout: 120, .. })));
    }
}
