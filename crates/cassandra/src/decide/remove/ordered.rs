//! The record of a removal on the member that is removed. It is written before
//! another member is asked to remove it, on the member as it was seen, so that
//! the removal and whatever takes its reason away cannot both happen (safety
//! rule 7.4). From then on no server starts on that volume.

use crate::decide::draft::Draft;
use crate::decide::replace::lost;
use crate::facts::leaver::is_interrupted;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::remove::{Doing, Waiting};
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{OperationState, Removal};
use palladion_plan::{Flow, Step};
use serde_json::{Value, json};

/// ID of the job by which another member removes this one.
pub fn id(nonce: &Nonce) -> String {
    format!("remove-{nonce}")
}

/// ID of the job that a member has.
pub fn job(member: &MemberFact) -> Option<&String> {
    Some(&member.spec.as_ref()?.operation.as_ref()?.id)
}

/// Has it a job that has not come to its end?
pub fn is_busy(member: &MemberFact) -> bool {
    let told = member.status.operation.as_ref();
    job(member)
        .is_some_and(|id| told.is_none_or(|o| o.id != *id || o.state == OperationState::Running))
}

/// Is this host ID still to be removed: is its data lost or given up, or will
/// the ring not take it back to leave?
pub fn has_reason(member: &MemberFact, host_id: &HostId) -> bool {
    lost(member).is_some_and(|(_, lost)| lost.host_id == *host_id) || is_interrupted(member)
}

/// Is the removal on record under this turn?
pub fn under(turn: &Turn, member: &MemberFact) -> bool {
    member.removal().is_some_and(|r| r.nonce == turn.nonce)
}

/// Put it on record, on the member as it was seen.
pub fn record(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    host_id: &HostId,
) -> Option<Step> {
    let (nonce, volume_id) = (turn.nonce.clone(), turn.volume_id.clone());
    let removal = Removal { nonce, host_id: host_id.clone(), volume_id };
    let doing = Doing::Record { member: member.name.clone() };
    let step = as_seen(member, json!({ "removal": removal }), doing);
    step.map(|step| step.fenced(facts.fence(turn)))
}

/// Nobody has the turn: what is left of a removal goes, once nobody is at it any
/// more.
pub fn left_over(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let mut members = facts.members.values().filter(|m| !m.is_gone());
    let Some((member, removal)) = members.find_map(|m| Some((m, m.removal()?))) else {
        return Flow::Free;
    };
    match at_it(facts, &removal.nonce).filter(|helper| helper.is_normal()) {
        Some(helper) => {
            let (helper, name) = (helper.name.clone(), member.name.clone());
            draft.wait_for(Waiting::Removing { helper, member: name }).about(member.subject());
        }
        None => {
            draft.steps.extend(take_job_back(facts, &removal.nonce));
            let doing = Doing::Clear { member: member.name.clone() };
            let step = as_seen(member, json!({ "removal": null }), doing);
            draft.steps.extend(step.map(|s| s.fenced(facts.fence_as_seen())));
        }
    }
    Flow::Busy
}

/// Take a job back that is not over: begun later, it would rest on old answers.
pub fn take_job_back(facts: &Facts<'_>, nonce: &Nonce) -> Option<Step> {
    let helper = at_it(facts, nonce)?;
    let doing = Doing::TakeJobBack { helper: helper.name.clone() };
    let step = as_seen(helper, json!({ "operation": null }), doing);
    step.map(|step| step.fenced(facts.fence_as_seen()))
}

/// Whose job the removal is, as long as it is not over.
fn at_it<'a>(facts: &'a Facts<'_>, nonce: &Nonce) -> Option<&'a MemberFact> {
    let id = id(nonce);
    facts.members.values().find(|m| job(m) == Some(&id) && is_busy(m))
}

fn as_seen(member: &MemberFact, spec: Value, doing: Doing) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    Some(Step::patch_as_seen(kinds::MEMBER, meta, json!({ "spec": spec }), doing))
}
