//! A client of the ensemble: writes nodes, and reads them again. It shares the encoding
//! with the agent, and nothing else.

use palladion_agent_zookeeper::wire::jute::{Reader, Record, Writer, frame_length};
use palladion_agent_zookeeper::wire::message::{
    ConnectRequest, ConnectResponse, Data, GetDataRequest, ReplyHeader, RequestHeader, opcode,
};
use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

const CREATE: i32 = 1;
const EVERYTHING: i32 = 31;

pub struct Client(TcpStream);

impl Client {
    /// A session with the server of this address.
    pub fn open(address: &str) -> Result<Self> {
        let address = format!("{address}:2181").parse().unwrap();
        let limit = Duration::from_secs(5);
        let stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        let mut client = Self(stream);
        let mut request = Writer::default();
        let ask = ConnectRequest {
            protocol_version: 0,
            last_zxid: 0,
            timeout_ms: 5000,
            session_id: 0,
            password: vec![0; 16],
            read_only: false,
        };
        ask.write(&mut request);
        let frame = client.exchange(request)?;
        let made = ConnectResponse::read(&mut Reader::new(&frame)).unwrap();
        match made.session_id {
            0 => Err(std::io::Error::other("no session")),
            _ => Ok(client),
        }
    }

    /// Make a node; true says that a majority has it.
    pub fn create(&mut self, path: &str, data: &str) -> Result<bool> {
        let mut request = Writer::default();
        RequestHeader { xid: 1, opcode: CREATE }.write(&mut request);
        request.text(Some(path));
        request.text(Some(data));
        request.int(1);
        request.int(EVERYTHING);
        request.text(Some("world"));
        request.text(Some("anyone"));
        request.int(0);
        let frame = self.exchange(request)?;
        Ok(ReplyHeader::read(&mut Reader::new(&frame)).unwrap().error == 0)
    }

    /// What is in a node.
    pub fn read(&mut self, path: &str) -> Result<Option<String>> {
        let mut request = Writer::default();
        RequestHeader { xid: 2, opcode: opcode::GET_DATA }.write(&mut request);
        GetDataRequest { path: path.into(), watch: false }.write(&mut request);
        let frame = self.exchange(request)?;
        let mut reader = Reader::new(&frame);
        if ReplyHeader::read(&mut reader).unwrap().error != 0 {
            return Ok(None);
        }
        let data = Data::read(&mut reader).unwrap().data.unwrap_or_default();
        Ok(Some(String::from_utf8(data).unwrap()))
    }

    fn exchange(&mut self, request: Writer) -> Result<Vec<u8>> {
        self.0.write_all(&request.frame().unwrap())?;
        let mut head = [0; 4];
        self.0.read_exact(&mut head)?;
        let mut frame = vec![0; frame_length(head).unwrap()];
        self.0.read_exact(&mut frame)?;
        Ok(frame)
    }
}
