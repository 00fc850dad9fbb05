//! What is on a disk: marker, ledger, and what the node keeps in its tables and logs.

use jiff::Timestamp;
use palladion_api::ids::Nonce;
use palladion_api::member::{IntentStatus, PermitStatus};
use palladion_api::service_member::{MemberOperationStatus, ServicePermitKind};
use std::collections::{BTreeMap, BTreeSet};

/// A disk of a member.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// From the marker file.
    pub id: Option<String>,
    pub ledger: Ledger,
    pub data: Option<Data>,
}

/// What the agent remembers of this volume.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub node_name: Option<String>,
    pub part: Part,
    /// The permit that it was begun by.
    pub begun_by: Option<(ServicePermitKind, Nonce)>,
    /// The last permit and what came of it.
    pub permit: Option<PermitStatus>,
    /// Permits that were used.
    pub used: Vec<Nonce>,
    /// Is it noted that the node on it asks to be taken in?
    pub asked: bool,
    /// Is the node on it noted to be in its cluster?
    pub entered: bool,
    pub starts: i64,
    /// The last of them.
    pub started: Option<Timestamp>,
    /// The last order and what came of it.
    pub operation: Option<MemberOperationStatus>,
    pub cookie: Option<String>,
    /// The last intent and what came of it.
    pub intent: Option<IntentStatus>,
    /// Was the application stopped by intent? Noted before it is.
    pub app_stopped: bool,
}

/// The part that the node on it has in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    None,
    Begun,
    Joined,
    Left,
}

/// What a node has on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Nodes of the cluster, by its tables.
    pub cluster: BTreeSet<String>,
    /// Does its file of the nodes say the same, which its agent reads while it does not run?
    pub is_noted: bool,
    /// Has its application run in this cluster? Only then it has logs at all.
    pub has_run: bool,
    /// Nodes that ran when it stopped: their tables may be newer.
    pub ran_on: BTreeSet<String>,
    /// Queues, by its tables.
    pub queues: BTreeMap<String, Queue>,
    /// Messages by queue: of a replica, or of a classic queue.
    pub logs: BTreeMap<String, BTreeSet<u32>>,
}

impl Default for Data {
    fn default() -> Self {
        Self {
            cluster: BTreeSet::new(),
            is_noted: true,
            has_run: false,
            ran_on: BTreeSet::new(),
            queues: BTreeMap::new(),
            logs: BTreeMap::new(),
        }
    }
}

/// A queue, as every table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub kind: Kind,
    /// Nodes with a replica; of a classic queue the one that it is on.
    pub replicas: BTreeSet<String>,
    /// How many replicas it is to have.
    pub wanted: usize,
}

/// Kinds of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Quorum,
    Classic,
    /// Whoever is left after a change elects among a majority of themselves.
    Stream,
}

impl Kind {
    /// Has it replicas on several nodes?
    pub fn is_replicated(self) -> bool {
        match self {
            Kind::Quorum | Kind::Stream => true,
            Kind::Classic => false,
        }
    }
}
