//! Old data that no record names ([`palladion_plan::members::old_data`]), as data of a server of
//! an ensemble.

use crate::decide::draft::Draft;
use crate::decide::evidence::Agreed;
use crate::facts::{Configuration, Facts, MemberFact};
use crate::words::join::Doing;
use palladion_api::ids::VolumeId;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::old_data;
pub(super) use palladion_plan::members::old_data::{is_to_be_noted, on_volume};

/// The volume of this member, if it holds such data and nobody has given it up.
pub fn off_record(member: &MemberFact) -> Option<&VolumeId> {
    let own = member.status.server_id.map(|id| id.to_string());
    old_data::off_record(member, own.as_deref())
}

/// Has the ensemble no server of the ID that is on its volume, or another member's? While one
/// votes under that ID, its data may be needed.
pub fn is_unknown(facts: &Facts<'_>, member: &MemberFact, configuration: &Configuration) -> bool {
    let own = member.status.server_id;
    let is_anothers = |id| facts.member_of(id).is_some_and(|other| other.name != member.name);
    own.is_none_or(|id| configuration.server(id).is_none() || is_anothers(id))
}

/// Have its agent note that the server on it has left.
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
