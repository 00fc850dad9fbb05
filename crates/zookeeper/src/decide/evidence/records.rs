//! What is on record, so that nobody needs to be asked: the start of an ensemble,
//! members that have left, places that nobody has, a deletion that a person wants.

use super::proof::Proof;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::labels;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;

/// The ensemble begins on this volume: every other was looked at before the turn was
/// given, and the record that names this one was written with the turn.
pub fn is_first(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    let record = facts.status.initialized.as_ref()?;
    let named = turn.step == ServiceStep::Initialize && record.volume_id == turn.volume_id;
    let is_open = record.served_at.is_none();
    (named && is_open).then(|| Proof::seen(facts, ProofKind::AllEmpty, member, &Proven::First))
}

/// A user has allowed the ensemble to go on without these volumes, and answers for it.
pub fn is_named(facts: &Facts<'_>, member: &MemberFact, volumes: Names) -> Proof {
    Proof::seen(facts, ProofKind::DeadAsNamed, member, &Proven::Named { volumes })
}

/// It has left for good, as its record says.
pub fn has_left(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let annotations = member.object.as_ref().map(|o| &o.meta.annotations);
    let said = annotations.and_then(|a| a.get(labels::GONE));
    let proven = Proven::HasLeft { said: said.cloned().unwrap_or_default() };
    member.is_gone().then(|| Proof::seen(facts, ProofKind::Left, member, &proven))
}

/// Nobody of the ensemble lives in the set from this ordinal on.
pub fn is_vacant(facts: &Facts<'_>, from: i32) -> Option<Proof> {
    let lives = |m: &MemberFact| {
        let has_pod = m.pod.as_ref().is_some_and(|p| !p.terminating);
        let has_data = m.claim.as_ref().is_some_and(|c| c.server_id.is_some());
        m.ordinal >= from && !m.is_gone() && (m.object.is_some() || has_pod || has_data)
    };
    if facts.members.values().any(lives) {
        return None;
    }
    let proven = Proven::Vacant { set: facts.set_name.clone(), ordinal: from };
    Some(Proof::of_object(facts, ProofKind::Vacant, &facts.set_name, &proven))
}

/// The cluster is being deleted, and by its policy this goes with it.
pub fn goes_with_the_cluster(facts: &Facts<'_>, name: &str) -> Option<Proof> {
    let owner = &facts.snapshot.owner.meta;
    let goes = owner.is_terminating() && facts.spec.deletion_policy == DeletionPolicy::Delete;
    let proven = Proven::ClusterDeleted { uid: owner.uid.clone() };
    goes.then(|| Proof::of_object(facts, ProofKind::OwnerDeleted, name, &proven))
}
