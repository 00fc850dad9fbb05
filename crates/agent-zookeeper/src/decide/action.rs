//! The actions: all that the agent ever does to volume and server.

pub use palladion_agent_core::service::changes::Cause;
use palladion_api::ids::{Nonce, StaticAddress, VolumeId};
use palladion_api::member::{IntentState, PermitState};
use palladion_api::service_member::Peer;
use palladion_api::words::Message;
use palladion_api::zookeeper::{ServerId, Zxid};

/// Why the server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopWhy {
    /// Another volume, or another server, is recorded for this member.
    StaleTwin,
    /// The spec says `Stopped` or `Terminated`.
    SpecSaysSo,
    /// A new restart token.
    Restart,
    /// The permit that it was started with was withdrawn.
    PermitWithdrawn,
    /// It has left the ensemble.
    Left,
    /// A newer configuration does not contain it.
    Missing,
    /// Its volume is marked as lost: the member is replaced, or the others went on without it.
    MarkedAsLost,
    /// It has no quorum, and goes on alone by permit.
    Rescue,
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
    /// Note that this volume must never see a server again.
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
    /// Note that the member leaves; its server is stopped after that.
    BeginLeave {
        /// The intent's nonce.
        nonce: Nonce,
    },
    /// Note that the server is proven to be a participant.
    RecordMember,
    /// Note that the server serves as a member in this start.
    RecordServed,
    /// Note that the server, once a member, is missing in a newer configuration.
    RecordMissing {
        /// Version of that configuration.
        version: Zxid,
    },
    /// Start the server.
    Start(Start),
    /// Stop the server.
    Stop(StopWhy),
}

/// A start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Why it may.
    pub cause: Cause,
    /// Number of the server.
    pub server_id: ServerId,
    /// Its address.
    pub address: StaticAddress,
    /// With which configuration and data.
    pub entry: Entry,
}

/// With which configuration and data a server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// With what is on the volume.
    Plain,
    /// As the first of its ensemble: without data, which it may begin by the file
    /// `initialize`, and a configuration of itself alone.
    First,
    /// As an observer of these, without the right to begin.
    Observer {
        /// The members that it connects to.
        peers: Vec<Peer>,
        /// What is left of an earlier try is removed, or goes on.
        left_over: LeftOver,
    },
    /// With its data, as the only one that is left of its ensemble.
    Alone,
}

/// What is done with what an earlier try of a join has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOver {
    /// It goes on with that.
    Kept,
    /// It is removed.
    Removed,
}
