//! Volumes that are given up: the record of it, what withdraws it, and how the
//! claim and the pod of such a volume make room for another.

use super::Draft;
use super::gone::Voters;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::member::{Liveness, Replacement, ReplacementCause};
use palladion_api::{labels, reasons::Reason};
use palladion_plan::{Fence, Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// The record, if this member's volume is given up.
pub fn of(member: &MemberFact) -> Option<&Replacement> {
    member.spec.as_ref()?.replace.as_ref()
}

/// Who may say that this member is dead.
pub fn voters(member: &MemberFact) -> Voters {
    match of(member).map(|r| r.cause) {
        Some(ReplacementCause::Task) => Voters::WhoeverIsLeft,
        Some(ReplacementCause::NodeGone | ReplacementCause::Person) | None => Voters::Majority,
    }
}

/// Does the claim still stand for the volume that is given up?
pub fn has_old_claim(member: &MemberFact) -> bool {
    let old = of(member).and_then(|r| r.claim_uid.as_deref());
    let is = member.claim.as_ref().map(|c| c.object.meta.uid.as_str());
    old.is_some() && old == is
}

/// Record that a member's volume is given up, naming it.
pub fn give_up(
    valid: &Valid,
    member: &MemberFact,
    host_id: &str,
    (cause, reason): (ReplacementCause, &str),
    fence: Option<Fence>,
) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let reported = member.status.volume.as_ref().map(|v| v.volume_id.clone());
    let record = Replacement {
        volume_id: spec.volume_id.clone().or(reported).unwrap_or_default(),
        host_id: host_id.to_string(),
        address: spec.address.clone()?,
        claim_uid: claim.map(|c| c.object.meta.uid.clone()),
        cause,
        reason: reason.to_string(),
    };
    let event = format!("The volume of member {} is given up: {reason}", member.name);
    patch(valid, member, json!(record), fence, "give up the volume of").map(|mut step| {
        if let Step::Patch { event: e, .. } = &mut step {
            *e = super::synced(event);
        }
        step
    })
}

/// Take the record back.
pub fn withdraw(
    valid: &Valid,
    member: &MemberFact,
    why: &str,
    fence: Option<Fence>,
) -> Option<Step> {
    let words = format!("do not replace any more ({why})");
    patch(valid, member, Value::Null, fence, &words)
}

/// Is the record being taken back by the plan in the making?
pub fn is_withdrawn(member: &MemberFact, draft: &Draft) -> bool {
    draft.steps.iter().any(|step| {
        let Step::Patch { key, patch, .. } = step else {
            return false;
        };
        key.resource == kinds::MEMBER
            && key.name == member.name
            && patch.pointer("/spec/replace") == Some(&Value::Null)
    })
}

/// Take the identity that is out of the ring off the record of the member and
/// of its claim: it joins as a new one.
pub fn start_anew(valid: &Valid, member: &MemberFact, fence: &Fence) -> Vec<Step> {
    let mut steps = Vec::new();
    let claim = member.claim.as_ref().filter(|c| c.host_id.is_some());
    if let Some(claim) = claim {
        steps.push(Step::Patch {
            key: ObjectKey::new(kinds::CLAIM, &valid.namespace, &claim.object.meta.name),
            patch: json!({ "metadata": { "annotations": {
                labels::HOST_ID: null, labels::VOLUME_ID: null, labels::ADDRESS: null,
            }}}),
            subresource: Subresource::None,
            precondition: Precondition::Uid(claim.object.meta.uid.clone()),
            fence: Some(fence.clone()),
            doing: format!(
                "record on claim {} that its member is out of the ring",
                claim.object.meta.name
            ),
            event: None,
        });
    }
    let Some(meta) = member.object.as_ref().map(|o| &o.meta) else {
        return steps;
    };
    steps.push(Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
        patch: json!({ "spec": {
            "replace": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null,
        }}),
        subresource: Subresource::None,
        precondition: Precondition::Uid(meta.uid.clone()),
        fence: Some(fence.clone()),
        doing: format!("let member {} join as a new one", member.name),
        event: super::synced(format!(
            "Member {} is out of the ring and joins as a new one",
            member.name
        )),
    });
    steps
}

fn patch(
    valid: &Valid,
    member: &MemberFact,
    record: Value,
    fence: Option<Fence>,
    what: &str,
) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let label = json!({ "labels": { labels::REPLACE: null } });
    let has_label = meta.labels.contains_key(labels::REPLACE);
    let mut patch = json!({ "spec": { "replace": record } });
    if has_label {
        patch["metadata"] = label;
    }
    Some(Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
        patch,
        subresource: Subresource::None,
        precondition: Precondition::Version {
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        },
        fence,
        doing: format!("{what} member {}", member.name),
        event: None,
    })
}

/// Who of the others sees it otherwise than down? Empty = all that report at
/// all see it down.
pub fn seen_up_by(facts: &Facts<'_>, name: &str, host_id: &str) -> Vec<String> {
    let others = super::evidence::others(facts, name);
    let sees_down = |other: &MemberFact| {
        let seen = other.status.ring.as_ref().map(|r| r.exceptions.as_slice());
        let mut seen = seen.unwrap_or_default().iter();
        seen.any(|e| e.host_id == host_id && e.liveness == Liveness::Down)
    };
    let doubts = others.into_iter().filter(|o| !sees_down(o));
    doubts.map(|o| o.name.clone()).collect()
}

/// Make room for another volume: first the claim, then the pod that keeps it.
/// True = something is being done or waited for.
pub fn make_room(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &str,
    fence: &Fence,
    draft: &mut Draft,
) -> bool {
    let (Some(record), Some(claim)) = (of(member), &member.claim) else {
        return false;
    };
    if !has_old_claim(member) {
        return false;
    }
    let proof = format!("{}; {proof}", record.reason);
    if claim.terminating {
        draft.steps.extend(end_pod(facts, valid, member, &proof, Some(fence.clone())));
    } else {
        draft.steps.push(Step::Delete {
            key: ObjectKey::new(kinds::CLAIM, &valid.namespace, &claim.object.meta.name),
            precondition: Precondition::Uid(claim.object.meta.uid.clone()),
            loss: Loss::Data { proof },
            propagation: Propagation::Background,
            fence: Some(fence.clone()),
            doing: format!(
                "delete claim {} of the volume that member {} has lost",
                claim.object.meta.name, member.name
            ),
            event: super::synced(format!(
                "Claim {} is deleted; member {} is replaced on another volume",
                claim.object.meta.name, member.name
            )),
        });
    }
    draft.wait(Reason::MemberReplacing, format!("member {} gets another volume", member.name));
    true
}

/// End the pod that keeps a claim from going. On a machine that is gone no
/// kubelet ends it.
pub fn end_pod(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &str,
    fence: Option<Fence>,
) -> Option<Step> {
    let pod = member.pod.as_ref()?;
    let node = pod.node.as_deref()?;
    let proof = proof.to_string();
    let loss = match facts.nodes.contains_key(node) || facts.nodes.is_empty() {
        true if pod.terminating => return None,
        true => Loss::Process { proof },
        false => Loss::Remains { proof },
    };
    Some(Step::Delete {
        key: ObjectKey::new(kinds::POD, &valid.namespace, &member.name),
        precondition: Precondition::Uid(pod.uid.clone()),
        loss,
        propagation: Propagation::Background,
        fence,
        doing: format!("end the pod of member {} on node {node}", member.name),
        event: None,
    })
}
