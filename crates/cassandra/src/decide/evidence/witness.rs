//! Who can be asked about the ring, and which host IDs are known at all.

use super::marks;
use crate::facts::{Facts, MemberFact};
use palladion_api::cluster::Initialization;
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::Liveness;
use std::collections::BTreeSet;

/// Who can be asked: a member on a machine that is gone says for a while yet
/// that it is normal, since nobody is there to say otherwise.
fn is_witness(member: &MemberFact) -> bool {
    member.is_normal() && marks::of(member).is_none()
}

/// Two full members in different racks, or all where there are fewer. The
/// choice is stable, so that later decisions ask the same ones.
pub fn witnesses<'a>(facts: &'a Facts<'_>, except: &MemberName) -> Vec<&'a MemberFact> {
    let mut normal = facts.members.values().filter(|m| is_witness(m) && m.name != *except);
    let Some(first) = normal.next() else {
        return Vec::new();
    };
    let rest: Vec<_> = normal.collect();
    let second = rest.iter().find(|m| m.rack != first.rack).or(rest.first());
    std::iter::once(first).chain(second.copied()).collect()
}

/// All full members but one.
pub fn others<'a>(facts: &'a Facts<'_>, except: &MemberName) -> Vec<&'a MemberFact> {
    facts.members.values().filter(|m| is_witness(m) && m.name != *except).collect()
}

/// Every host ID that any witness or record knows: the denominator that no
/// short list can shrink.
pub(super) fn known_hosts(facts: &Facts<'_>) -> BTreeSet<HostId> {
    // Of who is gone all others have said so, before it was recorded.
    let members = || facts.members.values().filter(|m| !m.is_gone());
    let recorded = members().filter_map(|m| m.recorded_host_id());
    let claimed = members().filter_map(|m| m.claim.as_ref()?.host_id.as_ref());
    // Until it is recorded with its member; later that one may be replaced or gone.
    let unrecorded = |f: &&Initialization| {
        let member = facts.members.get(&f.member);
        member.is_some_and(|m| !m.is_gone() && m.recorded_host_id().is_none())
    };
    let founding = facts.status.initialization.as_ref().filter(unrecorded);
    let founder = founding.and_then(|f| f.host_id.as_ref());
    let mut known: BTreeSet<HostId> = recorded.chain(claimed).chain(founder).cloned().collect();
    for answer in facts.members.values().filter_map(|m| m.status.evidence.as_ref()) {
        let current = facts.turn().is_some_and(|t| t.nonce == answer.nonce);
        if current {
            known.extend(answer.members.iter().flatten().map(|m| m.host_id.clone()));
        }
    }
    // Gossip may show a member before its host ID.
    known.remove(&HostId::default());
    known
}

/// How many members the ring has but this one, as far as anybody knows.
pub fn rest_of(facts: &Facts<'_>, host_id: &HostId) -> usize {
    let known = known_hosts(facts);
    known.iter().filter(|id| *id != host_id).count()
}

/// Who of the others sees it otherwise than down? Empty = all that report at
/// all see it down.
pub fn seen_up_by(facts: &Facts<'_>, name: &MemberName, host_id: &HostId) -> Vec<MemberName> {
    let others = others(facts, name);
    let sees_down = |other: &MemberFact| {
        let seen = other.status.ring.as_ref().map(|r| r.exceptions.as_slice());
        let mut seen = seen.unwrap_or_default().iter();
        seen.any(|e| e.host_id == *host_id && e.liveness == Liveness::Down)
    };
    let doubts = others.into_iter().filter(|o| !sees_down(o));
    doubts.map(|o| o.name.clone()).collect()
}
