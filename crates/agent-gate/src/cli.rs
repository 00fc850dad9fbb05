//! The verbs of the agent in pods of staged services.

use crate::probe;
use crate::reload::Taken;
use crate::run::{self, Place};
use crate::words::gate::Ended;
use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use palladion_api::gate::AGENT_PATH;
use rustix::process;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where the kubelet looks for the reason why a container has ended.
const TERMINATION_LOG: &str = "/dev/termination-log";
/// The variable with the address of the pod.
const POD_IP: &str = "PALLADION_POD_IP";
/// The host that stands for it.
const POD_IP_HOST: &str = "pod-ip";

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Staged {
    /// Wait until the services of this pod may start (init container).
    Gate(Mounted),
    /// Signal a process of this pod whenever its configuration has changed.
    Reload {
        /// What the kubelet has mounted.
        #[command(flatten)]
        mounted: Mounted,
        /// Name of the process.
        #[arg(long, required_unless_present = "check")]
        process: Option<String>,
        /// The signal.
        #[arg(long, value_enum, default_value = "HUP")]
        signal: SignalName,
        /// Only say whether the process was found and the last change taken in time (readiness probe).
        #[arg(long)]
        check: bool,
    },
    /// Succeed if a GET is answered with 200 (readiness probe).
    Probe {
        /// The host; `pod-ip` is the address of the pod.
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// The port.
        #[arg(long)]
        port: u16,
        /// The path.
        #[arg(long, default_value = "/")]
        path: String,
    },
}

/// What the kubelet has mounted.
#[derive(Args, Debug, Clone)]
pub struct Mounted {
    /// The file of the pod's labels.
    #[arg(long, default_value = "/tmp/podinfo/pod_labels")]
    labels: PathBuf,
    /// The directory of the configuration of all pods.
    #[arg(long, requires = "key")]
    config: Option<PathBuf>,
    /// The key of this pod's configuration.
    #[arg(long)]
    key: Option<String>,
    /// The directory that the containers of this pod share.
    #[arg(long, default_value = AGENT_PATH)]
    shared: PathBuf,
}

/// Signals by which processes are asked to read their configuration again.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum SignalName {
    /// SIGHUP.
    Hup,
    /// SIGUSR1.
    Usr1,
    /// SIGUSR2.
    Usr2,
}

impl Mounted {
    fn place(self) -> Place {
        // The key of an address is written as keys of a ConfigMap can be.
        let key = self.key.as_deref().map(palladion_api::gate::key_of);
        Place { labels: self.labels, config: self.config.zip(key), shared: self.shared }
    }
}

impl Staged {
    /// Do it.
    ///
    /// # Errors
    /// What could not be done, and why.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Staged::Gate(mounted) => {
                let place = mounted.place();
                install(&place.shared)?;
                let ended = run::gate(&place)?;
                println!("{ended}");
                // Where it cannot be written, the log has it.
                let _ = fs::write(TERMINATION_LOG, ended.to_message());
                Ok(match ended {
                    Ended::Opened { .. } => ExitCode::SUCCESS,
                    Ended::TimedOut { .. } => ExitCode::FAILURE,
                })
            }
            Staged::Reload { mounted, check: true, .. } => Ok(match run::check(&mounted.shared) {
                Taken::InTime => ExitCode::SUCCESS,
                Taken::Late => ExitCode::FAILURE,
            }),
            Staged::Reload { mounted, process, signal, check: false } => {
                let process = process.context("`--process` is missing")?;
                run::reload(&mounted.place(), &process, signal.number())?;
                Ok(ExitCode::SUCCESS)
            }
            Staged::Probe { host, port, path } => {
                let host = match host.as_str() {
                    POD_IP_HOST => std::env::var(POD_IP)
                        .with_context(|| format!("the variable {POD_IP} is not set"))?,
                    host => host.to_string(),
                };
                probe::http(&host, port, &path)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl SignalName {
    fn number(self) -> process::Signal {
        match self {
            SignalName::Hup => process::Signal::HUP,
            SignalName::Usr1 => process::Signal::USR1,
            SignalName::Usr2 => process::Signal::USR2,
        }
    }
}

/// Put this program where the other containers of the pod find it. Through
/// another name: a gate that starts again meets a program that runs.
fn install(directory: &Path) -> Result<()> {
    let own = std::env::current_exe().context("finding this program")?;
    let (part, whole) = (directory.join("palladion-agent.part"), directory.join("palladion-agent"));
    let copied = || format!("copying {} to {}", own.display(), whole.display());
    fs::copy(&own, &part).with_context(copied)?;
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).with_context(copied)?;
    fs::rename(&part, &whole).with_context(copied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        verb: Staged,
    }

    fn parsed(words: &str) -> Result<Staged, clap::Error> {
        Cli::try_parse_from(["agent"].into_iter().chain(words.split(' '))).map(|cli| cli.verb)
    }

    /// As the operator writes them into pods.
    #[test]
    fn the_words_of_pod_templates_are_understood() {
        let labels = "--labels /tmp/podinfo/pod_labels";
        let config = "--config /configs --key fd00::1";
        let Ok(Staged::Gate(mounted)) = parsed(&format!("gate {labels} {config}")) else {
            panic!("should be a gate");
        };
        let place = mounted.place();
        assert_eq!(place.config, Some(("/configs".into(), "fd00--1".to_string())));
        assert_eq!(place.shared, Path::new("/palladion"));
        let signal = parsed(&format!("reload {labels} {config} --process api --signal USR1"));
        assert!(matches!(signal, Ok(Staged::Reload { signal: SignalName::Usr1, .. })));
        assert!(matches!(parsed("reload --check"), Ok(Staged::Reload { check: true, .. })));
        assert!(parsed("reload").is_err(), "whom should it signal?");
        assert!(parsed("gate --config /configs").is_err(), "whose files?");
        let probe = parsed("probe --host pod-ip --port 8082 --path /status");
        assert!(matches!(probe, Ok(Staged::Probe { port: 8082, .. })));
    }

    #[test]
    fn the_program_is_put_beside_itself_while_it_runs() -> Result<()> {
        let directory = tempfile::tempdir()?;
        install(directory.path())?;
        install(directory.path())?;
        let mode = fs::metadata(directory.path().join("palladion-agent"))?.permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        Ok(())
    }
}
