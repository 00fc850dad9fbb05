//! The record of a removal on the member that is removed. It is written before
//! another member is asked to remove it, on the member as it was seen, so that
//! the removal and whatever takes its reason away cannot both happen (safety
//! rule 7.4). From then on no server starts on that volume.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, marks};
use crate::decide::remove::overdue;
use crate::decide::turn::lock;
use crate::facts::leaver::is_interrupted;
use crate::facts::{Facts, MemberFact, REMOVAL, removal_id};
use crate::resources as kinds;
use crate::words::remove::{Doing, Waiting};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{OperationKind, OperationState, Removal};
use palladion_plan::{Flow, Step};
use serde_json::{Value, json};

/// ID of the job that a member has.
pub fn job(member: &MemberFact) -> Option<&String> {
    Some(&member.spec.as_ref()?.operation.as_ref()?.id)
}

/// Has it a job that has not come to its end?
pub fn is_busy(member: &MemberFact) -> bool {
    let told = member.status.operation.as_ref();
    let goes_on = |state| match state {
        OperationState::Running | OperationState::Unknown => true,
        OperationState::Succeeded | OperationState::Failed | OperationState::Interrupted => false,
    };
    job(member).is_some_and(|id| told.is_none_or(|o| o.id != *id || goes_on(o.state)))
}

/// Is this host ID still to be removed: is its data lost or given up, or will
/// the ring not take it back to leave?
pub fn has_reason(member: &MemberFact, host_id: &HostId) -> bool {
    evidence::lost(member).is_some_and(|(_, lost)| lost.host_id == *host_id)
        || is_interrupted(member)
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
    let before = member.removal().filter(|r| r.host_id == *host_id);
    // A new question, or a new turn, is the same removal. A clock may have been
    // ahead when it was recorded first (safety rule 7.7).
    let before = before.and_then(|r| r.since.as_ref()).map(|since| since.0);
    let since = before.map_or(facts.now(), |since| since.min(facts.now()));
    let removal = Removal { nonce, host_id: host_id.clone(), volume_id, since: Some(Time(since)) };
    let doing = Doing::Record { member: member.name.clone() };
    let step = as_seen(member, json!({ "removal": removal }), doing);
    step.map(|step| step.fenced(facts.fence(turn)))
}

/// Is the removal of this host ID on record, under whichever turn?
pub fn is_recorded(member: &MemberFact, host_id: &HostId) -> bool {
    member.removal().is_some_and(|r| r.host_id == *host_id)
}

/// A record of an earlier question, or of an earlier turn: under it another
/// member may have begun to remove the host ID.
pub fn is_of_before(turn: &Turn, member: &MemberFact, host_id: &HostId) -> bool {
    is_recorded(member, host_id) && !under(turn, member)
}

/// Has nobody begun it? No agent is at it, and no server sees the host ID leaving.
pub fn is_untouched(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, host_id: &HostId) -> bool {
    let removes = |m: &MemberFact| {
        let running = m.status.operation.as_ref().filter(|o| o.state == OperationState::Running);
        is_at(m, host_id) && is_busy(m) || running.is_some_and(|o| o.id.starts_with(REMOVAL))
    };
    !facts.members.values().any(removes) && evidence::is_untouched(facts, turn, member, host_id)
}

/// Has it a job to remove this host ID, over or not? Its server may go on with
/// what an agent has begun that was restarted since.
pub fn is_at(member: &MemberFact, host_id: &HostId) -> bool {
    let operation = member.spec.as_ref().and_then(|s| s.operation.as_ref());
    let removal = operation.filter(|o| o.kind == OperationKind::RemoveNode);
    removal.is_some_and(|o| o.target.as_ref() == Some(host_id))
}

/// Take the record back: it is proven that nobody has begun.
pub fn clear(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Step> {
    let doing = Doing::Clear { member: member.name.clone() };
    let step = as_seen(member, json!({ "removal": null }), doing);
    step.map(|step| step.fenced(facts.fence(turn)))
}

/// Nobody has the turn, and a removal is on record: whoever was asked may be
/// restarted, and its server goes on removing. Once no agent is at it any more
/// it gets the turn again, to find out and to bring it to its end (safety rule 7.4).
pub fn left_over(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let mut members = facts.members.values().filter(|m| !m.is_gone());
    let Some((member, removal)) = members.find_map(|m| Some((m, m.removal()?))) else {
        return Flow::Free;
    };
    if let Some(helper) = at_it(facts, &removal.nonce).filter(|helper| helper.is_normal()) {
        overdue::report(facts, member, helper, draft);
        let (helper, name) = (helper.name.clone(), member.name.clone());
        draft.wait_for(Waiting::Removing { helper, member: name }).about(member.subject());
        return Flow::Busy;
    }
    draft.steps.extend(take_job_back(facts, &removal.nonce));
    let marked = marks::of(member).map(|r| &r.address);
    let recorded = member.spec.as_ref().and_then(|s| s.address.as_ref());
    if let Some(address) = marked.or(recorded) {
        let mut turn = lock::new(facts, &member.name, &removal.volume_id, TurnStep::Remove, 1);
        let (host_id, address) = (removal.host_id.clone(), address.clone());
        turn.replaces = Some(Replaced { host_id, address });
        let doing = Doing::TakeUp { member: member.name.clone() };
        draft.steps.push(lock::take(facts, &turn, doing, None));
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
    let id = removal_id(nonce);
    facts.members.values().find(|m| job(m) == Some(&id) && is_busy(m))
}

fn as_seen(member: &MemberFact, spec: Value, doing: Doing) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    Some(Step::patch_as_seen(kinds::MEMBER, meta, json!({ "spec": spec }), doing))
}
