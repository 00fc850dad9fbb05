//! Removing from the ring what will never come back and is not wanted any
//! more: a leaver whose machine is gone, or that the ring will not take back.
//! Another member removes the host ID, with proof; the rest streams from the
//! copies that are left, and needs a repair.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, Purpose, Unproven, marks};
use crate::decide::leave::steps;
use crate::decide::maintenance::debts;
use crate::decide::objects::replicas;
use crate::decide::remove::{blocked, cleaning, ordered, overdue};
use crate::decide::replace::room;
use crate::decide::turn::lock;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::evidence::{Marked, Objection};
use crate::words::remove::{Cause, Doing, Ended, Happened, Waiting};
use crate::words::turn;
use palladion_api::cluster::Turn;
use palladion_api::ids::HostId;
use palladion_api::member::{Operation, OperationKind, OperationState, ReplacementCause};
use palladion_plan::{Event, Step};
use serde_json::json;

/// Go on with a Remove turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (Some(member), Some(removed)) = (facts.members.get(&turn.member), &turn.replaces) else {
        return steps::end(facts, turn, turn::Ended::MemberGone, None, draft);
    };
    if member.is_gone() {
        let event = Event::normal(Happened::Removed { member: member.name.clone() });
        return steps::end(facts, turn, Ended::Removed, Some(event), draft);
    }
    let host_id = &removed.host_id;
    let id = facts::removal_id(&turn.nonce);
    let helper = facts.members.values().find(|m| ordered::job(m) == Some(&id));
    match helper {
        None => before_order(facts, valid, turn, member, host_id, &id, draft),
        Some(helper) => after_order(facts, valid, turn, (member, helper), host_id, draft),
    }
}

fn before_order(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    host_id: &HostId,
    id: &str,
    draft: &mut Draft,
) {
    // Somebody may have removed it before.
    if let Some(proof) = evidence::is_out_already(facts, turn, member, host_id) {
        return is_out(facts, valid, turn, member, &proof, draft);
    }
    let is_over = !ordered::has_reason(member, host_id) || marks::is_withdrawn(member, draft);
    if !ordered::is_recorded(member, host_id) && is_over {
        return withdraw(facts, turn, member, Objection::NoReason, draft);
    }
    if let Some((cleaner, until)) = cleaning::by(facts, &member.name) {
        let (name, cleaner) = (member.name.clone(), cleaner.name.clone());
        if let Some(until) = until {
            draft.wake_at(until);
        }
        return wait_for(Waiting::CleansUp { member: name, cleaner }, member, draft);
    }
    let proven = evidence::prove(facts, turn, member, &Purpose::Remove { host_id }, draft);
    if proven.is_err() {
        blocked::report(facts, &valid.namespace, member, draft);
    }
    if ordered::is_of_before(turn, member, host_id)
        && ordered::is_untouched(facts, turn, member, host_id)
    {
        // Whether there is still a reason is looked at without it.
        draft.steps.extend(ordered::clear(facts, turn, member));
        return;
    }
    match proven {
        Ok(proof) if ordered::under(turn, member) => {
            order(facts, turn, member, host_id, (id, &proof), draft)
        }
        Ok(_) => draft.steps.extend(ordered::record(facts, turn, member, host_id)),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => ask_again(facts, turn, member, why, draft),
    }
}

fn order(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    host_id: &HostId,
    (id, proof): (&str, &Proof),
    draft: &mut Draft,
) {
    let mut others = evidence::others(facts, &member.name);
    // Who was asked before comes first: its server may still be at it. One that is closed to
    // clients comes last: its agent begins nothing.
    others.sort_by_key(|m| (!ordered::is_at(m, host_id), m.is_shut()));
    let mut free = others.iter().filter(|m| !ordered::is_busy(m));
    let Some((helper, object)) = free.find_map(|m| Some((m, m.object.as_ref()?))) else {
        return wait_for(Waiting::OthersBusy { member: turn.member.clone() }, member, draft);
    };
    let mut operation = Operation::of(id.to_string(), OperationKind::RemoveNode);
    operation.target = Some(host_id.clone());
    let operation = facts::operation_of(facts, helper, &operation);
    let (helper, member, host_id) = (helper.name.clone(), turn.member.clone(), host_id.clone());
    let event = Event::normal(Happened::Started {
        helper: helper.clone(),
        member: member.clone(),
        host_id: host_id.clone(),
    });
    let doing = Doing::Remove { helper, member, host_id, proof: proof.text().to_string() };
    draft.steps.push(
        Step::patch_as_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "operation": operation } }),
            doing,
        )
        .fenced(facts.fence(turn))
        .proven(proof.stated())
        .announced(event),
    );
}

