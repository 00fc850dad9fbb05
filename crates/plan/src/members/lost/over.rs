//! Whether the record that a replacement rests on is still the one that it was begun by.

use super::super::MemberFact;
use palladion_api::service::ServiceTurn;

/// Why a replacement has no work any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The record was taken back.
    TakenBack,
    /// The volume that came in the place of the lost one is lost, too.
    LostToo,
}

/// Is the record of a replacement another one than that by which it has the turn?
pub fn over(turn: &ServiceTurn, member: &MemberFact) -> Option<Over> {
    let replaced = &turn.replaces.as_ref()?.volume_id;
    match member.loss() {
        // At its end the record goes before the turn does; then it has another volume.
        None => (member.volume_id() == Some(replaced)).then_some(Over::TakenBack),
        Some(loss) => (loss.lost.volume_id != *replaced).then_some(Over::LostToo),
    }
}
