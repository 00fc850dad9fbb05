//! A client of AMQP 0-9-1, as far as tests need one: queues, messages that are confirmed by
//! a majority, and reading them again. Numbers are those of the specification. It shares
//! nothing with the agent, which asks nodes by HTTP and by their command line.

use std::io::{Error, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const HEARTBEAT: u8 = 8;
const END: u8 = 0xce;
/// The property `delivery-mode`, and its value for a message that outlives a restart.
const DELIVERY_MODE: u16 = 1 << 12;
const PERSISTENT: u8 = 2;

/// A connection with one node, with a channel that confirms.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    published: u64,
}

type Method = (u16, u16);

#[derive(Default)]
struct Arguments(Vec<u8>);

impl Arguments {
    fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    fn short(mut self, number: u16) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn long(mut self, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.0.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.0.extend(text.as_bytes());
        self
    }
}

impl Client {
    /// Log in, to the virtual host that each cluster has.
    ///
    /// # Errors
    /// The node takes no clients, or not this one.
    pub fn open(address: SocketAddr, login: (&str, &str)) -> Result<Self> {
        Self::open_in(address, login, "/")
    }

    /// Log in to this virtual host.
    ///
    /// # Errors
    /// The node takes no clients, or not this one there.
    pub fn open_in(
        address: SocketAddr,
        (user, password): (&str, &str),
        vhost: &str,
    ) -> Result<Self> {
        let limit = Duration::from_secs(10);
        let stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        let mut client = Self { stream, published: 0 };
        client.stream.write_all(b"AMQP\0\0\x09\x01")?;
        client.expect((10, 10))?;
        let response = format!("\0{user}\0{password}");
        let start = Arguments::default().long(b"").text("PLAIN").long(response.as_bytes());
        client.send(0, (10, 11), start.text("en_US"))?;
        let tune = client.expect((10, 30))?;
        // As the server proposes, without heartbeats.
        let proposed = tune.get(..6).ok_or_else(short)?;
        let tuned = Arguments(proposed.to_vec()).short(0);
        client.send(0, (10, 31), tuned)?;
        client.ask(0, (10, 40), Arguments::default().text(vhost).text("").byte(0), (10, 41))?;
        client.ask(1, (20, 10), Arguments::default().text(""), (20, 11))?;
        client.ask(1, (85, 10), Arguments::default().byte(0), (85, 11))?;
        Ok(client)
    }

    /// Declare a durable queue of this type.
    ///
    /// # Errors
    /// The node does not say that it is there.
    pub fn queue(&mut self, name: &str, kind: &str) -> Result<()> {
        self.queue_of(name, kind, None)
    }

    /// Declare one with so many replicas.
    ///
    /// # Errors
    /// The node does not say that it is there.
    pub fn queue_of(&mut self, name: &str, kind: &str, replicas: Option<u32>) -> Result<()> {
        let mut table = Arguments::default().text("x-queue-type").byte(b'S').long(kind.as_bytes());
        if let Some(replicas) = replicas {
            table = table.text("x-quorum-initial-group-size").byte(b'I');
            table.0.extend(replicas.to_be_bytes());
        }
        let durable = 2;
        let declare = Arguments::default().short(0).text(name).byte(durable).long(&table.0);
        self.ask(1, (50, 10), declare, (50, 11))?;
        Ok(())
    }

    /// Publish a message that outlives a restart.
    ///
    /// # Errors
    /// It was not confirmed. It may be there all the same.
    pub fn publish(&mut self, queue: &str, text: &str) -> Result<()> {
        let publish = Arguments::default().short(0).text("").text(queue).byte(0);
        self.send(1, (60, 40), publish)?;
        let mut header = Arguments::default().short(60).short(0).0;
        header.extend((text.len() as u64).to_be_bytes());
        header.extend(DELIVERY_MODE.to_be_bytes());
        header.push(PERSISTENT);
        self.frame(HEADER, 1, &header)?;
        self.frame(BODY, 1, text.as_bytes())?;
        self.published += 1;
        let tag = self.expect((60, 80))?;
        let confirmed = number(&tag, 0)?;
        match confirmed >= self.published {
            true => Ok(()),
            false => Err(Error::other("another message was confirmed")),
        }
    }

