//! What is on record, so that nobody needs to be asked: the start of a ring,
//! members that have left, a stop or a deletion that a person wants.

use super::proof::Proof;
use super::witness::{others, rest_of};
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use palladion_api::cluster::{DeletionPolicy, RingRun, Turn, TurnStep};
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::{VolumeState, WantedRun, WhenToStop};
use palladion_api::{labels, names};
use palladion_plan::proof::ProofKind;

/// The ring is made on this volume: every other was looked at before the turn
/// was given, and the record that names this one was written with the turn.
pub fn is_first(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Proof> {
    let record = facts.status.initialization.as_ref()?;
    let named = turn.step == TurnStep::Initialize && record.volume_id == turn.volume_id;
    named.then(|| Proof::seen(facts, ProofKind::AllEmpty, member, &Proven::FirstMember))
}

/// No other volume of its datacenter holds anything: it joins a ring that exists elsewhere.
pub fn is_first_here(facts: &Facts<'_>, member: &MemberFact) -> Proof {
    Proof::seen(facts, ProofKind::AllEmpty, member, &Proven::FirstHere)
}

/// It was the last member of a datacenter that leaves its ring, and has left: there is nobody else
/// here who could say so. Its own word suffices: a server is DECOMMISSIONED, and its agent notes that
/// on the volume, only after it has announced its leave to all others for as long as gossip takes.
pub fn was_the_last(facts: &Facts<'_>, member: &MemberFact, host_id: &HostId) -> Option<Proof> {
    let is_alone = rest_of(facts, host_id) == 0 && others(facts, &member.name).is_empty();
    let says_so = member.agent_speaks()
        && member.volume().is_some_and(|v| v.state == VolumeState::Left)
        && member.status.host_id.as_ref() == Some(host_id);
    let proven = Proven::LeftAsTheLast { host_id: host_id.clone() };
    (facts.leaves() && is_alone && says_so)
        .then(|| Proof::asked(facts, ProofKind::Gone, member, Some(host_id), &proven))
}

/// It has left for good, as its record says.
pub fn has_left(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let annotations = member.object.as_ref().map(|o| &o.meta.annotations);
    let said = annotations.and_then(|a| a.get(labels::GONE));
    let proven = Proven::HasLeft { said: said.cloned().unwrap_or_default() };
    member.is_gone().then(|| Proof::seen(facts, ProofKind::Left, member, &proven))
}

/// Nobody of the ring lives in this set from this ordinal on.
pub fn is_vacant(facts: &Facts<'_>, set: &str, from: i32) -> Option<Proof> {
    let lives = |(name, member): (&MemberName, &MemberFact)| {
        let is_there = names::ordinal(set, name.as_str()).is_some_and(|ordinal| ordinal >= from);
        let has_pod = member.pod.as_ref().is_some_and(|p| !p.terminating);
        let has_place = member.object.is_some() || has_pod || member.is_bound_member();
        is_there && !member.is_gone() && has_place
    };
    if facts.members.iter().any(lives) {
        return None;
    }
    let proven = Proven::Vacant { set: set.to_string(), ordinal: from };
    Some(Proof::of_object(facts, ProofKind::Vacant, set, &proven))
}

/// A person wants the ring to have no pods.
pub fn stop_is_wanted(facts: &Facts<'_>, set: &str) -> Option<Proof> {
    match facts.spec.run {
        RingRun::Running => None,
        RingRun::Stopped => {
            Some(Proof::of_object(facts, ProofKind::Wanted, set, &Proven::StopRequested))
        }
    }
}

/// A person wants this member stopped, whoever else is down. That counts once.
pub fn stop_of_member_is_wanted(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let wanted = member.wanted()?;
    let stops = matches!(wanted.run, Some(WantedRun::Stopped | WantedRun::Terminated));
    let is_used_up = member.spec.as_ref().is_some_and(|s| s.stopped_now_at.is_some());
    let now = stops && wanted.when == WhenToStop::Now;
    (now && !is_used_up)
        .then(|| Proof::seen(facts, ProofKind::Wanted, member, &Proven::StopOfMemberRequested))
}

/// The cluster is being deleted, and by its policy this goes with it.
pub fn goes_with_the_cluster(facts: &Facts<'_>, name: &str) -> Option<Proof> {
    let owner = &facts.snapshot.owner.meta;
    let goes = owner.is_terminating() && facts.spec.deletion_policy == DeletionPolicy::Delete;
    let proven = Proven::ClusterDeleted { uid: owner.uid.clone() };
    goes.then(|| Proof::of_object(facts, ProofKind::OwnerDeleted, name, &proven))
}
