//! What proves that nothing of the ring is on a volume.

use super::answer::Answer;
use super::datacenters::{self, Elsewhere};
use super::marks;
use super::proof::Proof;
use super::quiet::{rest_is_quiet, ring_is_quiet};
use super::verdict::verdict;
use super::witness::{others, recorded_hosts};
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::{NotClear, Objection, Proven};
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{Liveness, MemberState, RingMember, ServerState, VolumeState};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;

/// Whose data a volume holds.
pub enum Who {
    /// The ring knows it under this host ID.
    Member(HostId),
    /// The ring has never had it as a member.
    Nobody(Proof),
    /// That cannot be told yet.
    NotClear(NotClear),
}

/// A joiner that became a member in its last second was never recorded; then
/// all others know its address. What they report anyway is enough: the volume is gone
/// with its machine whoever was on it, so that with the claim no row goes. Were their
/// reports too old, its host ID would be on no record, and forbid every join.
pub fn who_was_it(facts: &Facts<'_>, member: &MemberFact, node: &str) -> Who {
    if let Some(host_id) = member.recorded_host_id() {
        return Who::Member(host_id.clone());
    }
    if let Some(why) = not_known(member) {
        return Who::NotClear(NotClear::Ring { why });
    }
    let address = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let others = others(facts, &member.name);
    let knows = |other: &&MemberFact| {
        let seen = other.status.ring.as_ref()?.exceptions.iter();
        // Whoever gossips another datacenter was never this member.
        let is_ours =
            |e: &RingMember| e.datacenter.as_ref().is_none_or(|d| *d == facts.spec.datacenter.name);
        let mut seen = seen.filter(|e| Some(&e.address) == address && is_ours(e));
        let it = seen.find(|e| e.state == MemberState::Normal && e.liveness == Liveness::Down);
        it.map(|e| e.host_id.clone())
    };
    let known: Vec<Option<HostId>> = others.iter().map(knows).collect();
    if let Some(Some(host_id)) = known.first()
        && known.iter().all(|k| k.as_ref() == Some(host_id))
    {
        return Who::Member(host_id.clone());
    }
    if !facts.ring_exists() {
        return Who::NotClear(NotClear::NoRing);
    }
    if let Some(turn) = facts.turn().filter(|t| t.member != member.name) {
        return Who::NotClear(NotClear::OtherTurn { member: turn.member.clone() });
    }
    // A replacement that never came to its end leaves the ring as it was before.
    let quiet = match marks::of(member) {
        Some(record) => rest_is_quiet(facts, &member.name, &record.host_id, Elsewhere::AllNormal),
        None => ring_is_quiet(facts),
    };
    match quiet {
        Err(why) => Who::NotClear(NotClear::Ring { why }),
        Ok(()) => {
            let proven =
                Proven::NothingOnNode { member: member.name.clone(), node: node.to_string() };
            Who::Nobody(Proof::seen(facts, ProofKind::NeverPart, member, &proven))
        }
    }
}

/// The cheap look at a member without a host ID, which holds no ranges. One that was
/// killed right after it had joined never came to say so: the ring knows it, down and
/// normal, and it is no longer nobody's.
pub fn may_be_nobody(facts: &Facts<'_>, member: &MemberFact) -> Result<(), Objection> {
    match not_known(member) {
        Some(why) => Err(why),
        None => ring_is_quiet(facts),
    }
}

/// Do fresh views of others show nobody in its place, and no member that is on no
/// record (safety rule 6.6)?
pub(super) fn never_joined(
    facts: &Facts<'_>,
    member: &MemberFact,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
) -> Answer {
    if let Some(why) = not_known(member) {
        return Answer::Refused { why, read_at: facts.turn().map_or(facts.now(), |t| t.since.0) };
    }
    let well = verdict(facts, member, witnesses, nonce, &[], Elsewhere::AllNormal);
    let Answer::Proven(_) = well else {
        return well;
    };
    if let Some(stranger) = stranger(facts, member, witnesses, nonce) {
        return stranger;
    }
    let witnesses = Names::of(witnesses.iter().map(|w| &w.name));
    let proven = Proven::NeverJoined { nonce: nonce.clone(), witnesses };
    Answer::Proven(Proof::asked(facts, ProofKind::NeverJoined, member, None, &proven))
}

/// A member of the ring, by fresh views, that is on no record or has this member's
/// address: it may be this one, so that the data on its volume is the ring's.
pub(super) fn stranger(
    facts: &Facts<'_>,
    member: &MemberFact,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
) -> Option<Answer> {
    let recorded = recorded_hosts(facts);
    // Who is elsewhere in every answer is none of ours; with our address it may be one.
    let elsewhere = datacenters::hosts(facts);
    let own = member.recorded_address();
    witnesses.iter().find_map(|witness| {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *nonce)?;
        let mut seen = answer.members.as_ref()?.iter();
        let is_known = |id: &HostId| recorded.contains(id) || elsewhere.contains(id);
        let odd = seen.find(|m| !is_known(&m.host_id) || own == Some(&m.address))?;
        let (witness, member) = (witness.name.clone(), member.name.clone());
        let (address, host_id) = (odd.address.clone(), odd.host_id.clone());
        let why = match own == Some(&odd.address) {
            true => Objection::SameAddress { witness, address, host_id, member },
            false => Objection::Stranger { witness, address, host_id, member },
        };
        Some(Answer::Refused { why, read_at: answer.read_at.0 })
    })
}

/// A newer agent reports what this operator cannot read: that may be a member.
fn not_known(member: &MemberFact) -> Option<Objection> {
    let volume = member.status.volume.as_ref().map(|v| v.state);
    let server = member.status.server.as_ref().map(|s| s.state);
    let is_unknown = volume == Some(VolumeState::Unknown) || server == Some(ServerState::Unknown);
    is_unknown.then(|| Objection::StateNotKnown { member: member.name.clone() })
}
