//! What is on record, so that nobody needs to be asked: the start of a cluster, and a
//! start that was permitted before.

use super::proof::Proof;
use crate::facts::{Facts, MemberFact};
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::members::Grounds;

/// The cluster begins on this volume.
pub fn is_first(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    Grounds::is_first(facts, turn, member).map(|grounds| Proof::on(&grounds))
}

/// Has the node of this member answered since it runs? What it said before says nothing
/// about replicas that it must catch up. Both times are by the clock of one agent.
pub fn is_of_this_start(member: &MemberFact) -> bool {
    let said = member.status.evidence.as_ref().map(|evidence| &evidence.read_at.0);
    let since = member.server().map(|server| &server.since.0);
    said.zip(since).is_some_and(|(said, since)| said > since)
}

/// Was a start on this volume permitted before, whose node has never run in the cluster? It may
/// have ended before it has written anything.
pub fn is_begun(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_open = member.volume().is_some_and(|volume| match volume.state {
        MemberVolumeState::Empty | MemberVolumeState::Incomplete => true,
        MemberVolumeState::Joined
        | MemberVolumeState::Left
        | MemberVolumeState::Lost
        | MemberVolumeState::NotMounted
        | MemberVolumeState::Foreign
        | MemberVolumeState::Unaccounted
        | MemberVolumeState::RolledBack
        | MemberVolumeState::Unknown => false,
    });
    is_open
        && member.is_on_its_volume()
        && member.identity.is_some()
        && member.status.node_name == Some(facts.node_of(member))
}

/// A start on this volume was permitted before, and by the word of the others its node is
/// in the cluster already; or nobody serves, since of two nodes the other one pauses
/// without it and answers nothing. It goes on with what the volume holds: begun anew it
/// would be refused by the others, which know it.
pub fn keeps_its_data(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    let volume = member.volume()?;
    let begun = is_begun(facts, member) && volume.volume_id == turn.volume_id;
    let goes_on = begun && (facts.is_named(member) || facts.views().next().is_none());
    goes_on.then(|| Proof::on(&Grounds::keeps_its_data(facts, member)))
}
