//! Facts of which any agent's decision is made.

use palladion_api::reasons::Reason;

/// Where a spec comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the API, since this agent was started.
    Live,
    /// From beside the ledger; the API could not be asked.
    Saved,
}

/// The server's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// Init could not be asked.
    Unknown(String),
    /// None runs.
    Absent,
    /// It runs.
    Running,
}

/// The last telling words of a server, with what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// The reason that they tell.
    pub reason: Reason,
    /// The words.
    pub text: String,
}
