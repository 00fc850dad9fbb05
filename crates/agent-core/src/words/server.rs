//! About a server that has ended.

palladion_api::sentences! {
    /// The last words of a server.
    pub enum Last {
        Nothing => "the server logged no message";
        Killed { line: String } => "killed by signal 9 (SIGKILL), probably because the container exceeded its memory limit (from the server's log: {line})";
        KilledSilently => "killed by signal 9 (SIGKILL), probably because the container exceeded its memory limit (the server logged no message)";
    }
}
