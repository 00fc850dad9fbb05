//! A session with our own server: opened for one question, closed after it.
//!
//! To open one is a write that a quorum commits. Whoever has a session therefore
//! talks to a server that serves, and what it reads then is no older than the
//! session. A session that has met an error is given up with its connection.

use super::error::{Error, Refusal};
use super::jute::{Reader, Record, Writer, frame_length};
use super::message::{
    AuthPacket, ConnectRequest, ConnectResponse, Data, GetDataRequest, ReconfigRequest,
    ReplyHeader, RequestHeader, SyncPath, opcode, xid,
};
use std::io::{Error as IoError, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The node that holds the configuration.
pub const CONFIG: &str = "/zookeeper/config";
/// The session of an agent that ends within a question is gone after this.
const SESSION_MS: i32 = 10_000;
/// Bytes of the secret by which a session is taken up again; ours never are.
const PASSWORD: usize = 16;

/// How long a server may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the connection and the session.
    pub open: Duration,
    /// For each answer.
    pub answer: Duration,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    stream: TcpStream,
    address: SocketAddr,
    limits: Limits,
    sent: i32,
}

/// An answer, and the newest transaction that its server had then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// The transaction.
    pub zxid: i64,
}

impl Session {
    /// Open one.
    ///
    /// # Errors
    /// The server cannot be reached, serves nobody, or does not answer in time.
    pub async fn open(address: SocketAddr, limits: Limits) -> Result<Self, Error> {
        let opening = async {
            let stream = TcpStream::connect(address)
                .await
                .map_err(|source| Error::Io { address, source })?;
            let mut session = Self { stream, address, limits, sent: 0 };
            session.ask_for_session().await?;
            Ok(session)
        };
        timeout(limits.open, opening).await.map_err(|_| Error::Late { address })?
    }

    async fn ask_for_session(&mut self) -> Result<(), Error> {
        let mut request = Writer::default();
        let asked = ConnectRequest {
            protocol_version: 0,
            last_zxid: 0,
            timeout_ms: SESSION_MS,
            session_id: 0,
            password: vec![0; PASSWORD],
            read_only: false,
        };
        asked.write(&mut request);
        self.send(request).await?;
        let frame = self.receive().await?;
        let made = ConnectResponse::read(&mut Reader::new(&frame))?;
        if made.session_id == 0 || made.timeout_ms <= 0 || made.read_only {
            return Err(Error::NoSession);
        }
        Ok(())
    }

    /// Say who we are.
    ///
    /// # Errors
    /// The server refuses, or does not answer in time.
    pub async fn log_in(&mut self, user: &str, password: &str) -> Result<(), Error> {
        let packet = AuthPacket {
            kind: 0,
            scheme: "digest".into(),
            auth: format!("{user}:{password}").into_bytes(),
        };
        self.ask(xid::AUTH, opcode::AUTH, &packet).await.map(|_| ())
    }

    /// Have our server catch up with its leader.
    ///
    /// # Errors
    /// The server refuses, or does not answer in time.
    pub async fn sync(&mut self) -> Result<(), Error> {
        let number = self.number();
        self.ask(number, opcode::SYNC, &SyncPath { path: CONFIG.into() }).await.map(|_| ())
    }

    /// The text of the configuration.
    ///
    /// # Errors
    /// The server refuses, or does not answer in time.
    pub async fn config(&mut self) -> Result<Answer<String>, Error> {
        let number = self.number();
        let request = GetDataRequest { path: CONFIG.into(), watch: false };
        let (zxid, frame) = self.ask(number, opcode::GET_DATA, &request).await?;
        Ok(Answer { value: text(&frame)?, zxid })
    }

    /// Change the configuration; the answer is the text of the new one.
    ///
    /// # Errors
    /// The server refuses, or does not answer in time. An error other than a refusal does
    /// not say that nothing was changed.
    pub async fn reconfig(&mut self, change: &ReconfigRequest) -> Result<Answer<String>, Error> {
        let number = self.number();
        let (zxid, frame) = self.ask(number, opcode::RECONFIG, change).await?;
        Ok(Answer { value: text(&frame)?, zxid })
    }

    /// Close it, so that the server need not wait for its end.
    ///
    /// # Errors
    /// The server does not answer in time; the session ends by itself then.
    pub async fn close(mut self) -> Result<(), Error> {
        let mut request = Writer::default();
        let number = self.number();
        RequestHeader { xid: number, opcode: opcode::CLOSE }.write(&mut request);
        self.exchange(number, request).await.map(|_| ())
    }

    fn number(&mut self) -> i32 {
        self.sent = self.sent.wrapping_add(1).max(1);
        self.sent
    }

    async fn ask(
        &mut self,
        xid: i32,
        opcode: i32,
        body: &impl Record,
    ) -> Result<(i64, Vec<u8>), Error> {
        let mut request = Writer::default();
        RequestHeader { xid, opcode }.write(&mut request);
        body.write(&mut request);
        self.exchange(xid, request).await
    }

    /// Send a request and read its answer: the newest transaction, and what follows
    /// after the head.
    async fn exchange(&mut self, asked: i32, request: Writer) -> Result<(i64, Vec<u8>), Error> {
        let (limit, address) = (self.limits.answer, self.address);
        let exchange = async {
            self.send(request).await?;
            loop {
                let mut frame = self.receive().await?;
                let head = {
                    let mut reader = Reader::new(&frame);
                    let head = ReplyHeader::read(&mut reader)?;
                    let read = frame.len() - reader.left();
                    frame.drain(..read);
                    head
                };
                if [xid::NOTIFICATION, xid::PING].contains(&head.xid) {
                    continue;
                }
                if head.xid != asked {
                    return Err(Error::OtherAnswer { asked, answered: head.xid });
                }
                return match Refusal::of(head.error) {
                    Some(refusal) => Err(Error::Refused(refusal)),
                    None => Ok((head.zxid, frame)),
                };
            }
        };
        timeout(limit, exchange).await.map_err(|_| Error::Late { address })?
    }

    async fn send(&mut self, request: Writer) -> Result<(), Error> {
        let frame = request.frame()?;
        self.stream.write_all(&frame).await.map_err(|source| self.io(source))
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Error> {
        let mut head = [0; 4];
        let read = self.stream.read_exact(&mut head).await;
        read.map_err(|source| self.io(source))?;
        let length = frame_length(head)?;
        // Grows with what comes and not with what is announced.
        let mut frame = Vec::new();
        let limit = u64::try_from(length).unwrap_or(u64::MAX);
        let read = (&mut self.stream).take(limit).read_to_end(&mut frame).await;
        read.map_err(|source| self.io(source))?;
        if frame.len() < length {
            return Err(self.io(IoError::from(ErrorKind::UnexpectedEof)));
        }
        Ok(frame)
    }

    fn io(&self, source: IoError) -> Error {
        Error::Io { address: self.address, source }
    }
}

fn text(frame: &[u8]) -> Result<String, Error> {
    let data = Data::read(&mut Reader::new(frame))?.data.unwrap_or_default();
    String::from_utf8(data).map_err(|_| Error::Malformed(super::jute::Malformed::Text))
}
