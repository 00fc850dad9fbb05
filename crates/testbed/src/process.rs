//! Long-running parts of a testbed: started detached, recorded, and ended by
//! their recorded identity.
//!
//! A record holds the process id and the start time, so that an id the kernel
//! has given to somebody else in the meantime is never signalled.

use std::fs::{self, OpenOptions};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::command;

/// Entering namespaces and executing takes milliseconds; this is for a machine
/// whose disks are busy.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// How long a part may take to end on its own before it is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// The only variables a part gets: the testbed must not behave differently
/// because of what its user has exported.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a part does before it becomes its program. It records itself, so that
/// one whose starter was killed in between is not started twice.
const BEGIN: &str = r#"echo $$ >"$CGROUP/cgroup.procs" || exit
started=$(cut -d ' ' -f 22 /proc/$$/stat)
printf '{"pid": %d, "started": %s}' $$ "$started" >"$RECORD.new" && mv "$RECORD.new" "$RECORD" || exit
unset CGROUP RECORD started
exec "$@""#;

/// Which namespaces a part runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inside {
    /// The host's.
    Host,
    /// A named network namespace and the host's mounts.
    Network(String),
    /// The network namespace of that name, and a new private mount namespace.
    FreshMounts(String),
    /// The network and mount namespaces of a running process.
    Node {
        /// The network namespace's name.
        network: String,
        /// The process whose mount namespace to enter.
        mounts_of: i32,
    },
}

impl Inside {
    /// The words that put a command there.
    pub fn entry(&self) -> Vec<String> {
        let net = |name: &str| format!("--net=/run/netns/{name}");
        match self {
            Self::Host => vec![],
            Self::Network(name) => vec!["nsenter".into(), net(name)],
            // Not `ip netns exec`: it remounts /sys, and the kubelet then finds
            // no cgroups.
            Self::FreshMounts(name) => ["nsenter", &net(name), "unshare", "--mount"]
                .into_iter()
                .chain(["--propagation", "private"])
                .map(str::to_owned)
                .collect(),
            Self::Node { network, mounts_of } => {
                vec!["nsenter".into(), net(network), format!("--mount=/proc/{mounts_of}/ns/mnt")]
            }
        }
    }

    /// A command that runs there, to its end, with this program.
    pub fn command(&self, program: &str) -> Command {
        let mut words = self.entry();
        words.push(program.to_owned());
        command::command(&words[0], &words[1..])
    }
}

/// A part to start.
#[derive(Debug)]
pub struct Daemon {
    /// What the record and the log are called.
    pub name: String,
    /// Where it runs.
    pub inside: Inside,
    /// The cgroup directory it is put into.
    pub cgroup: PathBuf,
    /// The program, as an absolute path, and its arguments.
    pub words: Vec<String>,
    /// Variables besides the fixed ones.
    pub environment: Vec<(String, String)>,
    /// Its standard input; nothing, if not given.
    pub input: Option<OwnedFd>,
}

/// Who a part was when it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its process id.
    pub pid: i32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

impl Record {
    /// Reads the record of a part; `None` if it was never started.
    pub fn read(records: &Path, name: &str) -> Result<Option<Self>> {
        let path = record_path(records, name);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .with_context(|| format!("reading the process record {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// Whether that very process still runs. A zombie does not.
    pub fn is_running(&self) -> bool {
        identity(self.pid) == Some(self.started)
    }

    /// Sends a signal, if that very process still runs.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_running()) else {
            return Ok(());
        };
        match kill_process(pid, signal) {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            result => result.with_context(|| format!("signalling process {}", self.pid)),
        }
    }
}

/// Starts a part, detached, unless its record says that it runs.
pub fn start(records: &Path, logs: &Path, daemon: Daemon) -> Result<Record> {
    if let Some(record) = Record::read(records, &daemon.name)?
        && record.is_running()
    {
        return Ok(record);
    }
    let record_path = record_path(records, &daemon.name);
    let _ = fs::remove_file(&record_path);
    let log_path = logs.join(format!("{}.log", daemon.name));
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log_path)
        .with_context(|| format!("opening the log {}", log_path.display()))?;
    let log_too = log.try_clone().context("duplicating a log's descriptor")?;
    let mut starter = Command::new("setsid");
    starter
        .args(["--fork", "sh", "-c", BEGIN, "sh"])
        .args(daemon.inside.entry())
        .args(&daemon.words)
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", "/root")
        .env("CGROUP", &daemon.cgroup)
        .env("RECORD", &record_path)
        .envs(daemon.environment)
        .current_dir("/")
        .stdin(daemon.input.map_or_else(Stdio::null, Stdio::from))
        .stdout(log)
        .stderr(log_too);
    command::run(&mut starter).with_context(|| format!("starting {}", daemon.name))?;
    let end = Instant::now() + START_PATIENCE;
    loop {
        if let Some(record) = Record::read(records, &daemon.name)? {
            return Ok(record);
        }
        if Instant::now() > end {
            bail!(
                "starting {}: it did not begin within {START_PATIENCE:?}; see {}",
                daemon.name,
                log_path.display()
            );
        }
        sleep(POLL);
    }
}

/// Ends a part: politely, then not. One that does not run is fine.
pub fn stop(records: &Path, name: &str) -> Result<()> {
    end(records, name, Signal::TERM)
}

/// Ends a part at once, as a crash would.
pub fn kill(records: &Path, name: &str) -> Result<()> {
    end(records, name, Signal::KILL)
}

/// Whether the part of that name runs.
pub fn is_running(records: &Path, name: &str) -> bool {
    matches!(Record::read(records, name), Ok(Some(record)) if record.is_running())
}

/// The names of all parts that were started and not ended by us.
pub fn recorded(records: &Path) -> Vec<String> {
    let entries = fs::read_dir(records).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn end(records: &Path, name: &str, signal: Signal) -> Result<()> {
    let Some(record) = Record::read(records, name)? else {
        return Ok(());
    };
    record.signal(signal)?;
    let polite_until = Instant::now() + STOP_PATIENCE;
    let end = polite_until + STOP_PATIENCE;
    while record.is_running() {
        if Instant::now() > end {
            bail!("stopping {name}: process {} would not end", record.pid);
        }
        if Instant::now() > polite_until {
            record.signal(Signal::KILL)?;
        }
        sleep(POLL);
    }
    let path = record_path(records, name);
    fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))
}

fn record_path(records: &Path, name: &str) -> PathBuf {
    records.join(format!("{name}.json"))
}

/// The start time of a process that runs; `None` if there is none or it only
/// waits to be reaped.
fn identity(pid: i32) -> Option<u64> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// State and start time are the 3rd and 22nd fields; the 2nd is the program's
/// name and may hold blanks and parentheses.
fn parse_stat(stat: &str) -> Option<u64> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 9 9";

    #[test]
    fn the_start_time_is_found_behind_a_hostile_name() {
        assert_eq!(parse_stat(STAT), Some(987_654));
    }

    #[test]
    fn a_zombie_does_not_run() {
        assert_eq!(parse_stat(&STAT.replace(") S ", ") Z ")), None);
    }

    #[test]
    fn a_recycled_process_id_is_not_signalled() {
        let own = i32::try_from(std::process::id()).expect("should fit");
        let started = identity(own).expect("should run") + 1;
        let record = Record { pid: own, started };
        assert!(!record.is_running());
        // Would end this test if the start time were not compared.
        record.signal(Signal::KILL).expect("should do nothing");
    }
}
