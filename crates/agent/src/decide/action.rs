//! The actions: all that the agent ever does to volume and server.

use crate::init::protocol::Phase;
use crate::render::Identity;
pub use crate::volume::changes::{Cause, Then};
use crate::volume::ledger::{Ban, End};
use palladion_api::ids::{HostId, Nonce, StaticAddress, VolumeId};
use palladion_api::member::{IntentState, PermitState};
use palladion_api::words::Message;

/// Why the server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopWhy {
    /// Another volume is recorded for this member.
    StaleTwin,
    /// The spec says `Stopped` or `Terminated`.
    SpecSaysSo,
    /// A new restart token.
    Restart,
    /// The permit that it was started with was withdrawn.
    PermitWithdrawn,
    /// The join failed inside the server.
    JoinFailed,
    /// It has left the ring.
    Decommissioned,
    /// It came up as somebody else than the member whose data it should have.
    OtherHostId,
    /// It was started sealed, and the roles are made.
    SealEnds,
    /// It was started sealed, and nobody has its keys.
    SealLost,
    /// It was started closed to clients, and its ring is restored.
    Opens,
    /// It was started closed to clients, and is to replay an archived commit log.
    Rewinds,
}

impl StopWhy {
    /// How a server ends that is stopped for this; `None` = as if by itself.
    fn end(self) -> Option<End> {
        match self {
            StopWhy::OtherHostId => Some(End::OtherHostId),
            StopWhy::JoinFailed => None,
            StopWhy::StaleTwin
            | StopWhy::SpecSaysSo
            | StopWhy::Restart
            | StopWhy::PermitWithdrawn
            | StopWhy::Decommissioned
            | StopWhy::SealEnds
            | StopWhy::SealLost
            | StopWhy::Opens
            | StopWhy::Rewinds => Some(End::Stopped),
        }
    }
}

/// How a server has ended, by the stop that was under way and by what was seen of it.
pub fn end_of<T>(stop: Option<StopWhy>, container: Phase, seen: Option<&T>) -> End {
    let ordered = stop.and_then(StopWhy::end);
    ordered.unwrap_or(match (container, seen) {
        (Phase::Ending, _) => End::Stopped,
        (Phase::Serving, Some(_)) => End::Died,
        (Phase::Serving, None) => End::WithContainer,
    })
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
    Ban(Ban),
    /// Note that the member has left the ring, by nobody's intent.
    RecordLeft,
    /// Note that the server came up as somebody else than the member whose data it should have.
    RecordOther {
        /// Under which host ID.
        host_id: HostId,
    },
    /// Note what became of a permit.
    SettlePermit {
        /// Its nonce.
        nonce: Nonce,
        /// What became of it.
        state: PermitState,
        /// Why, for people.
        message: Option<Message>,
    },
    /// Note what became of an intent, and where membership stands then.
    SettleIntent {
        /// Its nonce.
        nonce: Nonce,
        /// What became of it.
        state: IntentState,
        /// Why, for people.
        message: Option<Message>,
        /// Membership after it.
        then: Then,
    },
    /// The server is a full member: note host ID and address.
    RecordNormal {
        /// Host ID as the server has it.
        host_id: HostId,
        /// Address that it broadcasts.
        address: StaticAddress,
    },
    /// Ask whether a permit or an intent may be begun.
    AskBegin {
        /// Its nonce.
        of: Nonce,
    },
    /// Start the server.
    Start(Start),
    /// Drain and stop the server.
    Stop(StopWhy),
    /// Drain the server, and leave it running.
    Drain {
        /// The order's nonce.
        nonce: Nonce,
    },
    /// Leave the ring: note it, then call.
    Leave {
        /// The intent's nonce.
        nonce: Nonce,
    },
}

/// A start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Why it may.
    pub cause: Cause,
    /// Who the member is in this start.
    pub identity: Identity,
}
