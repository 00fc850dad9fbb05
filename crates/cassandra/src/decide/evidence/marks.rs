//! Volumes that are marked for replacement: the record of it, and what withdraws it.

use crate::decide::draft::Draft;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::{Doing, Happened, Marked, Unmarked};
use palladion_api::ids::{HostId, Uid};
use palladion_api::labels;
use palladion_api::member::{Replacement, ReplacementCause};
use palladion_plan::{Event, Fence, Step};
use serde_json::{Value, json};

/// The record, if this member's volume is marked for replacement.
pub fn of(member: &MemberFact) -> Option<&Replacement> {
    member.spec.as_ref()?.replace.as_ref()
}

/// Does the claim still stand for the volume that is marked?
pub fn has_old_claim(member: &MemberFact) -> bool {
    let old = of(member).and_then(|r| r.claim_uid.as_ref());
    let is = member.claim.as_ref().map(ClaimFact::uid);
    old.is_some() && old == is.as_ref()
}

/// Mark a member's volume for replacement, naming it.
pub fn mark(
    member: &MemberFact,
    host_id: &HostId,
    cause: (ReplacementCause, Marked),
    fence: Option<Fence>,
) -> Option<Step> {
    mark_by(member, host_id, cause, None, fence)
}

/// The same for a task: if that is deleted while it waits, the record is taken back.
pub fn mark_by_task(
    member: &MemberFact,
    host_id: &HostId,
    cause: (ReplacementCause, Marked),
    task: &Uid,
) -> Option<Step> {
    mark_by(member, host_id, cause, Some(task), None)
}

fn mark_by(
    member: &MemberFact,
    host_id: &HostId,
    (cause, why): (ReplacementCause, Marked),
    task: Option<&Uid>,
    fence: Option<Fence>,
) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let reported = member.status.volume.as_ref().map(|v| v.volume_id.clone());
    let record = Replacement {
        volume_id: spec.volume_id.clone().or(reported).unwrap_or_default(),
        host_id: host_id.clone(),
        address: member.ring_address()?.clone(),
        claim_uid: claim.map(ClaimFact::uid),
        cause,
        reason: why.to_string(),
        task_uid: task.cloned(),
    };
    let mut record = json!(record);
    // Null where it is of no task, so that of an earlier record nothing is left.
    record["taskUID"] = json!(task);
    let doing = Doing::Mark { member: member.name.clone() };
    let event = Event::normal(Happened::Marked { member: member.name.clone(), why });
    let step = patch(member, record, fence, doing);
    step.map(|step| step.announced(event))
}

/// Take the record back, and with it what a user has said of going on without this
/// member: it was about this loss, and not about a later one.
pub fn withdraw(member: &MemberFact, why: Unmarked, fence: Option<Fence>) -> Option<Step> {
    let doing = Doing::Unmark { member: member.name.clone(), why };
    patch(member, Value::Null, fence, doing)
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

fn patch(member: &MemberFact, record: Value, fence: Option<Fence>, doing: Doing) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let mut patch = json!({ "spec": { "replace": record } });
    if meta.labels.contains_key(labels::REPLACE) {
        patch["metadata"]["labels"] = json!({ labels::REPLACE: null });
    }
    // What a user has said of going on without this member was of another loss.
    if meta.annotations.contains_key(labels::UPGRADE_WITHOUT) {
        patch["metadata"]["annotations"] = json!({ labels::UPGRADE_WITHOUT: null });
    }
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(fence))
}

/// Host IDs whose absence does not forbid it: the dead one, and whoever else
/// is marked for replacement; nobody waits for them any more.
pub fn excused<'a>(facts: &'a Facts<'_>, host_id: &'a HostId) -> Vec<&'a HostId> {
    let marked = facts.members.values().filter_map(of);
    std::iter::once(host_id).chain(marked.map(|r| &r.host_id)).collect()
}
