//! What the engine remembers of one owner between two decisions. Nothing here
//! may be missed after a crash: losing it costs a request or repeats an event.

use crate::decide::Left;
use crate::expect::Expectation;
use palladion_api::ids::Uid;
use palladion_plan::{Failure, ObjectKey};
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::time::Instant;

/// What an apply left behind: the server's own version of what was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Uid of the object.
    pub uid: String,
    /// Hash of the object that was wanted.
    pub wanted: String,
    /// Hash of what the server made of it, without status.
    pub became: String,
}

/// A decision that nobody waited for.
#[derive(Clone, Debug)]
pub struct Late {
    /// The generation of the owner: another one is decided at once.
    pub generation: i64,
    /// What still computes it.
    pub thread: Left,
    /// The same one is decided again after this, if the thread has ended: the machine may have
    /// been what was slow, or the process stopped for a while.
    pub again: Instant,
}

/// Memory of one owner.
#[derive(Debug, Default)]
pub struct Memory {
    /// Uid of the owner; another uid begins with an empty memory.
    pub uid: Uid,
    /// What failed the last time and has not succeeded since.
    pub failure: Option<Failure>,
    /// Failures in a row.
    pub attempts: u32,
    /// What was applied and how the server stored it.
    pub applied: BTreeMap<ObjectKey, Applied>,
    /// The patch that did not take out what others had added: an admission webhook
    /// added it again at once. By object, with its uid.
    pub insisted: BTreeMap<ObjectKey, (String, Value)>,
    /// Own writes that have to come back first.
    pub expectations: Vec<Expectation>,
    /// Since when they are awaited.
    pub expected_since: Option<Instant>,
    /// What the owner refers to.
    pub references: Vec<ObjectKey>,
    /// The last events: type and reason with message, and when.
    pub events: BTreeMap<String, (String, Instant)>,
    /// A status patch that the server accepted without storing it.
    pub futile_status: Option<Value>,
    /// When the status was written last.
    pub status_written: Option<Instant>,
    /// The version of the owner that the API server no longer has although the
    /// cache does, and until when that is believed.
    pub gone: Option<(String, Instant)>,
    /// The decision that took too long.
    pub late: Option<Late>,
    /// Why the status could not be written the last time.
    pub status_error: Option<String>,
}
