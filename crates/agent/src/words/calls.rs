//! What the agent asks of others: of its server, over the management interface
//! and CQL, and of init, which runs the server.

palladion_api::sentences! {
    /// What the agent was doing; the cause follows after a colon.
    pub enum Doing {
        StartServer => "starting the server";
        StartProgram { program: String, directory: String } => "starting {program} in {directory}";
        MakePipe => "creating a pipe for the output of the server";
        StartLogThread => "starting the thread that forwards the log of the server";
        ListKeyspaces => "listing keyspaces";
        ConnectToServer => "connecting to the server of this member";
        CleanUp { keyspace: String } => "cleaning up keyspace {keyspace}";
        Flush { keyspace: String } => "flushing keyspace {keyspace}";
        UpgradeSstables { keyspace: String } => "upgrading the SSTables of keyspace {keyspace}";
        Alter { keyspace: String } => "altering keyspace {keyspace}";
        Repair { keyspace: String } => "repairing keyspace {keyspace}";
        ReloadSeeds => "reloading the seed list";
        ReadRuntimeSettings => "reading runtime settings";
        ChangeRuntimeSettings => "changing runtime settings";
        ReadAttributes => "reading attributes";
    }

    /// What the agent does not know yet.
    pub enum NotKnown {
        Ledger => "the volume has no ledger";
        Volume => "the volume has not been inspected yet";
        Spec => "the CassandraMember has not been read yet";
        Server => "the management interface of the server is not known yet";
        Process => "init has not been queried yet";
    }

    /// Why the server did not do what the agent asked for.
    pub enum ServerError {
        Unreachable { url: String } => "cannot reach the server at {url}";
        Status { url: String, status: u16, body: String } => "the server at {url} answered with HTTP status {status}: {body}";
        Failed { operation: String, message: String } => "{operation} failed: {message}";
        Unsupported { what: Doing } => "this server does not support {what}";
    }

    /// What a server's answer means.
    pub enum Answered {
        Stopped => "it was stopped before it finished";
        CompactionsNotPaused => "in-progress compactions could not be cancelled; see the server's log";
        Unexpected { answer: String } => "unexpected answer: {answer}";
        NotYetReported => "the server does not report its keyspaces yet";
        NotReported => "the server does not report its runtime settings";
        AnswersMissing { answers: usize, questions: usize } => "the server returned {answers} responses to {questions} requests";
        RepairFailed => "the server reports FAILED";
    }

    /// Why a CQL statement was not carried out.
    pub enum CqlError {
        Unreachable { address: String } => "cannot reach {address} over CQL";
        Refused { message: String, code: String } => "the server rejected the statement: {message} (error {code})";
        NoCredentials => "the server requires a user name and password, but none are mounted";
        Untrusted { why: String } => "the certificate of the server cannot be verified: {why}";
        Unexpected { frame: String } => "the server responded with an unexpected frame (opcode {frame})";
    }

    /// Why init did not do what the agent asked for.
    pub enum InitError {
        Unreachable { path: String } => "cannot reach init at {path}";
        Unreadable => "cannot parse the answer from init";
        Silent { path: String } => "init at {path} did not answer";
        Refused { why: String } => "init refused the request: {why}";
        OtherAnswer => "init answered a different request";
        ContainerEnding => "the container is shutting down";
        ServerRuns { pid: i32 } => "a server is already running as process {pid}";
        NoSuchServer => "the server to be signalled is no longer running";
        Signal { pid: i32, why: String } => "cannot signal process {pid}: {why}";
        PidOutOfRange => "the process ID is out of range";
    }

    /// How a drain before the end of the container ended.
    pub enum Drained {
        Done => "drained";
        NoServer => "no server is running; nothing to drain";
        Failed { why: String } => "not drained: {why}";
        Late { seconds: u64 } => "not drained within {seconds} s";
    }

    /// Versions.
    pub enum Version {
        Unknown { version: String } => "Cassandra {version} is not supported by this agent; it supports 4.0, 4.1 and 5.0";
    }
}
