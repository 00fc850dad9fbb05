//! How the claim and the pod of a lost volume make room for another volume.

use super::super::{Draft, MemberFact, ServiceFacts};
use super::marks;
use crate::draft::Flow;
use crate::kinds::{CLAIM, POD};
use crate::plan::{Event, Loss, Step};
use crate::proof::Proof;
use crate::words::lost::{Doing, Happened, Waiting};

/// Does the lost volume still have its claim?
pub fn is_needed(member: &MemberFact) -> bool {
    marks::has_old_claim(member)
}

/// First the claim goes, then the pod that keeps it.
pub fn make(
    facts: &ServiceFacts<'_>,
    member: &MemberFact,
    proof: &Proof,
    draft: &mut Draft,
) -> Flow {
    let Some(claim) = member.claim.as_ref().filter(|_| is_needed(member)) else {
        return Flow::Free;
    };
    let (name, meta) = (|| member.name.clone(), &claim.object.meta);
    if claim.terminating {
        draft.steps.extend(end_pod(facts, member, proof));
    } else {
        let doing = Doing::DeleteClaim { claim: meta.name.clone() };
        let event = Happened::ClaimDeleted { claim: meta.name.clone(), member: name() };
        draft.steps.push(
            Step::delete_as_seen(CLAIM, meta, Loss::Data, doing)
                .fenced(facts.fence())
                .proven(proof.clone())
                .announced(Event::normal(event)),
        );
    }
    draft.wait_for(Waiting::ForVolume { member: name() }).about(member.subject());
    Flow::Busy
}

/// On a machine that is gone no kubelet ends the pod.
pub(super) fn end_pod(
    facts: &ServiceFacts<'_>,
    member: &MemberFact,
    proof: &Proof,
) -> Option<Step> {
    let pod = member.pod.as_ref()?;
    let node = pod.node.as_deref()?;
    let loss = match facts.nodes.contains_key(node) || facts.nodes.is_empty() {
        true if pod.terminating => return None,
        true => Loss::Process,
        false => Loss::Remains,
    };
    let seen = pod.seen(&facts.snapshot.owner.meta.namespace);
    let doing = Doing::DeletePod { member: member.name.clone() };
    Some(Step::delete_as_seen(POD, &seen, loss, doing).fenced(facts.fence()).proven(proof.clone()))
}
