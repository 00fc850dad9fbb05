//! No turn is given, and none goes on, but under the lock.

use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::decide::turn::region::{report_missing, waiting_for};
use crate::facts::{Facts, MemberFact};
use crate::words::region::{Doing, Waiting};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::KNOWS_BEGIN;
use palladion_plan::{Flow, LockFact, Step};
use serde_json::Value;

/// The turn that is under way. Busy where it does not go on: the lock is not held, or it is held
/// by another token than the turn was taken under, which is put on record first.
pub fn hold_turn(facts: &Facts<'_>, turn: &Turn, draft: &mut Draft) -> Flow {
    if !facts.is_locked() {
        return Flow::Free;
    }
    if report_missing(facts, draft).is_busy() {
        return Flow::Busy;
    }
    let (member, work) = (turn.member.clone(), turn.step.into());
    match (facts.held_token(), &turn.lock_token) {
        (Some(held), Some(of_turn)) if held == of_turn => return Flow::Free,
        (Some(_), _) => {
            draft.steps.push(lock::renew(facts, turn, Doing::GoOn { member, work }));
        }
        (None, None) => drop(draft.wait_for(waiting_for(facts))),
        (None, Some(_)) => {
            draft.wait_for(match &facts.snapshot.lock {
                LockFact::HeldBy(holder) => {
                    let (region, since) = (holder.region.clone(), holder.since.into());
                    let token = holder.token.clone();
                    Waiting::LostTo { member, work, region, since, token }
                }
                LockFact::Unknown { why } => Waiting::Unavailable { why: why.clone() },
                // A new leader has not asked yet: nothing says that it is lost.
                LockFact::Unasked | LockFact::Asking => Waiting::Asking,
                LockFact::NotHeld | LockFact::Held { .. } => Waiting::Lost { member, work },
            });
        }
    }
    Flow::Busy
}

/// What the deciders of a turn would do next, in a ring that regions share: a turn that would
/// be given is not, where the lock is not held, or where its agent would begin without asking
/// back. Everything else stays. Busy where something was taken out.
pub fn give_way(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    if !facts.is_locked() {
        return Flow::Free;
    }
    let Some(at) = draft.steps.iter().position(gives_turn) else {
        return Flow::Free;
    };
    if report_missing(facts, draft).is_busy() {
        draft.steps.remove(at);
        return Flow::Busy;
    }
    let waiting = match facts.held_token() {
        None => waiting_for(facts),
        Some(_) => match too_old(facts, &draft.steps[at]) {
            Some(waiting) => waiting,
            None => return Flow::Free,
        },
    };
    draft.steps.remove(at);
    draft.wait_for(waiting);
    // The most telling first.
    draft.waits.rotate_right(1);
    Flow::Busy
}

/// Does the step give the turn to somebody?
pub(super) fn gives_turn(step: &Step) -> bool {
    given(step).is_some()
}

/// The turn that a step gives.
pub(super) fn given(step: &Step) -> Option<&Value> {
    let Step::CompareAndSet { status, .. } = step else { return None };
    status.get("turn").filter(|turn| turn["member"].is_string())
}

/// Who would begin without asking back, and so also by a write that comes late.
fn too_old(facts: &Facts<'_>, step: &Step) -> Option<Waiting> {
    let turn: Turn = serde_json::from_value(given(step)?.clone()).ok()?;
    let is_begun_by_agent = match turn.step {
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Leave
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Readdress => true,
        TurnStep::Restart | TurnStep::Remove | TurnStep::Stop | TurnStep::Start => false,
    };
    let agent = facts.members.get(&turn.member).and_then(agent_of).filter(|_| is_begun_by_agent)?;
    let (member, agent) = (turn.member, agent.to_string());
    Some(Waiting::AgentTooOld { member, agent })
}

/// The version of an agent that does not ask back. One that has not reported is not known to be.
fn agent_of(member: &MemberFact) -> Option<&str> {
    let agent = member.status.agent.as_ref().filter(|agent| agent.protocol < KNOWS_BEGIN)?;
    Some(&agent.version)
}