    /// Take a message out of a queue; `None` where there is none.
    ///
    /// # Errors
    /// The node does not answer.
    pub fn take(&mut self, queue: &str) -> Result<Option<String>> {
        let Some((tag, text)) = self.get(queue)? else { return Ok(None) };
        let mut ack = Arguments::default();
        ack.0.extend(tag.to_be_bytes());
        self.send(1, (60, 80), ack.byte(0))?;
        Ok(Some(text))
    }

    /// All messages of a queue, which are there again when this connection has ended.
    ///
    /// # Errors
    /// The node does not answer.
    pub fn all(mut self, queue: &str) -> Result<Vec<String>> {
        let mut all = Vec::new();
        while let Some((_, text)) = self.get(queue)? {
            all.push(text);
        }
        Ok(all)
    }

    fn get(&mut self, queue: &str) -> Result<Option<(u64, String)>> {
        self.send(1, (60, 70), Arguments::default().short(0).text(queue).byte(0))?;
        let (arguments, method) = self.method()?;
        match method {
            (60, 71) => {}
            (60, 72) => return Ok(None),
            other => return Err(Error::other(format!("{other:?} instead of a message"))),
        }
        let tag = number(&arguments, 0)?;
        let (_, header) = self.read()?;
        let length = number(&header, 4)?;
        let mut text = Vec::new();
        while (text.len() as u64) < length {
            let (_, part) = self.read()?;
            text.extend(part);
        }
        let text = String::from_utf8(text).map_err(Error::other)?;
        Ok(Some((tag, text)))
    }

    fn ask(
        &mut self,
        channel: u16,
        method: Method,
        arguments: Arguments,
        answer: Method,
    ) -> Result<Vec<u8>> {
        self.send(channel, method, arguments)?;
        self.expect(answer)
    }

    fn send(&mut self, channel: u16, (class, method): Method, arguments: Arguments) -> Result<()> {
        let head = Arguments::default().short(class).short(method).0;
        self.frame(METHOD, channel, &[head, arguments.0].concat())
    }

    fn frame(&mut self, kind: u8, channel: u16, payload: &[u8]) -> Result<()> {
        let head = Arguments::default().byte(kind).short(channel).long(payload).byte(END);
        self.stream.write_all(&head.0)
    }

    /// The arguments of the next method, which must be this one.
    fn expect(&mut self, wanted: Method) -> Result<Vec<u8>> {
        let (arguments, method) = self.method()?;
        match method == wanted {
            true => Ok(arguments),
            false => Err(Error::other(format!("{method:?} instead of {wanted:?}"))),
        }
    }

    fn method(&mut self) -> Result<(Vec<u8>, Method)> {
        loop {
            let (kind, payload) = self.read()?;
            if let (METHOD, [a, b, c, d, arguments @ ..]) = (kind, payload.as_slice()) {
                let method = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
                return Ok((arguments.to_vec(), method));
            }
        }
    }

    fn read(&mut self) -> Result<(u8, Vec<u8>)> {
        loop {
            let mut head = [0; 7];
            self.stream.read_exact(&mut head)?;
            let [kind, _, _, length @ ..] = head;
            let length = usize::try_from(u32::from_be_bytes(length)).map_err(Error::other)?;
            let mut payload = vec![0; length + 1];
            self.stream.read_exact(&mut payload)?;
            if payload.pop() != Some(END) {
                return Err(Error::other("a frame does not end"));
            }
            if kind != HEARTBEAT {
                return Ok((kind, payload));
            }
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Result<u64> {
    let part = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()).ok_or_else(short)?;
    Ok(u64::from_be_bytes(*part))
}

fn short() -> Error {
    Error::other("an answer that is too short")
}
