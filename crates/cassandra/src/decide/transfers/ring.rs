//! The ring, as far as a backup or a restore asks before it begins.

use crate::facts::{Facts, MemberFact};
use palladion_api::cluster::TurnStep;

/// Does it change who is in the ring? Whoever is restarted is down meanwhile, and waited for.
pub fn moves(step: TurnStep) -> bool {
    match step {
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Leave
        | TurnStep::Remove => true,
        TurnStep::Restart | TurnStep::Stop | TurnStep::Start | TurnStep::Readdress => false,
    }
}

/// The members of the ring.
pub fn full_members<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.members.values().filter(|member| member.recorded_host_id().is_some())
}
