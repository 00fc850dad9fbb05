//! Which server ID a volume gets. An ID names one volume for life: a volume that
//! has forgotten must not come back under its old vote.

use crate::facts::{Facts, MemberFact, Voter, claimed_id};
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
        let named = [
            spec.and_then(|s| s.server_id),
            m.claim.as_ref().and_then(claimed_id),
            m.status.server_id,
        ];
        named.into_iter().flatten().chain(m.lost_ids())
    });
    let turn = facts.turn().and_then(|t| t.server_id);
    let configured = facts.configuration().into_iter().flat_map(|c| c.servers);
    let given = of_members
        .chain([facts.status.highest_server_id, turn].into_iter().flatten())
        .chain(configured.map(|s| s.server_id))
        .max();
    // The first ones are those that people expect: one more than the ordinal.
    let first = ServerId::new(i64::from(member.ordinal) + 1);
    let id = given.map_or(first, |given| given.next().max(first));
    id.can_be_given().then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{EnsembleFixture, an_ensemble, server};
    use palladion_api::ids::MemberName;
    use serde_json::json;

    fn next_for(fixture: &EnsembleFixture, ordinal: usize) -> Option<i64> {
        let snapshot = fixture.snapshot();
        let facts = Facts::read(&snapshot).expect("all is known");
        let member = &facts.members[&MemberName::new(format!("demo-zk-{ordinal}"))];
        next(&facts, member).map(ServerId::number)
    }

    #[test]
    fn no_id_is_given_that_anybody_has_ever_named() {
        assert_eq!(next_for(&an_ensemble(3), 0), Some(4));
        let mut recorded = an_ensemble(3);
        recorded.status["highestServerID"] = json!(7);
        assert_eq!(next_for(&recorded, 0), Some(8));
        let configured = an_ensemble(3).views(&[0, 1, 2], |view| {
            view["servers"].as_array_mut().expect("a list").push(server(9, "Observer"));
        });
        assert_eq!(next_for(&configured, 0), Some(11));
        let on_a_volume = an_ensemble(3).status_of(1, |status| status["serverID"] = json!(20));
        assert_eq!(next_for(&on_a_volume, 0), Some(21));
    }

    #[test]
    fn where_all_have_been_given_there_is_none() {
        let mut used_up = an_ensemble(3);
        used_up.status["highestServerID"] = json!(253);
        assert_eq!(next_for(&used_up, 0), Some(254));
        used_up.status["highestServerID"] = json!(254);
        assert_eq!(next_for(&used_up, 0), None);
    }

    #[test]
    fn a_volume_keeps_its_id_and_another_one_gets_another() {
        let snapshot = an_ensemble(3).snapshot();
        let facts = Facts::read(&snapshot).expect("all is known");
        let member = &facts.members[&MemberName::new("demo-zk-1")];
        let id = |volume: &'static str| of(&facts, member, &volume.into()).map(ServerId::number);
        assert_eq!(id("v1"), Some(2));
        assert_eq!(id("another"), Some(4));
    }
}
