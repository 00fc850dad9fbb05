//! What the agent asks of its server, over the management interface and CQL.

use palladion_api::ids::{HostId, StaticAddress};

palladion_api::sentences! {
    /// What the agent was doing; the cause follows after a colon.
    pub enum Doing {
        ReloadSeeds => "reloading the seed list";
        ChangeRuntimeSettings => "changing runtime settings";
        ReadRuntimeSettings => "reading runtime settings";
        ReadAttributes => "reading JMX attributes";
        SetAttribute { attribute: String } => "setting {attribute}";
        ListKeyspaces => "listing keyspaces";
        ConnectToServer => "connecting to the server of this member";
        CleanUp { keyspace: String } => "cleaning up keyspace {keyspace}";
        Flush { keyspace: String } => "flushing keyspace {keyspace}";
        UpgradeSstables { keyspace: String } => "upgrading the SSTables of keyspace {keyspace}";
        Alter { keyspace: String } => "altering keyspace {keyspace}";
        Repair { keyspace: String } => "repairing keyspace {keyspace}";
        Rewrite { keyspace: String, table: String } => "rewriting table {keyspace}.{table}";
        Snapshot { name: String } => "taking snapshot {name}";
        ClearSnapshot { name: String } => "clearing snapshot {name}";
        CountCopies => "counting copies by datacenter";
        Rebuild { keyspace: String } => "rebuilding keyspace {keyspace}";
        StartNativeTransport => "starting the native transport";
        StopNativeTransport => "stopping the native transport";
        RemoveNode { host_id: HostId } => "removing host ID {host_id} from the ring";
        ListTables => "listing tables";
        LimitSnapshot => "snapshots with a time to live";
    }

    /// What the agent does not know yet.
    pub enum NotKnown {
        Ledger => "the volume has no usable ledger";
        Volume => "the mount path of the volume is not known yet";
        Spec => "the agent has not read its CassandraMember yet";
        Server => "the agent is not connected to the management interface of the server";
        Tokens => "the server does not report its tokens yet";
        Ring => "the server does not report all members of its ring yet";
        Process => "init has not been queried yet";
    }

    /// Why the server did not do what the agent asked for.
    pub enum ServerError {
        Unreachable { url: String } => "the request to the server at {url} failed";
        Status { url: String, status: u16, body: String } => "the server at {url} returned status {status}: {body}";
        Failed { operation: String, message: String } => "{operation} failed: {message}";
        Unsupported { what: Doing } => "this server does not support {what}";
    }

    /// What a server's answer means.
    pub enum Answered {
        Stopped => "it was aborted for at least one table; see the server's log";
        CompactionsNotPaused => "in-progress compactions could not be cancelled; see the server's log";
        Unexpected { answer: String } => "unexpected response: {answer}";
        NotYetReported => "the server does not report its keyspaces yet";
        NoAttribute { attribute: String } => "the server does not report {attribute}";
        NotReported => "the server does not report its runtime settings";
        AnswersMissing { answers: usize, questions: usize } => "the server returned {answers} of {questions} attributes";
        NoDatacenter { address: StaticAddress } => "the datacenter of {address} is not known";
        RepairFailed => "the server reports the status FAILED; see its log";
    }

    /// Why a CQL statement was not carried out.
    pub enum CqlError {
        Unreachable { address: String } => "the CQL connection to {address} failed";
        Refused { message: String, code: String } => "the server rejected the request: {message} (CQL error {code})";
        NoCredentials => "the server requires a user name and password, but no Secret that contains them is mounted";
        Untrusted { why: String } => "cannot verify the certificate of the server: {why}";
        Unexpected { frame: String } => "the server responded with an unexpected frame (opcode {frame})";
    }

    /// Why the agent is kept out where a Secret names the user `cassandra`.
    pub enum Named {
        /// There is no role.
        NotMade { why: String } =>
            "{why}; one of the Secrets names the user `cassandra`, which is not created for it: name another user in both";
        LeftOpen { why: String } =>
            "{why}; and anybody can log in as superuser `cassandra` with the password `cassandra`, because one of the Secrets names this user: name another user in both, and the agent closes it";
    }

    /// How a drain before the end of the container ended.
    pub enum Drained {
        Done => "the server is drained";
        NoServer => "nothing to drain: no server is running, or the agent cannot reach it";
        Failed { why: String } => "the server could not be drained: {why}";
        Late { seconds: u64 } => "the server did not finish draining within {seconds} s";
    }

    /// Versions.
    pub enum Version {
        Unknown { version: String } => "this agent supports Cassandra 4.0, 4.1 and 5.0, but not {version}";
    }
}
