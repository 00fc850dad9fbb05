//! What the agent may ask of init, one JSON line each way over a socket.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A request of the agent.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Start the server; refused while one runs or the container ends.
    Launch(Launch),
    /// Signal the server of this launch.
    Signal {
        /// Tag of the launch that is meant, so that a late signal hits no later server.
        tag: String,
        /// Which signal.
        signal: Signal,
    },
    /// How is the server?
    Query {
        /// Which part of the log to add.
        log: LogTail,
    },
}

/// How to start the server.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Launch {
    /// The agent's name for this launch.
    pub tag: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Environment in addition to init's own.
    pub environment: BTreeMap<String, String>,
    /// Working directory.
    pub directory: PathBuf,
}

/// Signals that the agent may send.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Signal {
    /// SIGTERM: drain and end.
    Terminate,
    /// SIGKILL: after a terminate that led to nothing.
    Kill,
    /// SIGHUP: Scylla reads its live settings again.
    Reload,
}

/// How much of the server's log a query wants.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum LogTail {
    /// None of it.
    Nothing,
    /// The lines that init keeps.
    Kept,
}

/// Init's answer.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// Started, or signalled.
    Done,
    /// Not done, and why.
    Refused {
        /// For people.
        why: String,
    },
    /// The answer to a query.
    Report(Report),
}

/// The server as init sees it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Is the container ending?
    pub phase: Phase,
    /// The server that runs.
    pub running: Option<Running>,
    /// The server that ended last.
    pub ended: Option<Ended>,
    /// Kept log lines, where asked for.
    pub log: Vec<String>,
}

/// Is the container ending?
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Serving.
    Serving,
    /// Init was told to end; no server is started any more.
    Ending,
}

/// A server that runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// Tag of its launch.
    pub tag: String,
    /// Its process ID.
    pub pid: i32,
    /// When it was started, in milliseconds since 1970.
    pub since_ms: i64,
}

/// A server that has ended.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Tag of its launch.
    pub tag: String,
    /// Exit code, or 128 + signal.
    pub code: i32,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
}
