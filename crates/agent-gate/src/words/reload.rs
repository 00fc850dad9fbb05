//! Signals.

palladion_api::sentences! {
    /// What became of a change.
    pub enum Reloaded {
        Signalled { process: String, pid: i32, signal: String } => "sent {signal} to {process}, process {pid}";
        NoProcess { process: String } => "no process is named {process}";
        Several { process: String, pids: String } =>
            "several processes are named {process}, and none of them is the parent of the others: {pids}";
        Refused { pid: i32, why: String } => "could not signal process {pid}: {why}";
        Unreadable { why: String } => "{why}";
    }
}
