//! How the claim and the pod of a lost volume make room for another volume.

use super::super::{Draft, MemberFact, ServiceFacts};
use super::marks;
use crate::draft::Flow;
use crate::kinds::{CLAIM, POD};
use crate::plan::{Event, Loss, Step};
use crate::proof::Proof;
use crate::words::lost::{Doing, Happened, Waiting};
use jiff::SignedDuration;
use palladion_api::ids::VolumeId;
use palladion_api::service_member::MemberVolume;

/// As long as a claim takes to be deleted, a pod to come on another, and a new server to
/// find the others.
pub const PATIENCE: SignedDuration = SignedDuration::from_secs(300);

/// Does the lost volume still have its claim?
pub fn is_needed(member: &MemberFact) -> bool {
    marks::has_old_claim(member)
}

/// Has room been made for another volume, and is there none yet? Where no machine is left
/// for the pod there may never be one, and nobody else waits for that.
pub fn waits_for_pod(member: &MemberFact) -> bool {
    let lost = member.loss().map(|l| &l.lost.volume_id);
    let has_another = member.volume().is_some_and(|v| is_another(v, lost));
    !is_needed(member) && !has_another
}

/// Is it another volume than this? One that is not mounted, or not taken yet, has no ID.
pub fn is_another(volume: &MemberVolume, lost: Option<&VolumeId>) -> bool {
    Some(&volume.volume_id) != lost && !volume.volume_id.as_str().is_empty()
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
