//! What proves that a member may come back under another address: whoever is up
//! has its host ID as a member that is down, and nobody under the new address.
//! Where nobody is up, a person answers for that (safety rule 2.14).

use super::absence::Asked;
use super::answer::Answer;
use super::ask::too_old;
use super::proof::Proof;
use super::witness::others;
use crate::facts::{Facts, MemberFact, Process};
use crate::words::evidence::{Objection, Proven};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::labels;
use palladion_api::member::{Evidence, Liveness};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;

/// Do all that are up have this host ID as a member that is down, and nobody else
/// under this address? Whoever is up speaks for the ring: the volume is here, and no
/// server runs on it, so that nothing but a copy of it could be elsewhere.
pub(super) fn is_down_elsewhere(
    facts: &Facts<'_>,
    whom: &MemberFact,
    (host_id, address): (&HostId, &StaticAddress),
    asked: &Asked<'_>,
) -> Answer {
    let mut missing = Vec::new();
    for witness in asked.others {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *asked.nonce);
        let Some(answer) = answer else {
            missing.push(witness.name.clone());
            continue;
        };
        if let Some(why) = objection(witness, whom, answer, (host_id, address)) {
            return Answer::Refused { why, read_at: answer.read_at.0 };
        }
    }
    if let Some((why, read_at)) = too_old(facts) {
        return Answer::Refused { why, read_at };
    }
    if !missing.is_empty() {
        return Answer::Missing(missing);
    }
    let proven = Proven::Moved {
        nonce: asked.nonce.clone(),
        host_id: host_id.clone(),
        address: address.clone(),
        witnesses: Names::of(asked.others.iter().map(|w| &w.name)),
    };
    Answer::Proven(Proof::asked(facts, ProofKind::Down, whom, Some(host_id), &proven))
}

/// What in one answer forbids it.
fn objection(
    witness: &MemberFact,
    whom: &MemberFact,
    answer: &Evidence,
    (host_id, address): (&HostId, &StaticAddress),
) -> Option<Objection> {
    let name = witness.name.clone();
    let Some(members) = &answer.members else {
        return Some(Objection::Unread { witness: name });
    };
    let Some(seen) = members.iter().find(|m| m.host_id == *host_id) else {
        return Some(Objection::NotKnown { witness: name, host_id: host_id.clone() });
    };
    if seen.liveness != Liveness::Down {
        return Some(Objection::SeesItUp { witness: name, member: whom.name.clone() });
    }
    let other = members.iter().find(|m| m.address == *address && m.host_id != *host_id)?;
    let (address, host_id) = (address.clone(), other.host_id.clone());
    Some(Objection::AddressOfAnother { witness: name, address, host_id })
}

/// No server runs, as is known of every member, and a person has given up the old address by
/// name.
pub fn is_given_up(
    facts: &Facts<'_>,
    member: &MemberFact,
    before: &StaticAddress,
) -> Option<Proof> {
    let nobody = others(facts, &member.name).is_empty()
        && facts.joined().all(|m| match m.process() {
            Process::None => true,
            Process::MayRun | Process::Unknown => false,
        });
    let annotation = labels::GIVE_UP_ADDRESSES;
    let proven = Proven::AddressGivenUp { address: before.clone(), annotation };
    (nobody && facts.is_given_up(before))
        .then(|| Proof::seen(facts, ProofKind::Wanted, member, &proven))
}
