//! The commands of four letters: one word to the client port, one text back, and
//! the connection ends. They need no session, so that a server that serves nobody
//! answers them, too.

use super::error::Error;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// `mntr` of a busy server has some 20 KiB.
const MOST: u64 = 256 * 1024;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Version, mode and newest transaction.
    Srvr,
    /// Figures.
    Mntr,
    /// Does the process answer? Says nothing of its quorum.
    Ruok,
}

impl Command {
    fn word(self) -> &'static [u8; 4] {
        match self {
            Command::Srvr => b"srvr",
            Command::Mntr => b"mntr",
            Command::Ruok => b"ruok",
        }
    }
}

/// The answer to `ruok`.
pub const I_AM_OK: &str = "imok";

/// Ask.
///
/// # Errors
/// The server cannot be reached, or does not answer in time.
pub async fn ask(address: SocketAddr, command: Command, limit: Duration) -> Result<String, Error> {
    let asking = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(command.word()).await?;
        let mut answer = Vec::new();
        stream.take(MOST).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    tokio::time::timeout(limit, asking)
        .await
        .map_err(|_| Error::Late { address })?
        .map_err(|source| Error::Io { address, source })
}
