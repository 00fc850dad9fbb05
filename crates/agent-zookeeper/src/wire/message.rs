//! The messages of ZooKeeper's client protocol that an agent exchanges with its
//! server. Names and order of the fields are those of `zookeeper.jute` in
//! ZooKeeper's sources.

use super::jute::{Malformed, Reader, Record, Writer};

/// Numbers of requests (`ZooDefs.OpCode`).
pub mod opcode {
    /// `getData`.
    pub const GET_DATA: i32 = 4;
    /// `sync`.
    pub const SYNC: i32 = 9;
    /// `reconfig`.
    pub const RECONFIG: i32 = 16;
    /// `auth`.
    pub const AUTH: i32 = 100;
    /// `closeSession`.
    pub const CLOSE: i32 = -11;
}

/// Numbers of answers that belong to no request of ours (`ClientCnxn`).
pub mod xid {
    /// A watch has fired.
    pub const NOTIFICATION: i32 = -1;
    /// The answer to a ping.
    pub const PING: i32 = -2;
    /// The answer to an `auth`.
    pub const AUTH: i32 = -4;
}

/// Asks for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// 0.
    pub protocol_version: i32,
    /// The newest transaction that we know of: a server that is behind refuses.
    pub last_zxid: i64,
    /// Milliseconds after which a silent session ends.
    pub timeout_ms: i32,
    /// 0 for a new one.
    pub session_id: i64,
    /// Of the session that is taken up again.
    pub password: Vec<u8>,
    /// Would a server without a quorum do?
    pub read_only: bool,
}

impl Record for ConnectRequest {
    fn write(&self, to: &mut Writer) {
        to.int(self.protocol_version);
        to.long(self.last_zxid);
        to.int(self.timeout_ms);
        to.long(self.session_id);
        to.buffer(Some(&self.password));
        to.boolean(self.read_only);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            protocol_version: from.int()?,
            last_zxid: from.long()?,
            timeout_ms: from.int()?,
            session_id: from.long()?,
            password: from.buffer()?.unwrap_or_default(),
            read_only: !from.is_empty() && from.boolean()?,
        })
    }
}

/// The session that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectResponse {
    /// 0.
    pub protocol_version: i32,
    /// Milliseconds after which a silent session ends; 0 where there is no session.
    pub timeout_ms: i32,
    /// Its number; 0 where there is no session.
    pub session_id: i64,
    /// To take it up again.
    pub password: Vec<u8>,
    /// Is it with a server without a quorum?
    pub read_only: bool,
}

impl Record for ConnectResponse {
    fn write(&self, to: &mut Writer) {
        to.int(self.protocol_version);
        to.int(self.timeout_ms);
        to.long(self.session_id);
        to.buffer(Some(&self.password));
        to.boolean(self.read_only);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            protocol_version: from.int()?,
            timeout_ms: from.int()?,
            session_id: from.long()?,
            password: from.buffer()?.unwrap_or_default(),
            read_only: !from.is_empty() && from.boolean()?,
        })
    }
}

/// Stands before each request but the one for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// Number of the request in its session.
    pub xid: i32,
    /// Which request, of [`opcode`].
    pub opcode: i32,
}

impl Record for RequestHeader {
    fn write(&self, to: &mut Writer) {
        to.int(self.xid);
        to.int(self.opcode);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { xid: from.int()?, opcode: from.int()? })
    }
}

/// Stands before each answer but the one to the request for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    /// Number of the request, or one of [`xid`].
    pub xid: i32,
    /// The newest transaction of the server.
    pub zxid: i64,
    /// 0, or why it was not done.
    pub error: i32,
}

impl Record for ReplyHeader {
    fn write(&self, to: &mut Writer) {
        to.int(self.xid);
        to.long(self.zxid);
        to.int(self.error);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { xid: from.int()?, zxid: from.long()?, error: from.int()? })
    }
}

/// Says who we are.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthPacket {
    /// 0.
    pub kind: i32,
    /// `digest`.
    pub scheme: String,
    /// `user:password`.
    pub auth: Vec<u8>,
}

/// The password is in no log.
impl std::fmt::Debug for AuthPacket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AuthPacket({}, hidden)", self.scheme)
    }
}

impl Record for AuthPacket {
    fn write(&self, to: &mut Writer) {
        to.int(self.kind);
        to.text(Some(&self.scheme));
        to.buffer(Some(&self.auth));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            kind: from.int()?,
            scheme: from.text()?.unwrap_or_default(),
            auth: from.buffer()?.unwrap_or_default(),
        })
    }
}

/// Reads a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetDataRequest {
    /// Its path.
    pub path: String,
    /// Tell of its next change?
    pub watch: bool,
}

impl Record for GetDataRequest {
    fn write(&self, to: &mut Writer) {
        to.text(Some(&self.path));
        to.boolean(self.watch);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { path: from.text()?.unwrap_or_default(), watch: from.boolean()? })
    }
}

/// Changes who is in the ensemble, one by one: `newMembers`, which would put a whole
/// list in the place of what is there, is never used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconfigRequest {
    /// Lines of a configuration (`server.4=…`), by commas.
    pub joining: Option<String>,
    /// Numbers of servers, by commas.
    pub leaving: Option<String>,
    /// Version of the configuration that is changed; another one is refused.
    pub version: i64,
}

impl Record for ReconfigRequest {
    fn write(&self, to: &mut Writer) {
        to.text(self.joining.as_deref());
        to.text(self.leaving.as_deref());
        to.text(None);
        to.long(self.version);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (joining, leaving) = (from.text()?, from.text()?);
        // A whole list is nothing that we ask for.
        if from.text()?.is_some() {
            return Err(Malformed::Length);
        }
        Ok(Self { joining, leaving, version: from.long()? })
    }
}

/// Has a server catch up with its leader; the answer is the same path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncPath {
    /// Any path.
    pub path: String,
}

impl Record for SyncPath {
    fn write(&self, to: &mut Writer) {
        to.text(Some(&self.path));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { path: from.text()?.unwrap_or_default() })
    }
}

/// What is in a node. The figures about the node that follow are not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its data.
    pub data: Option<Vec<u8>>,
}

/// Bytes of the figures about a node (`Stat`).
const STAT: usize = 68;

impl Record for Data {
    fn write(&self, to: &mut Writer) {
        to.buffer(self.data.as_deref());
        (0..STAT).for_each(|_| to.boolean(false));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { data: from.buffer()? })
    }
}
