//! Which member of the ring loads what nobody loads.

use super::answers::{One, all};
use crate::decide::transfers::moves;
use crate::facts::Facts;
use palladion_api::cluster::{RestoredPlace, WholeRing};
use palladion_api::ids::MemberName;
use palladion_api::restore::{RestoreMember, RestoreShare};
use std::collections::BTreeSet;

/// Each member that is up and has nothing to do gets a share. Not while the ring is about to
/// change: whoever loads waits for that anyway. A member is ordered in the decision after this
/// one, when it is on record.
pub fn assign(facts: &Facts<'_>, whole: Option<&WholeRing>, shares: &mut [RestoreShare]) {
    if let Some(whole) = whole {
        return to_places(facts, whole, shares);
    }
    if facts.turn().is_some_and(|turn| moves(turn.step)) {
        return;
    }
    let at_work = shares.iter().filter(|share| !share.loaded);
    let busy: BTreeSet<MemberName> =
        at_work.filter_map(|share| Some(share.member.as_ref()?.name.clone())).collect();
    let is_free = |one: &One<'_>| one.0.is_live(&facts.nodes) && !busy.contains(&one.0.name);
    let mut free = all(facts).filter(is_free);
    for share in shares.iter_mut().filter(|share| !share.loaded && share.member.is_none()) {
        let Some((member, host, volume)) = free.next() else {
            return;
        };
        share.member = Some(RestoreMember {
            name: member.name.clone(),
            host_id: host.clone(),
            volume_id: volume.clone(),
        });
    }
}

/// Files of a member of the backup are for the member that has its tokens, and for no other one.
fn to_places(facts: &Facts<'_>, whole: &WholeRing, shares: &mut [RestoreShare]) {
    for share in shares.iter_mut().filter(|share| !share.loaded && share.member.is_none()) {
        let is_its = |place: &&RestoredPlace| place.source == share.source.host_id;
        let place = whole.places.iter().find(is_its);
        let one = place.and_then(|place| all(facts).find(|one| one.0.name == place.member));
        share.member = one.map(|(member, host, volume)| RestoreMember {
            name: member.name.clone(),
            host_id: host.clone(),
            volume_id: volume.clone(),
        });
    }
}
