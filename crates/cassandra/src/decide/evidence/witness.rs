//! Who can be asked about the ring, and which host IDs are known at all.

use super::ask::nonce_of_gone;
use super::{datacenters, marks};
use crate::facts::{ClaimFact, Facts, MemberFact};
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

/// Every host ID that is on record: with a member, on a claim, of the first member, or of whom
/// another is to take the place, whose own record goes with the first turn for that.
pub(super) fn recorded_hosts(facts: &Facts<'_>) -> BTreeSet<HostId> {
    // Of who is gone all others have said so, before it was recorded.
    let members = || facts.members.values().filter(|m| !m.is_gone());
    let recorded = members().filter_map(|m| m.recorded_host_id());
    let claimed = members().filter_map(|m| m.claim.as_ref()?.host_id.as_ref());
    let unrecorded =
        |f: &&Initialization| facts.members.get(&f.member).is_some_and(|m| is_unrecorded(m, f));
    let founding = facts.status.initialization.as_ref().filter(unrecorded);
    let founder = founding.and_then(|f| f.host_id.as_ref());
    let marked = members().filter_map(marks::of).map(|record| &record.host_id);
    recorded.chain(claimed).chain(founder).chain(marked).cloned().collect()
}

/// Every host ID of our datacenter that any witness or record knows: the denominator
/// that no short list can shrink. Who is elsewhere counts for nothing of ours.
pub(super) fn known_hosts(facts: &Facts<'_>) -> BTreeSet<HostId> {
    let mut known = recorded_hosts(facts);
    let questions = facts.turn().map(|turn| [turn.nonce.clone(), nonce_of_gone(turn)]);
    for answer in facts.members.values().filter_map(|m| m.status.evidence.as_ref()) {
        let is_current = questions.as_ref().is_some_and(|asked| asked.contains(&answer.nonce));
        if is_current {
            known.extend(answer.members.iter().flatten().map(|m| m.host_id.clone()));
        }
    }
    // Gossip may show a member before its host ID.
    known.remove(&HostId::default());
    let elsewhere = datacenters::hosts(facts);
    known.retain(|host_id| !elsewhere.contains(host_id));
    known
}

/// Is it the member that initialized the ring, whose host ID is not recorded with
/// it yet? What is kept of one that has left, its Service or its claim, is nobody,
/// and who joins in its place has another volume.
fn is_unrecorded(member: &MemberFact, first: &Initialization) -> bool {
    let left = member.claim.as_ref().and_then(ClaimFact::left_host_id);
    let other_volume = member.volume().is_some_and(|v| v.volume_id != first.volume_id);
    let stands = member.object.is_some() || member.pod.is_some() || member.claim.is_some();
    stands
        && !member.is_gone()
        && member.recorded_host_id().is_none()
        && left != first.host_id
        && !other_volume
}

/// How many members our datacenter has but this one, as far as anybody knows.
pub fn rest_of(facts: &Facts<'_>, host_id: &HostId) -> usize {
    let known = known_hosts(facts);
    known.iter().filter(|id| *id != host_id).count()
}

/// So many of these are in the rest of the ring: known, and not this one.
pub fn of_the_rest<'a>(
    facts: &Facts<'_>,
    host_id: &HostId,
    of: impl IntoIterator<Item = &'a HostId>,
) -> usize {
    let known = known_hosts(facts);
    let of: BTreeSet<&HostId> = of.into_iter().collect();
    of.into_iter().filter(|id| *id != host_id && known.contains(*id)).count()
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
