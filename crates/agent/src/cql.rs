//! One CQL statement on one connection to the member itself. A driver would
//! find the whole ring, connect to all of it and stay; this is a handshake, a
//! statement, and its answer (native protocol version 4, which every server
//! that we run speaks).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A schema change waits for agreement of the members that are up.
const ANSWER_TIME: Duration = Duration::from_secs(60);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// No answer to our statements comes near this.
const FRAME_BYTES: usize = 1024 * 1024;

const VERSION: u8 = 4;
const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const AUTHENTICATE: u8 = 0x03;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;
const AUTH_RESPONSE: u8 = 0x0f;
const AUTH_SUCCESS: u8 = 0x10;
/// Consistency ONE: schema changes have their own agreement.
const ONE: u16 = 1;

/// Why a statement was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection, or it broke.
    #[error("cannot reach {address} over CQL")]
    Io {
        /// The server.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The server refused.
    #[error("the server rejected the statement: {message} (error {code:#06x})")]
    Refused {
        /// The protocol's number of the error.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// The server asks for credentials, and there are none.
    #[error("the server requires a user and password, and none are mounted")]
    NoCredentials,
    /// Not the protocol.
    #[error("the server answered with an unexpected frame {0:#04x}")]
    Unexpected(u8),
}

/// User and password.
#[derive(Clone)]
pub struct Credentials {
    /// User.
    pub username: String,
    /// Password.
    pub password: String,
}

/// A connection.
pub struct Connection {
    address: SocketAddr,
    stream: TcpStream,
}

impl Connection {
    /// Connect and log in.
    pub async fn open(
        address: SocketAddr,
        credentials: Option<&Credentials>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::Io { address, source };
        let stream = timeout(CONNECT_TIME, TcpStream::connect(address))
            .await
            .map_err(|_| failed(io::ErrorKind::TimedOut.into()))?
            .map_err(failed)?;
        let mut connection = Self { address, stream };
        let mut startup = 1u16.to_be_bytes().to_vec();
        put_string(&mut startup, "CQL_VERSION");
        put_string(&mut startup, "3.0.0");
        match connection.exchange(STARTUP, &startup).await? {
            (READY, _) => Ok(connection),
            (AUTHENTICATE, _) => {
                let credentials = credentials.ok_or(Error::NoCredentials)?;
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
        let mut body = length(statement.len()).to_be_bytes().to_vec();
        body.extend(statement.as_bytes());
        body.extend(ONE.to_be_bytes());
        body.push(0);
        match self.exchange(QUERY, &body).await? {
            (RESULT, _) => Ok(()),
            (other, _) => Err(Error::Unexpected(other)),
        }
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

/// A name as CQL wants it between quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn server(
        answers: Vec<(u8, Vec<u8>)>,
    ) -> (SocketAddr, tokio::task::JoinHandle<Vec<(u8, Vec<u8>)>>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            for (opcode, body) in answers {
                let mut header = [0; 9];
                stream.read_exact(&mut header).await.unwrap();
                let size = u32::from_be_bytes(header[5..9].try_into().unwrap()) as usize;
                let mut question = vec![0; size];
                stream.read_exact(&mut question).await.unwrap();
                asked.push((header[4], question));
                let mut frame = vec![0x84, 0, 0, 0, opcode];
                frame.extend((body.len() as u32).to_be_bytes());
                frame.extend(body);
                stream.write_all(&frame).await.unwrap();
            }
            asked
        });
        (address, served)
    }

    fn credentials() -> Credentials {
        Credentials { username: "u".into(), password: "p".into() }
    }

    #[tokio::test]
    async fn logs_in_and_carries_out_a_statement() {
        let (address, served) = server(vec![
            (AUTHENTICATE, vec![]),
            (AUTH_SUCCESS, vec![]),
            (RESULT, vec![0, 0, 0, 1]),
        ])
        .await;
        let mut connection = Connection::open(address, Some(&credentials())).await.unwrap();
        connection.execute("ALTER KEYSPACE k").await.unwrap();
        let asked = served.await.unwrap();
        assert_eq!(
            asked.iter().map(|(opcode, _)| *opcode).collect::<Vec<_>>(),
            [STARTUP, AUTH_RESPONSE, QUERY]
        );
        assert_eq!(asked[1].1, b"\0\0\0\x04\0u\0p");
        assert_eq!(asked[2].1, b"\0\0\0\x10ALTER KEYSPACE k\0\x01\0");
    }

    #[tokio::test]
    async fn a_refusal_is_told_in_the_servers_words() {
        let mut body = 0x2300i32.to_be_bytes().to_vec();
        put_string(&mut body, "no such keyspace");
        let (address, _served) = server(vec![(READY, vec![]), (ERROR, body)]).await;
        let mut connection = Connection::open(address, None).await.unwrap();
        let error = connection.execute("x").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server rejected the statement: no such keyspace (error 0x2300)"
        );
    }

    #[tokio::test]
    async fn without_credentials_a_server_that_asks_is_an_error() {
        let (address, _served) = server(vec![(AUTHENTICATE, vec![])]).await;
        assert!(matches!(Connection::open(address, None).await, Err(Error::NoCredentials)));
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("Odd\"name"), "\"Odd\"\"name\"");
    }
}
