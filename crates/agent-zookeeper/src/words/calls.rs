//! What the agent asks of its server, and why it was not done.

use palladion_agent_core::words::operation;
use palladion_api::zookeeper::{ServerId, Zxid};

palladion_api::sentences! {
    /// Why there is no answer of the server.
    pub enum WireError {
        Unreachable { address: String } => "the connection to ZooKeeper at {address} failed";
        Late { address: String } => "ZooKeeper at {address} did not respond in time";
        Malformed => "cannot parse the response from ZooKeeper";
        OtherAnswer { asked: i32, answered: i32 } => "ZooKeeper answered request {answered} instead of {asked}";
        NoSession => "ZooKeeper did not open a session: the server has no quorum";
    }

    /// Bytes that are not what they should be.
    pub enum Malformed {
        Short => "the response ends within a value";
        Length => "the response contains an impossible length";
        Text => "the response contains text that is not UTF-8";
        Boolean => "the response contains a boolean other than 0 and 1";
    }

    /// Why the server did not do what it was asked for.
    pub enum NotDone {
        NewConfigNoQuorum => "ZooKeeper rejected the configuration: too few of its servers are connected and in sync (NewConfigNoQuorum)";
        ReconfigInProgress => "ZooKeeper rejected the configuration: another reconfiguration is in progress (ReconfigInProgress)";
        BadVersion => "ZooKeeper rejected the configuration: the current one has another version (BadVersion)";
        NoAuth => "ZooKeeper rejected the request: the agent is not logged in as the superuser (NoAuth)";
        AuthFailed => "ZooKeeper rejected the password of the agent (AuthFailed)";
        Unimplemented => "ZooKeeper rejected the request: the server runs standalone (Unimplemented)";
        ReconfigDisabled => "ZooKeeper rejected the request: `reconfigEnabled` is not set (ReconfigDisabled)";
        BadArguments => "ZooKeeper rejected the request as invalid (BadArguments)";
        NoNode => "ZooKeeper rejected the request: the znode does not exist (NoNode)";
        SessionExpired => "the session has expired";
        Other { code: i32 } => "ZooKeeper rejected the request with error {code}";
    }

    /// What a server said that cannot be understood.
    pub enum Unclear {
        Srvr { line: String } => "the response to `srvr` contains an unexpected line: {line}";
        NotAllowed { command: String } => "ZooKeeper does not execute `{command}`, because `4lw.commands.whitelist` does not contain it";
        ConfigLine { line: String } => "the configuration of the ensemble contains an unexpected line: {line}";
        TwoServers { id: ServerId } => "the configuration of the ensemble contains server {id} twice";
    }

    /// How an operation ended well.
    pub enum Done {
        Reconfigured { version: Zxid } => "changed the configuration; its version is {version}";
    }

    /// How an operation ended otherwise.
    pub enum Failed {
        Of { why: operation::Failed } => "{why}";
        NotOfZookeeper { kind: String } => "the operation requests `{kind}`, which a server of ZooKeeper does not support; nothing was done";
        NoChange => "the operation does not name a server to add or to remove";
        BothWays { id: ServerId } => "the operation adds and removes server {id}; nothing was done";
        NoPassword => "the agent that started the server left no password, so the configuration cannot be changed from here; restart the member";
    }

    /// What the agent does not know yet.
    pub enum NotKnown {
        Ledger => "the volume has no usable ledger";
        Spec => "the agent has not read its ServiceMember yet";
        Process => "init has not been queried yet";
        Configuration => "the configuration of the ensemble has not been read yet";
    }
}

impl From<operation::Failed> for Failed {
    fn from(why: operation::Failed) -> Self {
        Self::Of { why }
    }
}
