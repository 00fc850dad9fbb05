//! A client of AMQP 0-9-1, as far as the cases need one: a quorum queue, messages that are
//! confirmed by a majority, and reading them again. Numbers are those of the specification.

use std::io::{Error, Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const HEARTBEAT: u8 = 8;
const END: u8 = 0xce;
/// The property `delivery-mode`, and its value for a message that outlives a restart.
const DELIVERY_MODE: u16 = 1 << 12;
const PERSISTENT: u8 = 2;

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
        self.0.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
        self.0.extend(bytes);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.0.push(u8::try_from(text.len()).unwrap());
        self.0.extend(text.as_bytes());
        self
    }
}

impl Client {
    /// Logged in, with a channel that confirms.
    pub fn open(address: &str, (user, password): (&str, &str)) -> Result<Self> {
        let limit = Duration::from_secs(10);
        let address = format!("{address}:5672").parse().unwrap();
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
        let tuned = Arguments(tune[..6].to_vec()).short(0);
        client.send(0, (10, 31), tuned)?;
        client.ask(0, (10, 40), Arguments::default().text("/").text("").byte(0), (10, 41))?;
        client.ask(1, (20, 10), Arguments::default().text(""), (20, 11))?;
        client.ask(1, (85, 10), Arguments::default().byte(0), (85, 11))?;
        Ok(client)
    }

    /// A durable queue of this type, with its number of messages.
    pub fn queue(&mut self, name: &str, kind: &str) -> Result<u32> {
        let table = Arguments::default().text("x-queue-type").byte(b'S').long(kind.as_bytes());
        let durable = 2;
        let declare = Arguments::default().short(0).text(name).byte(durable).long(&table.0);
        let answer = self.ask(1, (50, 10), declare, (50, 11))?;
        let at = 1 + usize::from(answer[0]);
        Ok(u32::from_be_bytes(answer[at..at + 4].try_into().unwrap()))
    }

    /// Publish; an error where it was not confirmed.
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
        let confirmed = u64::from_be_bytes(tag[..8].try_into().unwrap());
        match confirmed >= self.published {
            true => Ok(()),
            false => Err(Error::other("another message was confirmed")),
        }
    }

    /// Take a message out of a queue.
    pub fn get(&mut self, queue: &str) -> Result<Option<String>> {
        let no_ack = 1;
        self.send(1, (60, 70), Arguments::default().short(0).text(queue).byte(no_ack))?;
        let (_, method) = self.method()?;
        if method == (60, 72) {
            return Ok(None);
        }
        let (_, header) = self.read()?;
        let mut left = u64::from_be_bytes(header[4..12].try_into().unwrap());
        let mut text = Vec::new();
        while left > 0 {
            let (_, part) = self.read()?;
            left = left.saturating_sub(part.len() as u64);
            text.extend(part);
        }
        Ok(Some(String::from_utf8(text).unwrap()))
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
            if kind == METHOD {
                let number = |at: usize| u16::from_be_bytes([payload[at], payload[at + 1]]);
                return Ok((payload[4..].to_vec(), (number(0), number(2))));
            }
        }
    }

    fn read(&mut self) -> Result<(u8, Vec<u8>)> {
        loop {
            let mut head = [0; 7];
            self.stream.read_exact(&mut head)?;
            let length = u32::from_be_bytes([head[3], head[4], head[5], head[6]]);
            let mut payload = vec![0; usize::try_from(length).unwrap() + 1];
            self.stream.read_exact(&mut payload)?;
            if payload.pop() != Some(END) {
                return Err(Error::other("a frame does not end"));
            }
            if head[0] != HEARTBEAT {
                return Ok((head[0], payload));
            }
        }
    }
}
