//! What proves that a member joined although nobody has noted it: its ledger
//! says that it was joining, and the ring has it as a full member, down.

use super::datacenters::Elsewhere;
use super::marks;
use super::proof::Proof;
use super::verdict::verdict;
use super::witness::witnesses;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::{Liveness, MemberState, RingMember, VolumeState};
use palladion_plan::proof::ProofKind;

/// The volume of a member whose join, as far as its agent knows, did not end.
pub fn of(member: &MemberFact) -> Option<VolumeId> {
    let is_open = member.spec.as_ref()?.host_id.is_none() && !member.is_gone();
    let volume = member.volume()?;
    (is_open && volume.state == VolumeState::Incomplete).then(|| volume.volume_id.clone())
}

/// Is this the member, as a full one that is down?
pub fn is_it(member: &MemberFact, seen: &RingMember) -> bool {
    let spec = member.spec.as_ref();
    let address = spec.and_then(|s| s.address.as_ref());
    // Whoever gossips another datacenter was never this member.
    let elsewhere = |d: &String| spec.is_none_or(|spec| spec.datacenter != *d);
    address == Some(&seen.address)
        && !seen.datacenter.as_ref().is_some_and(elsewhere)
        && seen.state == MemberState::Normal
        && seen.liveness == Liveness::Down
}

/// What proves that the data on this member's volume is that of a full member:
/// the witnesses' fresh views have its address as one, and all else is well.
pub fn is_full_member(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Proof> {
    of(member)?;
    let (witnesses, nonce) = (witnesses(facts, &member.name), &turn.nonce);
    let mut host_id = None;
    for witness in &witnesses {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *nonce)?;
        let seen = answer.members.as_ref()?.iter().find(|m| is_it(member, m))?;
        if *host_id.get_or_insert(&seen.host_id) != &seen.host_id {
            return None;
        }
    }
    let host_id = host_id?;
    let verdict =
        verdict(facts, member, &witnesses, nonce, &excused(member, host_id), Elsewhere::AllNormal);
    let ring = verdict.proven()?.text().to_string();
    let proven = Proven::JoinedUnnoticed { host_id: host_id.clone(), ring };
    Some(Proof::asked(facts, ProofKind::AllWell, member, Some(host_id), &proven))
}

/// Itself, and whom it has replaced: that one is out of the ring, and the
/// claim does not say so yet.
fn excused<'a>(member: &'a MemberFact, host_id: &'a HostId) -> Vec<&'a HostId> {
    let marked = marks::of(member).map(|r| &r.host_id);
    std::iter::once(host_id).chain(member.recorded_host_id()).chain(marked).collect()
}
