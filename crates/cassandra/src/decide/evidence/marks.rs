//! Volumes that are given up: the record of it, and what withdraws it.

use crate::decide::draft::{Draft, synced};
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_api::member::{Replacement, ReplacementCause};
use palladion_plan::{Fence, Step};
use serde_json::{Value, json};

/// The record, if this member's volume is given up.
pub fn of(member: &MemberFact) -> Option<&Replacement> {
    member.spec.as_ref()?.replace.as_ref()
}

/// Does the claim still stand for the volume that is given up?
pub fn has_old_claim(member: &MemberFact) -> bool {
    let old = of(member).and_then(|r| r.claim_uid.as_ref());
    let is = member.claim.as_ref().map(ClaimFact::uid);
    old.is_some() && old == is.as_ref()
}

/// Record that a member's volume is given up, naming it.
pub fn give_up(
    member: &MemberFact,
    host_id: &HostId,
    (cause, reason): (ReplacementCause, &str),
    fence: Option<Fence>,
) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let reported = member.status.volume.as_ref().map(|v| v.volume_id.clone());
    let record = Replacement {
        volume_id: spec.volume_id.clone().or(reported).unwrap_or_default(),
        host_id: host_id.clone(),
        address: spec.address.clone()?,
        claim_uid: claim.map(ClaimFact::uid),
        cause,
        reason: reason.to_string(),
    };
    let event = format!("The volume of member {} is given up: {reason}", member.name);
    let step = patch(member, json!(record), fence, "give up the volume of");
    step.map(|step| step.announced(synced(event)))
}

/// Take the record back.
pub fn withdraw(member: &MemberFact, why: &str, fence: Option<Fence>) -> Option<Step> {
    let words = format!("do not replace any more ({why})");
    patch(member, Value::Null, fence, &words)
}

/// Is the record being taken back by the plan in the making?
pub fn is_withdrawn(member: &MemberFact, draft: &Draft) -> bool {
    draft.steps.iter().any(|step| {
        let Step::Patch { key, patch, .. } = step else {
            return false;
        };
        key.resource == kinds::MEMBER
            && key.name == member.name.as_str()
            && patch.pointer("/spec/replace") == Some(&Value::Null)
    })
}

fn patch(member: &MemberFact, record: Value, fence: Option<Fence>, what: &str) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let label = json!({ "labels": { labels::REPLACE: null } });
    let has_label = meta.labels.contains_key(labels::REPLACE);
    let mut patch = json!({ "spec": { "replace": record } });
    if has_label {
        patch["metadata"] = label;
    }
    Some(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, format!("{what} member {}", member.name))
            .fenced(fence),
    )
}

/// Host IDs whose absence does not forbid it: the dead one, and whoever else
/// is given up; nobody waits for them any more.
pub fn excused<'a>(facts: &'a Facts<'_>, host_id: &'a HostId) -> Vec<&'a HostId> {
    let given_up = facts.members.values().filter_map(of);
    std::iter::once(host_id).chain(given_up.map(|r| &r.host_id)).collect()
}
