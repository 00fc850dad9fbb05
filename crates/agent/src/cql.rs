//! One CQL statement on one connection to the member itself. A driver would
//! find the whole ring, connect to all of it and stay; this is a handshake, a
//! statement, and its answer (native protocol version 4, which every server
//! that we run speaks).

mod pages;
pub mod rows;
pub mod tls;

use crate::words::calls::CqlError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tls::Encryption;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// A schema change waits for agreement of the members that are up.
const ANSWER_TIME: Duration = Duration::from_secs(60);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Tables of a schema are the most that we ask for: this is a hundred thousand of them.
const FRAME_BYTES: usize = 16 * 1024 * 1024;

const VERSION: u8 = 4;
const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const AUTHENTICATE: u8 = 0x03;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;
const AUTH_RESPONSE: u8 = 0x0f;
const AUTH_SUCCESS: u8 = 0x10;
/// The protocol's number for a log-in that failed.
const BAD_CREDENTIALS: i32 = 0x0100;
/// A server that cannot read its roles fails a log-in with the same number.
const UNABLE: [&str; 2] = ["Unable to perform authentication", "Cannot achieve consistency"];
/// How many replicas answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consistency {
    /// One: schema changes have their own agreement.
    One = 1,
    /// All: what none of them has is nowhere.
    All = 5,
}

/// Why a statement was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection, or it broke.
    Io {
        /// The server.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The server refused.
    Refused {
        /// The protocol's number of the error.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// The server asks for credentials, and there are none that can be used.
    NoCredentials,
    /// The server cannot prove to be one of the ring's.
    Untrusted(String),
    /// Not the protocol.
    Unexpected(u8),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Error::Io { address, .. } => CqlError::Unreachable { address: address.to_string() },
            Error::Refused { code, message } => {
                CqlError::Refused { message: message.clone(), code: format!("{code:#06x}") }
            }
            Error::NoCredentials => CqlError::NoCredentials,
            Error::Untrusted(why) => CqlError::Untrusted { why: why.clone() },
            Error::Unexpected(frame) => CqlError::Unexpected { frame: format!("{frame:#04x}") },
        };
        said.fmt(f)
    }
}

/// User and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// User.
    pub username: String,
    /// Password.
    pub password: String,
}

impl Credentials {
    /// As a Secret is mounted in this folder of the directory; `None` where they are not there.
    pub fn mounted(directory: &Path, folder: &str) -> Option<Self> {
        let read = |name| {
            let text = std::fs::read_to_string(directory.join(folder).join(name)).ok()?;
            Some(text.trim_end_matches(['\r', '\n']).to_string()).filter(|t| !t.is_empty())
        };
        Some(Self { username: read("username")?, password: read("password")? })
    }
}

/// A server's native protocol, and what one gets in with.
#[derive(Clone)]
pub struct Endpoint {
    /// Where it listens.
    pub address: SocketAddr,
    /// How it is spoken to.
    pub encryption: Encryption,
    /// For a server that asks.
    pub credentials: Option<Credentials>,
}

impl Endpoint {
    /// The same server, as another user.
    pub fn logging_in_as(&self, credentials: &Credentials) -> Self {
        Self { credentials: Some(credentials.clone()), ..self.clone() }
    }
}

/// A connection.
pub struct Connection {
    address: SocketAddr,
    stream: Box<dyn Stream>,
}

