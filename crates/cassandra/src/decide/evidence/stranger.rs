//! What proves that nothing of the ring is on a volume.

use super::marks;
use super::proof::Proof;
use super::quiet::{rest_is_quiet, ring_is_quiet};
use super::witness::others;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::{NotClear, Objection, Proven};
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, MemberState, ServerState, VolumeState};
use palladion_plan::proof::ProofKind;

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
/// all others know its address.
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
        let mut seen = seen.filter(|e| Some(&e.address) == address);
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
        Some(record) => rest_is_quiet(facts, &member.name, &record.host_id),
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

/// A member without a host ID holds no ranges. One that was killed right after
/// it had joined never came to say so: the ring knows it, down and normal, and
/// it is no longer nobody's.
pub fn never_joined(facts: &Facts<'_>, member: &MemberFact) -> Result<Proof, Objection> {
    if let Some(why) = not_known(member) {
        return Err(why);
    }
    ring_is_quiet(facts)?;
    Ok(Proof::seen(facts, ProofKind::NeverPart, member, &Proven::NeverJoined))
}

/// A newer agent reports what this operator cannot read: that may be a member.
fn not_known(member: &MemberFact) -> Option<Objection> {
    let volume = member.status.volume.as_ref().map(|v| v.state);
    let server = member.status.server.as_ref().map(|s| s.state);
    let is_unknown = volume == Some(VolumeState::Unknown) || server == Some(ServerState::Unknown);
    is_unknown.then(|| Objection::StateNotKnown { member: member.name.clone() })
}
