//! Old data that no record names ([`palladion_plan::members::old_data`]), as data of a node of a
//! cluster.

use crate::decide::draft::Draft;
use crate::decide::evidence::Agreed;
use crate::facts::{Facts, MemberFact};
use crate::words::join::Doing;
use palladion_api::ids::VolumeId;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::old_data;
pub(super) use palladion_plan::members::old_data::{is_to_be_noted, on_volume};

/// The volume of this member, if it holds such data and nobody has given it up.
pub fn off_record<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a VolumeId> {
    old_data::off_record(member, Some(&facts.node_of(member).to_string()))
}

/// Have its agent note that the node on it has left.
pub(super) fn leave(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    gone: &Agreed,
    draft: &mut Draft,
) {
    let doing = |volume: &VolumeId| {
        let (member, volume) = (member.name.clone(), volume.clone());
        Doing::LeaveOldData { member, volume }
    };
    draft.steps.extend(old_data::leave(facts, turn, member, gone.proof.stated(), doing));
}