/// A connection's two directions, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Connection {
    /// Connect and log in.
    pub async fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        let address = endpoint.address;
        let failed = |source| Error::Io { address, source };
        let stream = timeout(CONNECT_TIME, TcpStream::connect(address))
            .await
            .map_err(|_| failed(io::ErrorKind::TimedOut.into()))?
            .map_err(failed)?;
        let stream = encrypted(endpoint, stream).await?;
        let mut connection = Self { address, stream };
        let mut startup = 1u16.to_be_bytes().to_vec();
        put_string(&mut startup, "CQL_VERSION");
        put_string(&mut startup, "3.0.0");
        match connection.exchange(STARTUP, &startup).await? {
            (READY, _) => Ok(connection),
            (AUTHENTICATE, _) => {
                let credentials = endpoint.credentials.as_ref().ok_or(Error::NoCredentials)?;
                connection.log_in(credentials).await?;
                Ok(connection)
            }
            (other, _) => Err(Error::Unexpected(other)),
        }
    }

    async fn log_in(&mut self, credentials: &Credentials) -> Result<(), Error> {
        let token = format!("\0{}\0{}", credentials.username, credentials.password);
        let mut body = length(token.len()).to_be_bytes().to_vec();
        body.extend(token.as_bytes());
        match self.exchange(AUTH_RESPONSE, &body).await? {
            (AUTH_SUCCESS, _) => Ok(()),
            (other, _) => Err(Error::Unexpected(other)),
        }
    }

    /// Carry out a statement that returns no rows we want.
    pub async fn execute(&mut self, statement: &str) -> Result<(), Error> {
        self.ask(statement, Consistency::One).await.map(drop)
    }

    async fn ask(&mut self, statement: &str, of: Consistency) -> Result<Vec<u8>, Error> {
        let mut body = length(statement.len()).to_be_bytes().to_vec();
        body.extend(statement.as_bytes());
        body.extend((of as u16).to_be_bytes());
        body.push(0);
        match self.exchange(QUERY, &body).await? {
            (RESULT, answer) => Ok(answer),
            (other, _) => Err(Error::Unexpected(other)),
        }
    }

    /// The rows of a statement that returns one column of text.
    pub async fn texts(&mut self, statement: &str) -> Result<Vec<String>, Error> {
        let body = self.ask(statement, Consistency::One).await?;
        rows::texts(&body).ok_or(Error::Unexpected(RESULT))
    }

    /// Has a table no row on any replica? A row may be on one of them alone.
    pub async fn is_empty(&mut self, keyspace: &str, table: &str) -> Result<bool, Error> {
        let (keyspace, table) = (quoted(keyspace), quoted(table));
        let statement = format!("SELECT JSON * FROM {keyspace}.{table} LIMIT 1");
        let body = self.ask(&statement, Consistency::All).await?;
        let rows = rows::texts(&body).ok_or(Error::Unexpected(RESULT))?;
        Ok(rows.is_empty())
    }

    async fn exchange(&mut self, opcode: u8, body: &[u8]) -> Result<(u8, Vec<u8>), Error> {
        let address = self.address;
        let failed = |source| Error::Io { address, source };
        let (opcode, answer) = timeout(ANSWER_TIME, self.frames(opcode, body))
            .await
            .map_err(|_| failed(io::ErrorKind::TimedOut.into()))?
            .map_err(failed)?;
        if opcode == ERROR {
            return Err(refused(&answer));
        }
        Ok((opcode, answer))
    }

    async fn frames(&mut self, opcode: u8, body: &[u8]) -> io::Result<(u8, Vec<u8>)> {
        let mut frame = vec![VERSION, 0, 0, 0, opcode];
        frame.extend(length(body.len()).to_be_bytes());
        frame.extend(body);
        self.stream.write_all(&frame).await?;
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).await?;
        let size = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let size = usize::try_from(size).ok().filter(|size| *size <= FRAME_BYTES);
        let mut answer = vec![0; size.ok_or(io::ErrorKind::InvalidData)?];
        self.stream.read_exact(&mut answer).await?;
        Ok((header[4], answer))
    }
}

async fn encrypted(endpoint: &Endpoint, stream: TcpStream) -> Result<Box<dyn Stream>, Error> {
    let config = match &endpoint.encryption {
        Encryption::Plain => return Ok(Box::new(stream)),
        Encryption::Impossible(why) => return Err(Error::Untrusted(why.clone())),
        Encryption::Tls(config) => config.clone(),
    };
    let address = endpoint.address;
    let handshake = TlsConnector::from(config).connect(address.ip().into(), stream);
    match timeout(CONNECT_TIME, handshake).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        // What TLS objects to comes as data that are not valid.
        Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Err(Error::Untrusted(error.to_string()))
        }
        Ok(Err(source)) => Err(Error::Io { address, source }),
        Err(_) => Err(Error::Io { address, source: io::ErrorKind::TimedOut.into() }),
    }
}

/// Our statements are far below two gigabytes.
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

fn put_string(into: &mut Vec<u8>, text: &str) {
    into.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    into.extend(text.as_bytes());
}

fn refused(body: &[u8]) -> Error {
    let code = body.first_chunk::<4>().map_or(-1, |b| i32::from_be_bytes(*b));
    let message =
        body.get(6..).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
    Error::Refused { code, message }
}

impl Error {
    /// The server's words, where it refuses.
    pub fn words(self) -> String {
        match self {
            Error::Refused { message, .. } => message,
            other @ (Error::Io { .. }
            | Error::NoCredentials
            | Error::Untrusted(_)
            | Error::Unexpected(_)) => other.to_string(),
        }
    }

    /// Does the server reject user and password?
    pub fn is_bad_credentials(&self) -> bool {
        let is_known = |message: &str| !UNABLE.iter().any(|words| message.contains(words));
        matches!(self, Error::Refused { code: BAD_CREDENTIALS, message } if is_known(message))
    }
}

/// A text as CQL wants it between quotes.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A name as CQL wants it between quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
pub mod testing;

#[cfg(test)]
mod tests;
