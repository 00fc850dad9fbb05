//! What the others are asked for, and how waiting for their answers is told.

use super::ask::void_from;
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, MemberName};
use palladion_api::reasons::Reason;

/// What the others are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// All is well for a join.
    Join,
    /// All is well for a leave.
    Leave,
    /// All is well for a restart, but for these host IDs.
    Restart {
        /// Host IDs that the restart repairs, or that nobody waits for.
        except: Vec<&'a HostId>,
    },
    /// This host ID is dead and all else is well: it is replaced.
    Replace {
        /// Whose data is lost.
        host_id: &'a HostId,
    },
    /// This host ID is dead and all else is well: it is removed.
    Remove {
        /// Who is to be taken out of the ring.
        host_id: &'a HostId,
    },
    /// This host ID is out of the ring: it says so itself.
    HasLeft {
        /// Who has left.
        host_id: &'a HostId,
    },
    /// This host ID is out of the ring: another member has removed it.
    WasRemoved {
        /// Who was removed.
        host_id: &'a HostId,
        /// What the one that removed it has said of it.
        told: &'a str,
    },
    /// This host ID is out of the ring, although its server ended before it said so.
    Interrupted {
        /// Who was leaving.
        host_id: &'a HostId,
    },
}

impl Purpose<'_> {
    /// Who has not answered yet.
    pub(super) fn asked(&self, member: &MemberName, names: &str) -> String {
        match self {
            Purpose::Join => {
                format!("member {member} waits to join: {names} should tell how they see the ring")
            }
            Purpose::Leave => {
                format!("member {member} waits to leave: {names} should tell how they see the ring")
            }
            Purpose::Restart { .. } => format!(
                "member {member} waits for its restart: {names} should tell how they see the ring"
            ),
            Purpose::Replace { .. } => format!(
                "member {member} waits to be replaced: {names} should confirm that it is dead"
            ),
            Purpose::Remove { .. } => format!(
                "member {member} waits to be removed: {names} should confirm that it is dead"
            ),
            Purpose::HasLeft { .. } => {
                format!("member {member} has left; {names} should confirm it")
            }
            Purpose::WasRemoved { .. } => {
                format!("member {member} was removed; {names} should confirm it")
            }
            Purpose::Interrupted { .. } => format!(
                "the server of member {member} ended while it was leaving; {names} should tell whether it has left"
            ),
        }
    }

    /// What forbids it.
    pub(super) fn refused(&self, member: &MemberName, why: &str) -> String {
        match self {
            Purpose::Join => format!("member {member} waits to join: {why}"),
            Purpose::Leave => format!("member {member} waits to leave: {why}"),
            Purpose::Restart { .. } => format!("member {member} waits for its restart: {why}"),
            Purpose::Replace { .. } => format!("member {member} waits to be replaced: {why}"),
            Purpose::Remove { .. } | Purpose::WasRemoved { .. } => {
                format!("member {member} waits to be removed: {why}")
            }
            Purpose::HasLeft { .. } => format!("member {member} has left: {why}"),
            Purpose::Interrupted { .. } => {
                format!("the server of member {member} ended while it was leaving: {why}")
            }
        }
    }

    /// The reason of waiting where an answer forbids it.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Purpose::Join | Purpose::Leave => Reason::WaitingForRing,
            Purpose::Restart { .. } => Reason::RollingOut,
            Purpose::Replace { .. } => Reason::MemberReplacing,
            Purpose::Remove { .. } | Purpose::WasRemoved { .. } => Reason::MemberLeaving,
            Purpose::HasLeft { .. } | Purpose::Interrupted { .. } => Reason::WaitingForEvidence,
        }
    }

    /// From when on answers are void; `None` = they count for ever.
    pub(super) fn void_from(&self, turn: &Turn) -> Option<jiff::Timestamp> {
        match self {
            Purpose::Join
            | Purpose::Leave
            | Purpose::Restart { .. }
            | Purpose::Replace { .. }
            | Purpose::Remove { .. } => Some(void_from(turn)),
            Purpose::HasLeft { .. } | Purpose::WasRemoved { .. } | Purpose::Interrupted { .. } => {
                None
            }
        }
    }
}
