//! Init's children: the server, the agent, and the orphans that it reaps.

use super::log::Tail;
use super::protocol::{Ended, Launch, Running, Signal};
use crate::words::calls::{Doing, InitError};
use anyhow::{Context, Result};
use palladion_api::reserved::JVM_ENV;
use rustix::process::{Pid, WaitOptions, WaitStatus, kill_process, wait};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// First wait before an agent that died is started again; doubles up to [`AGENT_LONGEST`].
const AGENT_FIRST: Duration = Duration::from_millis(200);
/// A server without its agent still serves; there is no hurry beyond this.
const AGENT_LONGEST: Duration = Duration::from_secs(30);
/// An agent that lived this long has not died of its start.
const AGENT_STEADY: Duration = Duration::from_secs(60);

/// What a server printed last is read after its end within this time, or not told.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The server: runs or not, and how the last one ended.
#[derive(Default)]
pub struct Server {
    /// The one that runs.
    pub running: Option<Running>,
    /// The one that ended last.
    pub ended: Option<Ended>,
    /// What the last one printed.
    pub tail: Tail,
}

impl Server {
    /// Start it.
    pub fn launch(&mut self, launch: Launch) -> Result<()> {
        let (reader, writer) = std::io::pipe().context(Doing::MakePipe)?;
        let errors = writer.try_clone().context(Doing::MakePipe)?;
        // What is still read of an earlier server is not among the lines of this one.
        self.tail = Tail::default();
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .env_clear()
            .envs(environment(std::env::vars_os(), &launch.environment))
            .current_dir(&launch.directory)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(errors)
            .process_group(0);
        let pid = spawn(command).with_context(|| {
            let (program, directory) = (launch.program.display(), launch.directory.display());
            Doing::StartProgram { program: program.to_string(), directory: directory.to_string() }
        })?;
        let tail = self.tail.clone();
        std::thread::Builder::new()
            .name("server-log".into())
            .stack_size(128 * 1024)
            .spawn(move || tail.pass_on(reader))
            .context(Doing::StartLogThread)?;
        self.running = Some(Running { tag: launch.tag, pid: pid.as_raw_pid(), since_ms: now_ms() });
        Ok(())
    }

    /// Signal the server that was launched with this tag.
    pub fn signal(&self, tag: &str, signal: Signal) -> Result<(), String> {
        let running = self.running.as_ref().filter(|r| r.tag == tag);
        let pid = running
            .and_then(|r| Pid::from_raw(r.pid))
            .ok_or_else(|| InitError::NoSuchServer.to_string())?;
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Reload => rustix::process::Signal::HUP,
        };
        // Ours until we reap it, so the ID cannot have been given to another process.
        kill_process(pid, signal).map_err(|e| {
            InitError::Signal { pid: pid.as_raw_pid(), why: e.to_string() }.to_string()
        })
    }
}

/// Init's own environment and what the agent adds to it, without what a JVM would
/// take options from: whether a server joins is for the agent alone to say.
fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    added: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    let added = added.iter().map(|(name, value)| (name.into(), value.into()));
    let mut all: BTreeMap<OsString, OsString> = inherited.chain(added).collect();
    all.retain(|name, _| !JVM_ENV.iter().any(|taken| name == taken));
    all
}

/// The agent: started again when it dies, ever more slowly.
pub struct Agent {
    pid: Option<Pid>,
    since: Instant,
    wait: Duration,
    due: Option<Instant>,
    wanted: Wanted,
}

/// Should there be an agent?
#[derive(PartialEq, Eq)]
enum Wanted {
    Running,
    Ended,
}

impl Default for Agent {
    fn default() -> Self {
        let now = Instant::now();
        Self { pid: None, since: now, wait: AGENT_FIRST, due: Some(now), wanted: Wanted::Running }
    }
}

impl Agent {
    /// Time until it must be started, if it must.
    pub fn due_in(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Start it if it is time.
    pub fn start_if_due(&mut self) {
        if self.due.is_none_or(|due| due > Instant::now()) {
            return;
        }
        let started = own_binary().and_then(|path| {
            let mut command = Command::new(path);
            // One arena: a process of one thread gains nothing by more, and they cost memory.
            command.arg("agent").env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).process_group(0);
            spawn(command).context("starting the agent")
        });
        match started {
            Ok(pid) => {
                self.pid = Some(pid);
                self.since = Instant::now();
                self.due = None;
            }
            Err(error) => {
                eprintln!("init: {error:#}; trying again in {:?}", self.wait);
                self.back_off();
            }
        }
    }

    fn ended(&mut self, code: i32) {
        self.pid = None;
        if self.wanted == Wanted::Ended {
            return;
        }
        if self.since.elapsed() >= AGENT_STEADY {
            self.wait = AGENT_FIRST;
        }
        eprintln!("init: the agent ended with {code}; starting it again in {:?}", self.wait);
        self.back_off();
    }

    fn back_off(&mut self) {
        self.due = Some(Instant::now() + self.wait);
        self.wait = (self.wait * 2).min(AGENT_LONGEST);
    }

    /// Is it there?
    pub fn runs(&self) -> bool {
        self.pid.is_some()
    }

    /// End it for good.
    pub fn terminate(&mut self) {
        self.due = None;
        self.wanted = Wanted::Ended;
        if let Some(pid) = self.pid {
            let _ = kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

/// Reap every child that has ended.
pub fn reap(server: &mut Server, agent: &mut Agent) {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        let code = exit_code(status);
        if agent.pid == Some(pid) {
            agent.ended(code);
        } else if server.running.as_ref().is_some_and(|r| r.pid == pid.as_raw_pid()) {
            let (tag, at_ms) = (server.running.take().map(|r| r.tag).unwrap_or_default(), now_ms());
            eprintln!("init: the server ended with {code}");
            // Its end is told with its last words: they may still stand in the pipe.
            server.tail.wait_for_end(LAST_LINES);
            server.ended = Some(Ended { tag, code, at_ms });
        }
    }
}

fn exit_code(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|s| 128 + s)).unwrap_or(-1)
}

/// Start a child that [`reap`] will reap.
#[allow(
    clippy::zombie_processes,
    reason = "reaped by process ID with all other children of process 1"
)]
fn spawn(mut command: Command) -> Result<Pid> {
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).context(InitError::PidOutOfRange)
}

/// By the name we were started with: the init container may have put a newer
/// binary there, and an agent that is started again then is the newer one.
fn own_binary() -> Result<std::path::PathBuf> {
    let named = std::env::args_os().next().map(std::path::PathBuf::from);
    match named.filter(|path| path.is_absolute() && path.exists()) {
        Some(path) => Ok(path),
        None => std::env::current_exe().context("finding this binary"),
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_takes_no_options_of_the_jvm_from_its_environment() {
        let os = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let inherited = [
            ("TZ", "UTC"),
            ("JDK_JAVA_OPTIONS", "-Dcassandra.join_ring=false"),
            ("JAVA_TOOL_OPTIONS", "-Dcassandra.replace_address=10.0.0.1"),
            ("_JAVA_OPTIONS", "-Xmx1g"),
            ("HOME", "/root"),
        ];
        let added = BTreeMap::from([("HOME".to_string(), "/tmp".to_string())]);
        let expected = [("HOME", "/tmp"), ("TZ", "UTC")].map(os);
        let all = environment(inherited.map(os).into_iter(), &added);
        assert_eq!(all, BTreeMap::from(expected));
    }
}
