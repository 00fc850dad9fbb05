//! Which server ID a volume gets. An ID names one volume for life: a volume that
//! has forgotten must not come back under its old vote.

use crate::facts::{Facts, MemberFact};
use palladion_api::ids::VolumeId;
use palladion_api::zookeeper::ServerId;

/// The ID for this volume of a member: the one that it has on record, or one above all
/// that were ever given. `None` where there is no such ID any more.
pub fn of(facts: &Facts<'_>, member: &MemberFact, volume: &VolumeId) -> Option<ServerId> {
    if member.volume_id() == Some(volume)
        && let Some(id) = member.spec.as_ref().and_then(|s| s.server_id)
    {
        return Some(id);
    }
    next(facts, member)
}

/// An ID above all that were ever given, as far as anybody knows.
pub fn next(facts: &Facts<'_>, member: &MemberFact) -> Option<ServerId> {
    let of_members = facts.members.values().flat_map(|m| {
        let spec = m.spec.as_ref();
        [
            spec.and_then(|s| s.server_id),
            spec.and_then(|s| s.replace.as_ref()?.lost.server_id),
            m.claim.as_ref().and_then(|c| c.server_id),
            m.status.server_id,
        ]
    });
    let turn = facts.turn().and_then(|t| t.server_id);
    let configured = facts.configuration().into_iter().flat_map(|c| c.servers);
    let given = of_members
        .chain([facts.status.highest_server_id, turn])
        .flatten()
        .chain(configured.map(|s| s.server_id))
        .max();
    // The first ones are those that people expect: one more than the ordinal.
    let first = ServerId::new(i64::from(member.ordinal) + 1);
    let id = given.map_or(first, |given| given.next().max(first));
    id.can_be_given().then_some(id)
}
