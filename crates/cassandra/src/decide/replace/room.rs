//! How the claim and the pod of a volume that is marked make room for another,
//! and how its member starts over.

use crate::decide::draft::Draft;
use crate::decide::evidence::Proof;
use crate::decide::evidence::marks::{has_old_claim, of};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::replace::{Doing, Happened, Waiting};
use palladion_api::labels;
use palladion_api::member::RunState;
use palladion_plan::{Event, Fence, Flow, Loss, ObjectKey, Precondition, Propagation, Step};
use serde_json::json;

/// Make room for another volume: first the claim, then the pod that keeps it.
pub fn make_room(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &Proof,
    fence: &Fence,
    draft: &mut Draft,
) -> Flow {
    let (Some(record), Some(claim)) = (of(member), &member.claim) else {
        return Flow::Free;
    };
    if !has_old_claim(member) {
        return Flow::Free;
    }
    let proof = proof.on_record(record);
    let name = || member.name.clone();
    if claim.terminating {
        draft.steps.extend(end_pod(facts, valid, member, &proof, Some(fence.clone())));
    } else {
        let meta = &claim.object.meta;
        let event = Happened::ClaimDeleted { claim: meta.name.clone(), member: name() };
        let doing = Doing::DeleteClaim { claim: meta.name.clone(), member: name() };
        draft.steps.push(
            Step::delete_as_seen(kinds::CLAIM, meta, Loss::Data, doing)
                .fenced(fence.clone())
                .proven(proof.stated())
                .announced(Event::normal(event)),
        );
    }
    let waiting = Waiting::ForVolume { member: name() };
    draft.wait_for(waiting).about(member.subject());
    Flow::Busy
}

/// End the pod that keeps a claim from going. On a machine that is gone no
/// kubelet ends it.
pub fn end_pod(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &Proof,
    fence: Option<Fence>,
) -> Option<Step> {
    let pod = member.pod.as_ref()?;
    let node = pod.node.as_deref()?;
    let loss = match facts.nodes.contains_key(node) || facts.nodes.is_empty() {
        true if pod.terminating => return None,
        true => Loss::Process,
        false => Loss::Remains,
    };
    Some(Step::Delete {
        key: ObjectKey::new(kinds::POD, &valid.namespace, member.name.as_str()),
        precondition: Precondition::as_seen(&pod.seen(&valid.namespace)),
        loss,
        propagation: Propagation::Background,
        fences: fence.into_iter().collect(),
        proof: Some(proof.stated()),
        doing: Doing::DeletePod { member: member.name.clone(), node: node.to_string() }.to_string(),
        event: None,
    })
}

/// Take the identity that is out of the ring off the record of the member and
/// of its claim: it joins as a new one.
pub fn start_anew(member: &MemberFact, fence: &Fence) -> Vec<Step> {
    let mut steps = Vec::new();
    let claim = member.claim.as_ref().filter(|c| c.host_id.is_some());
    if let Some(claim) = claim {
        steps.push(
            Step::patch_as_seen(
                kinds::CLAIM,
                &claim.object.meta,
                json!({ "metadata": { "annotations": {
                    labels::HOST_ID: null, labels::VOLUME_ID: null, labels::ADDRESS: null,
                }}}),
                Doing::ForgetClaim { claim: claim.object.meta.name.clone() },
            )
            .fenced(fence.clone()),
        );
    }
    let Some(meta) = member.object.as_ref().map(|o| &o.meta) else {
        return steps;
    };
    let mut spec = json!({
        "replace": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null,
        "removal": null, "terminated": null,
    });
    // What people wanted of the one that is out of the ring does not keep this one out.
    if member.is_stopped() {
        spec["run"] = json!(RunState::Running);
    }
    let mut patch = json!({ "spec": spec });
    // What a user has said of going on without it was of the one that is out of the ring.
    if meta.annotations.contains_key(labels::UPGRADE_WITHOUT) {
        patch["metadata"]["annotations"] = json!({ labels::UPGRADE_WITHOUT: null });
    }
    let doing = Doing::JoinAsNew { member: member.name.clone() };
    let event = Event::normal(Happened::JoinsAsNew { member: member.name.clone() });
    steps.push(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, doing)
            .fenced(fence.clone())
            .announced(event),
    );
    steps
}
