//! A client of ZooKeeper, as small as can be: a session, and nodes that are created and
//! listed. Its encoding is its own (`zookeeper.jute` of ZooKeeper 3.9), so that what the
//! agent reads wrongly is not read alike here.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

const CREATE: i32 = 1;
const GET_DATA: i32 = 4;
const SYNC: i32 = 9;
const GET_CHILDREN: i32 = 8;
const CLOSE: i32 = -11;
/// All rights, for everybody.
const ALL_RIGHTS: i32 = 31;
const NODE_EXISTS: i32 = -110;
/// A server without a quorum, or none at all, does not answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A session outlives an election.
const SESSION_MS: i32 = 20_000;

/// When a node was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// By this request.
    Now,
    /// By an earlier one.
    Before,
}

/// A session with one server.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    requests: i32,
}

impl Client {
    /// Open a session with the server at this port of the host's loopback. Only a server
    /// with a quorum grants one.
    ///
    /// # Errors
    /// It does not.
    pub fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("connecting")?;
        stream.set_read_timeout(Some(PATIENCE)).context("setting a timeout")?;
        stream.set_write_timeout(Some(PATIENCE)).context("setting a timeout")?;
        stream.set_nodelay(true).context("setting an option")?;
        let mut client = Self { stream, requests: 0 };
        let mut ask = Vec::new();
        ask.extend(0_i32.to_be_bytes()); // The version of the protocol.
        ask.extend(0_i64.to_be_bytes()); // The last transaction seen.
        ask.extend(SESSION_MS.to_be_bytes());
        ask.extend(0_i64.to_be_bytes()); // A new session,
        put(&mut ask, &[0; 16]); // without a password.
        ask.push(0); // Not only to read.
        client.send(&ask)?;
        let answer = client.receive()?;
        let session = answer.get(8..16).context("an answer that is too short")?;
        ensure!(session.iter().any(|byte| *byte != 0), "the server grants no session");
        Ok(client)
    }

    /// Create a node. One that is there already is there for whoever has asked before and got
    /// no answer, and for nobody else.
    ///
    /// # Errors
    /// The server does not say that it is there.
    pub fn create(&mut self, path: &str, data: &str) -> Result<Created> {
        let mut body = Vec::new();
        put(&mut body, path.as_bytes());
        put(&mut body, data.as_bytes());
        body.extend(1_i32.to_be_bytes());
        body.extend(ALL_RIGHTS.to_be_bytes());
        put(&mut body, b"world");
        put(&mut body, b"anyone");
        body.extend(0_i32.to_be_bytes());
        match self.call(CREATE, &body)? {
            (0, _) => Ok(Created::Now),
            (NODE_EXISTS, _) => Ok(Created::Before),
            (error, _) => bail!("creating {path}: error {error}"),
        }
    }

    /// The names of the nodes below this one, as of all that was acknowledged before.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn children(&mut self, path: &str) -> Result<Vec<String>> {
        names(&self.read(GET_CHILDREN, path)?)
    }

    /// What a node holds, as of all that was acknowledged before. Of `/zookeeper/config` it
    /// is the configuration that is in force.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn data(&mut self, path: &str) -> Result<String> {
        let answer = self.read(GET_DATA, path)?;
        let length = usize::try_from(int(&answer, 0)?).unwrap_or_default();
        let bytes = answer.get(4..4 + length).context("an answer that is too short")?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// What a server says of a node once it has all that was acknowledged before.
    fn read(&mut self, kind: i32, path: &str) -> Result<Vec<u8>> {
        let mut named = Vec::new();
        put(&mut named, path.as_bytes());
        let (error, _) = self.call(SYNC, &named)?;
        ensure!(error == 0, "syncing {path}: error {error}");
        named.push(0); // No watch.
        let (error, answer) = self.call(kind, &named)?;
        ensure!(error == 0, "reading {path}: error {error}");
        Ok(answer)
    }

    /// Close the session: it ends at once, and not when its time is up.
    pub fn close(mut self) {
        // A server that is about to end may close first.
        let _ = self.call(CLOSE, &[]);
    }

    /// A request, and its error and answer.
    fn call(&mut self, kind: i32, body: &[u8]) -> Result<(i32, Vec<u8>)> {
        self.requests += 1;
        let mut frame = Vec::new();
        frame.extend(self.requests.to_be_bytes());
        frame.extend(kind.to_be_bytes());
        frame.extend(body);
        self.send(&frame)?;
        let answer = self.receive()?;
        let request = int(&answer, 0)?;
        ensure!(request == self.requests, "an answer to request {request}");
        Ok((int(&answer, 12)?, answer.get(16..).unwrap_or_default().to_vec()))
    }

    fn send(&mut self, body: &[u8]) -> Result<()> {
        let mut frame = Vec::new();
        put(&mut frame, body);
        self.stream.write_all(&frame).context("sending")
    }

    fn receive(&mut self) -> Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).context("receiving")?;
        let length = usize::try_from(i32::from_be_bytes(length)).context("a length")?;
        ensure!(length < 64 << 20, "an answer of {length} bytes");
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).context("receiving")?;
        Ok(answer)
    }
}

/// Bytes with their length before them.
fn put(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend(i32::try_from(bytes.len()).unwrap_or(i32::MAX).to_be_bytes());
    to.extend(bytes);
}

fn int(from: &[u8], at: usize) -> Result<i32> {
    let bytes = from.get(at..at + 4).and_then(|b| b.try_into().ok());
    bytes.map(i32::from_be_bytes).context("an answer that is too short")
}

/// A list of texts.
fn names(answer: &[u8]) -> Result<Vec<String>> {
    let (count, mut at) = (int(answer, 0)?, 4);
    let mut names = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(int(answer, at)?).context("a length")?;
        let name = answer.get(at + 4..at + 4 + length).context("an answer that is too short")?;
        names.push(String::from_utf8_lossy(name).into_owned());
        at += 4 + length;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_read_back() {
        let mut list = 2_i32.to_be_bytes().to_vec();
        put(&mut list, b"one");
        put(&mut list, b"two");
        assert_eq!(names(&list).expect("a list"), ["one", "two"]);
        assert!(names(&list[..9]).is_err());
    }
}
