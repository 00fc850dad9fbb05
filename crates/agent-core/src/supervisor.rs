//! The agent's side of init's socket: launch, signal and query the server.

use crate::init::protocol::{Answer, Launch, LogTail, Report, Request, Signal};
use crate::words::calls::InitError;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// Init answers from memory; longer means it is not there.
const ANSWER_TIME: Duration = Duration::from_secs(3);

/// Why init could not be asked, or refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection, or it broke.
    Io {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The answer is not one.
    Answer(#[from] serde_json::Error),
    /// Init did not answer in time.
    Silent(PathBuf),
    /// Init refused.
    Refused(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Error::Io { path, .. } => InitError::Unreachable { path: path.display().to_string() },
            Error::Answer(_) => InitError::Unreadable,
            Error::Silent(path) => InitError::Silent { path: path.display().to_string() },
            Error::Refused(why) => InitError::Refused { why: why.clone() },
        };
        said.fmt(f)
    }
}

/// Init, as the agent sees it.
#[derive(Clone, Debug)]
pub struct Supervisor {
    socket: PathBuf,
}

impl Supervisor {
    /// Init behind this socket.
    pub fn new(socket: &Path) -> Self {
        Self { socket: socket.to_path_buf() }
    }

    /// Start the server.
    pub async fn launch(&self, launch: Launch) -> Result<(), Error> {
        self.done(Request::Launch(launch)).await
    }

    /// Signal the server that was launched with this tag.
    pub async fn signal(&self, tag: &str, signal: Signal) -> Result<(), Error> {
        self.done(Request::Signal { tag: tag.into(), signal }).await
    }

    /// How is the server?
    pub async fn query(&self, log: LogTail) -> Result<Report, Error> {
        match self.ask(&Request::Query { log }).await? {
            Answer::Report(report) => Ok(report),
            Answer::Done => Err(Error::Refused(InitError::OtherAnswer.to_string())),
            Answer::Refused { why } => Err(Error::Refused(why)),
        }
    }

    async fn done(&self, request: Request) -> Result<(), Error> {
        match self.ask(&request).await? {
            Answer::Done | Answer::Report(_) => Ok(()),
            Answer::Refused { why } => Err(Error::Refused(why)),
        }
    }

    async fn ask(&self, request: &Request) -> Result<Answer, Error> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let exchange = async {
            let mut stream = UnixStream::connect(&self.socket).await?;
            stream.write_all(&line).await?;
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer).await?;
            Ok(answer)
        };
        let answer = tokio::time::timeout(ANSWER_TIME, exchange)
            .await
            .map_err(|_| Error::Silent(self.socket.clone()))?
            .map_err(|source| Error::Io { path: self.socket.clone(), source })?;
        Ok(serde_json::from_str(&answer)?)
    }
}
