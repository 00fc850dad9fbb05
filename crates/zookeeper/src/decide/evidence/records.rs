//! What is on record, so that nobody needs to be asked: the start of an ensemble, what
//! a user has allowed, a start that was permitted before.

use super::proof::Proof;
use crate::facts::{Facts, MemberFact, Voter};
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::members::Grounds;
use palladion_plan::words::Names;

/// The ensemble begins on this volume.
pub fn is_first(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    Grounds::is_first(facts, turn, member).map(|grounds| Proof::on(&grounds))
}

/// A user has allowed the ensemble to go on without these volumes, and answers for it.
pub fn is_named(facts: &Facts<'_>, member: &MemberFact, volumes: Names) -> Proof {
    Proof::on(&Grounds::is_named(facts, member, volumes))
}

/// A start on this volume was permitted before, for a pod that is gone. The server goes
/// on with what the volume holds, under the same server ID: that takes nothing back
/// which it has acknowledged, and the others may need its vote to answer at all.
pub fn keeps_its_data(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    let volume = member.volume()?;
    let begun = volume.state == MemberVolumeState::Incomplete
        && volume.volume_id == turn.volume_id
        && member.is_on_its_volume()
        && turn.server_id.is_some()
        && member.server_id() == turn.server_id;
    begun.then(|| Proof::on(&Grounds::keeps_its_data(facts, member)))
}
