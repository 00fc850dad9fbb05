//! The actions: all that the agent ever does to volume and node.

pub use palladion_agent_core::service::changes::Cause;
use palladion_api::ids::{Nonce, StaticAddress, VolumeId};
use palladion_api::member::{IntentState, PermitState};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Message;
use serde::{Deserialize, Serialize};

/// Why the node is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopWhy {
    /// Another volume, or another node, is recorded for this member.
    StaleTwin,
    /// The spec says `Stopped` or `Terminated`.
    SpecSaysSo,
    /// A new restart token.
    Restart,
    /// The permit that it was started with was withdrawn.
    PermitWithdrawn,
    /// It has left the cluster.
    Left,
    /// Its volume is marked as lost: the member is replaced.
    MarkedAsLost,
    /// It has joined, and starts again open for clients.
    Opening,
}

/// The next action. Each can be repeated after a crash without harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing to do.
    Nothing,
    /// Mark the volume as ours.
    TakeVolume {
        /// The volume that was lost here, if one was.
        successor_of: Option<VolumeId>,
    },
    /// Note that this volume must never see a node again.
    Terminate,
    /// Note what became of a permit.
    SettlePermit {
        /// Its nonce.
        nonce: Nonce,
        /// What became of it.
        state: PermitState,
        /// Why, for people.
        message: Option<Message>,
    },
    /// Note what became of an intent.
    SettleIntent {
        /// Its nonce.
        nonce: Nonce,
        /// What became of it.
        state: IntentState,
        /// Why, for people.
        message: Option<Message>,
    },
    /// Note that the member leaves; its node is stopped after that.
    BeginLeave {
        /// The intent's nonce.
        nonce: Nonce,
    },
    /// Note that the application is stopped, before it is.
    BeginStopApp {
        /// The intent's nonce.
        nonce: Nonce,
    },
    /// Note that the node is in its cluster, as its own files say.
    RecordEntered,
    /// Note that the node serves as a member for the first time.
    RecordMember,
    /// Note that the node serves as a member in this start.
    RecordServed,
    /// Start the node.
    Start(Start),
    /// Stop the node.
    Stop(StopWhy),
    /// Have something done with the node that runs, beside the loop.
    Work(Work),
}

/// What is done with a node that runs. Each looks first what is so already, and may be
/// done twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Create virtual host and users of a new cluster, import its definitions.
    SetUp,
    /// Reach one of these nodes of the cluster. Then it is noted that the node asks to be taken
    /// in, and it does.
    Meet {
        /// Nodes of the cluster that run.
        nodes: Vec<NodeName>,
    },
    /// Join the cluster through the first of these that answers.
    Join {
        /// Nodes of the cluster that run.
        nodes: Vec<NodeName>,
    },
    /// Open it for clients as it runs: of two nodes the other would pause while it starts again.
    Open,
    /// Drain it, and stop its application.
    StopApp,
    /// Start its application again, and end the drain.
    StartApp,
    /// Create the agent's own user, or set its password.
    MakeUser,
    /// Create the virtual host of the cluster, and its user with rights in it, where they are
    /// not there.
    MakeVhost,
}

/// A start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Why it may.
    pub cause: Cause,
    /// Name of the node.
    pub node: NodeName,
    /// Its address.
    pub address: StaticAddress,
    /// With which data.
    pub entry: Entry,
}

/// With which data a node starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// With what is on the volume.
    Plain,
    /// As the first of its cluster: without data.
    First,
    /// To join a cluster.
    Joiner {
        /// Nodes of it that run.
        nodes: Vec<NodeName>,
        /// Feature flags that it has.
        flags: Vec<String>,
        /// What is on the volume of an earlier try.
        left_over: LeftOver,
    },
}

/// What is done with what an earlier try of a join has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOver {
    /// It goes on with that: the others may name it already, and may need it to come to an end
    /// with what was begun together.
    Kept,
    /// It is removed.
    Removed,
}

/// Whether clients get in.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Doors {
    /// They do.
    Open,
    /// They do not: it is no member yet.
    Closed,
}

impl Entry {
    /// Does a joiner go on with what the volume holds? Whoever started it may have asked for it
    /// to be taken in.
    pub fn is_kept(&self) -> bool {
        match self {
            Entry::Joiner { left_over: LeftOver::Kept, .. } => true,
            Entry::Plain | Entry::First | Entry::Joiner { left_over: LeftOver::Removed, .. } => {
                false
            }
        }
    }

    /// Whether clients get into a node that starts so.
    pub fn doors(&self) -> Doors {
        match self {
            Entry::Plain => Doors::Open,
            Entry::First | Entry::Joiner { .. } => Doors::Closed,
        }
    }
}