fn after_order(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    (member, helper): (&MemberFact, &MemberFact),
    host_id: &HostId,
    draft: &mut Draft,
) {
    let outcome = helper.status.operation.as_ref();
    let outcome = outcome.filter(|o| Some(&o.id) == ordered::job(helper));
    match outcome.map(|o| o.state) {
        None | Some(OperationState::Running | OperationState::Unknown) if helper.is_normal() => {
            overdue::report(facts, member, helper, draft);
            let (name, removed) = (helper.name.clone(), member.name.clone());
            let waiting = match outcome.is_none() && helper.is_shut() {
                true => Waiting::HelperShut { helper: name, member: removed },
                false => Waiting::Removing { helper: name, member: removed },
            };
            return wait_for(waiting, member, draft);
        }
        // Whether it was done is asked of the ring.
        None | Some(_) => {}
    }
    let told = outcome.and_then(|o| o.message.as_deref()).unwrap_or_default();
    match evidence::prove(facts, turn, member, &Purpose::WasRemoved { host_id, told }, draft) {
        Ok(proof) => is_out(facts, valid, turn, member, &proof, draft),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => ask_again(facts, turn, member, why, draft),
    }
}

/// All say that it is out of the ring: it is gone for good, or joins as a new
/// member where the spec wants one.
fn is_out(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    proof: &Proof,
    draft: &mut Draft,
) {
    let cause = Cause::Removed { member: member.name.clone(), at: facts.now() };
    if !replicas::is_wanted(valid, member) {
        debts::repair_by_all(facts, &member.name, &cause, draft);
        draft.steps.push(steps::terminate(facts, valid, member, proof, turn));
        return;
    }
    let fence = facts.fence(turn);
    if room::make_room(facts, valid, member, proof, &fence, draft).is_busy() {
        return;
    }
    match (marks::of(member), member.recorded_host_id()) {
        (None, None) => return steps::end(facts, turn, Ended::JoinsAsNew, None, draft),
        // With that volume it would be the one that was removed: on another it is a new member.
        (None, Some(host_id)) => {
            let why = (ReplacementCause::User, Marked::Removed { host_id: host_id.clone() });
            draft.steps.extend(marks::mark(member, host_id, why, Some(fence)));
            return;
        }
        (Some(_), _) => {}
    }
    debts::repair_by_all(facts, &member.name, &cause, draft);
    draft.steps.extend(room::start_anew(member, &fence));
}

fn wait_for(waiting: Waiting, member: &MemberFact, draft: &mut Draft) {
    draft.wait_for(waiting).about(member.subject());
}

/// The answers forbid it; the question is put again. A member that is marked for
/// replacement gives the turn back: it may have come to life meanwhile. Not one
/// whose removal is on record: somebody may have begun it.
fn ask_again(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: Objection,
    draft: &mut Draft,
) {
    if marks::of(member).is_some() && member.removal().is_none() {
        return withdraw(facts, turn, member, why, draft);
    }
    draft.steps.extend(ordered::take_job_back(facts, &turn.nonce));
    let renewed = lock::again(facts, turn);
    let doing = Doing::AskAgain { member: turn.member.clone() };
    draft.steps.push(lock::renew(facts, &renewed, doing));
}

/// End the turn: the member is not removed.
fn withdraw(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: Objection,
    draft: &mut Draft,
) {
    let event = Happened::Withdrawn { member: member.name.clone(), why: why.clone() };
    let ended = turn::Ended::Objection { why };
    steps::end(facts, turn, ended, Some(Event::normal(event)), draft);
}
