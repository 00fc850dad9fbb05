//! What the others are asked for, and until when their answers count.

use super::ask::void_from;
use crate::facts::MemberFact;
use crate::words::evidence::{Forbidden, Objection, Waiting};
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, MemberName, StaticAddress};
use palladion_plan::words::Names;

/// What the others are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// All is well for a join.
    Join,
    /// All is well, and this member was never part of the ring.
    NeverJoined,
    /// All is well for a leave, but for these host IDs.
    Leave {
        /// The leaver itself, if an earlier try has failed halfway: the others see it leaving.
        except: Vec<&'a HostId>,
    },
    /// All is well for a restart, but for these host IDs.
    Restart {
        /// Host IDs that the restart repairs, or that nobody waits for.
        except: Vec<&'a HostId>,
    },
    /// All is well for a stop, but for these host IDs.
    Stop {
        /// Its own, where it does not serve.
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
    /// This host ID is down, and nobody has this address: it comes back under it.
    Readdress {
        /// Who comes back.
        host_id: &'a HostId,
        /// Under which address.
        address: &'a StaticAddress,
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
    /// Does the turn go on where an answer forbids the step, so that the question is put
    /// again under the same turn?
    pub fn keeps_turn(&self, whom: &MemberFact) -> bool {
        match self {
            Purpose::Restart { .. } => !whom.is_normal(),
            Purpose::Remove { .. }
            | Purpose::HasLeft { .. }
            | Purpose::WasRemoved { .. }
            | Purpose::Interrupted { .. } => true,
            Purpose::Join
            | Purpose::NeverJoined
            | Purpose::Leave { .. }
            | Purpose::Stop { .. }
            | Purpose::Replace { .. }
            | Purpose::Readdress { .. } => false,
        }
    }

    /// What is said where nobody can be asked, of what the views of some suffice for.
    pub(super) fn nobody(&self, member: &MemberName) -> Option<Waiting> {
        let member = member.clone();
        match self {
            Purpose::Join => Some(Waiting::NobodyUp { member }),
            Purpose::NeverJoined => Some(Waiting::NobodyToAsk { member }),
            Purpose::Leave { .. }
            | Purpose::Restart { .. }
            | Purpose::Stop { .. }
            | Purpose::Replace { .. }
            | Purpose::Remove { .. }
            | Purpose::Readdress { .. }
            | Purpose::HasLeft { .. }
            | Purpose::WasRemoved { .. }
            | Purpose::Interrupted { .. } => None,
        }
    }

    /// Who has not answered yet.
    pub(super) fn asked(&self, member: &MemberName, from: Names) -> Waiting {
        let member = member.clone();
        match self {
            Purpose::Join => Waiting::Join { member, from },
            Purpose::NeverJoined => Waiting::NeverJoined { member, from },
            Purpose::Leave { .. } => Waiting::Leave { member, from },
            Purpose::Restart { .. } => Waiting::Restart { member, from },
            Purpose::Stop { .. } => Waiting::Stop { member, from },
            Purpose::Replace { .. } => Waiting::Replace { member, from },
            Purpose::Remove { .. } => Waiting::Remove { member, from },
            Purpose::Readdress { .. } => Waiting::Readdress { member, from },
            Purpose::HasLeft { .. } => Waiting::HasLeft { member, from },
            Purpose::WasRemoved { .. } => Waiting::WasRemoved { member, from },
            Purpose::Interrupted { .. } => Waiting::Interrupted { member, from },
        }
    }

    /// What forbids it.
    pub(super) fn refused(&self, member: &MemberName, why: &Objection) -> Forbidden {
        let (member, why) = (member.clone(), why.clone());
        match self {
            Purpose::Join => Forbidden::Join { member, why },
            Purpose::NeverJoined => Forbidden::Leave { member, why },
            Purpose::Leave { .. } => Forbidden::Leave { member, why },
            Purpose::Restart { .. } => Forbidden::Restart { member, why },
            Purpose::Stop { .. } => Forbidden::Stop { member, why },
            Purpose::Replace { .. } => Forbidden::Replace { member, why },
            Purpose::Remove { .. } => Forbidden::Remove { member, why },
            Purpose::Readdress { .. } => Forbidden::Readdress { member, why },
            Purpose::WasRemoved { told: "", .. } => Forbidden::Unconfirmed { member, why },
            Purpose::WasRemoved { told, .. } => {
                Forbidden::Removal { member, why, reported: told.to_string() }
            }
            Purpose::HasLeft { .. } => Forbidden::HasLeft { member, why },
            Purpose::Interrupted { .. } => Forbidden::Interrupted { member, why },
        }
    }

    /// From when on answers are void; `None` = they count for ever.
    pub(super) fn void_from(&self, turn: &Turn) -> Option<jiff::Timestamp> {
        // A purpose that is added later is on the safe side: its answers become void.
        let is_of_an_end = matches!(
            self,
            Purpose::HasLeft { .. } | Purpose::WasRemoved { .. } | Purpose::Interrupted { .. }
        );
        (!is_of_an_end).then(|| void_from(turn))
    }
}
