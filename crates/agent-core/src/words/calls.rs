//! What the agent asks of init, which runs the server.

palladion_api::sentences! {
    /// What was being done; the cause follows after a colon.
    pub enum Doing {
        StartServer => "starting the server";
        StartProgram { program: String, directory: String } => "starting {program} in {directory}";
        MakePipe => "creating a pipe for the server's output";
        StartLogThread => "starting the thread that forwards the server's log";
    }

    /// Why init did not do what the agent asked for.
    pub enum InitError {
        Unreachable { path: String } => "cannot reach init at {path}";
        Unreadable => "cannot parse the response from init";
        Silent { path: String } => "init at {path} did not respond in time";
        Refused { why: String } => "init could not carry out the request: {why}";
        OtherAnswer => "the response does not contain the state of the server";
        ContainerEnding => "the container is shutting down";
        ServerRuns { pid: i32 } => "a server is already running as process {pid}";
        NoSuchServer => "the server to be signalled is no longer running";
        Signal { pid: i32, why: String } => "cannot signal process {pid}: {why}";
        PidOutOfRange => "the process ID is out of range";
    }
}
