//! Process 1 of the server's container: starts the agent and, at the agent's
//! request, the server; reaps and signals. Parses nothing from the API, so
//! that an agent that crashes, or is killed, never takes the server with it.

mod log;
mod processes;
pub mod protocol;

use crate::words::calls::InitError;
use anyhow::{Context, Result};
use processes::{Agent, Server};
use protocol::{Answer, LogTail, Phase, Report, Request, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The agent asks in one write; whoever does not is not waited for.
const REQUEST_TIME: Duration = Duration::from_secs(1);
/// A request carries a command line, at most.
const REQUEST_BYTES: u64 = 256 * 1024;
/// The agent has nothing to save at its end.
const AGENT_END_TIME: Duration = Duration::from_secs(5);

/// Run behind this socket until told to end.
pub fn run(socket: &Path) -> Result<ExitCode> {
    // Orphans come to us even where we are not process 1 (a developer's machine).
    let _ = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(
        std::process::id().cast_signed(),
    ));
    let stop = signal_pipe(&[SIGTERM, SIGINT])?;
    let child = signal_pipe(&[SIGCHLD])?;
    let listener = listen(socket)?;
    let mut init =
        Init { server: Server::default(), agent: Agent::default(), phase: Phase::Serving };
    loop {
        if init.phase == Phase::Serving {
            init.agent.start_if_due();
        }
        wait(&[&stop, &child], &listener, init.agent.due_in())?;
        drain_pipe(&child);
        processes::reap(&mut init.server, &mut init.agent);
        if drain_pipe(&stop) {
            init.begin_end();
        }
        while let Ok((stream, _)) = listener.accept() {
            init.serve(stream);
        }
        if init.phase == Phase::Ending && init.server.running.is_none() {
            init.end_agent(&child);
            let _ = std::fs::remove_file(socket);
            return Ok(ExitCode::SUCCESS);
        }
    }
}

struct Init {
    server: Server,
    agent: Agent,
    phase: Phase,
}

impl Init {
    /// The server's own shutdown hook drains; how long it may take is the
    /// pod's grace period, which the kubelet enforces.
    fn begin_end(&mut self) {
        self.phase = Phase::Ending;
        if let Some(running) = &self.server.running {
            eprintln!("init: ending; the server is told to drain and end");
            if let Err(why) = self.server.signal(&running.tag, Signal::Terminate) {
                eprintln!("init: {why}");
            }
        }
    }

    fn end_agent(&mut self, child: &UnixStream) {
        self.agent.terminate();
        let until = Instant::now() + AGENT_END_TIME;
        while self.agent.runs() && Instant::now() < until {
            let _ = wait(&[child], child, Some(until.saturating_duration_since(Instant::now())));
            drain_pipe(child);
            processes::reap(&mut self.server, &mut self.agent);
        }
    }

    fn serve(&mut self, stream: UnixStream) {
        let answered = read_request(&stream).and_then(|request| {
            let mut line = serde_json::to_vec(&self.answer(request))?;
            line.push(b'\n');
            (&stream).write_all(&line).context("writing the answer")
        });
        if let Err(error) = answered {
            eprintln!("init: a request on the socket failed: {error:#}");
        }
    }

    fn answer(&mut self, request: Request) -> Answer {
        match request {
            Request::Launch(launch) => {
                if self.phase == Phase::Ending {
                    return Answer::Refused { why: InitError::ContainerEnding.to_string() };
                }
                if let Some(running) = &self.server.running {
                    let why = InitError::ServerRuns { pid: running.pid }.to_string();
                    return Answer::Refused { why };
                }
                match self.server.launch(launch) {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::Refused { why: format!("{error:#}") },
                }
            }
            Request::Signal { tag, signal } => match self.server.signal(&tag, signal) {
                Ok(()) => Answer::Done,
                Err(why) => Answer::Refused { why },
            },
            Request::Query { log } => Answer::Report(Report {
                phase: self.phase,
                running: self.server.running.clone(),
                ended: self.server.ended.clone(),
                log: match log {
                    LogTail::Nothing => Vec::new(),
                    LogTail::Kept => self.server.tail.lines(),
                },
            }),
        }
    }
}

fn read_request(stream: &UnixStream) -> Result<Request> {
    stream.set_nonblocking(false).context("preparing a connection")?;
    stream.set_read_timeout(Some(REQUEST_TIME)).context("preparing a connection")?;
    stream.set_write_timeout(Some(REQUEST_TIME)).context("preparing a connection")?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES)).read_line(&mut line).context("reading a request")?;
    serde_json::from_str(&line).context("parsing a request")
}

/// The socket file of an earlier container of this pod is left over in `/run`.
fn listen(path: &Path) -> Result<UnixListener> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)
        .with_context(|| format!("making directory {}", directory.display()))?;
    let _ = std::fs::remove_file(path);
    let listener =
        UnixListener::bind(path).with_context(|| format!("listening on {}", path.display()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .with_context(|| format!("setting the mode of {}", path.display()))?;
    listener.set_nonblocking(true).with_context(|| format!("listening on {}", path.display()))?;
    Ok(listener)
}

fn signal_pipe(signals: &[i32]) -> Result<UnixStream> {
    let (read, write) = UnixStream::pair().context("making a pipe for signals")?;
    read.set_nonblocking(true).context("making a pipe for signals")?;
    for signal in signals {
        let write = write.try_clone().context("making a pipe for signals")?;
        signal_hook::low_level::pipe::register(*signal, write)
            .with_context(|| format!("handling signal {signal}"))?;
    }
    Ok(read)
}

/// Empty a signal pipe; true if there was a signal.
fn drain_pipe(mut pipe: &UnixStream) -> bool {
    let mut buffer = [0; 64];
    let mut any = false;
    while matches!(pipe.read(&mut buffer), Ok(n) if n > 0) {
        any = true;
    }
    any
}

fn wait(
    pipes: &[&UnixStream],
    other: &impl std::os::fd::AsFd,
    timeout: Option<Duration>,
) -> Result<()> {
    let mut fds: Vec<PollFd<'_>> = pipes.iter().map(|p| PollFd::new(*p, PollFlags::IN)).collect();
    fds.push(PollFd::new(other, PollFlags::IN));
    let timeout = timeout.and_then(|t| Timespec::try_from(t).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error).context("waiting for signals and requests"),
    }
}
