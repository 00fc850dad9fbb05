//! Turns whose operations fail one after the other: how often is counted, another member is ordered
//! to carry the next one out where it can, it is reported, and the turn ends where nothing is left
//! half done, so that others go on.

use super::{lock, order, postponed};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::words::queues::Queues;
use crate::words::turn::{Ended, InVain, Problem, Waiting};
use crate::words::{join, leave, replace};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::OperationState;
use palladion_api::rabbitmq::PostponedTurn;
use palladion_api::service::{FailingOperation, ServiceStep, ServiceTurn};
use palladion_api::service_member::{MemberOperationKind, MemberOperationStatus};
use palladion_plan::members::turn as shared;
use palladion_plan::{Flow, Trouble};

/// An operation fails while a node is busy, or its agent starts again, and is tried once more. What
/// has failed so often in one turn may do so for ever.
const FAILURES: u32 = 5;
/// Of what an agent says of a failure so much is kept. A sentence around it fits into a condition.
const LONGEST: usize = 500;

/// The turn after an operation: with what it has failed at, or without what has failed before.
pub fn after(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    executor: &MemberFact,
    answer: &MemberOperationStatus,
) -> ServiceTurn {
    let left = order::left(answer);
    let kind = order::kind(executor);
    // A queue that refuses a replica keeps fewer than it should, and that is announced.
    let is_in_part = !left.is_empty() && kind == Some(MemberOperationKind::MoveReplicas);
    let (executor, order) = (executor.name.clone(), order::what(executor));
    let why = match answer.state {
        OperationState::Succeeded if !is_in_part => {
            return ServiceTurn { failing: None, ..turn.clone() };
        }
        OperationState::Interrupted => InVain::Cut { executor: executor.clone(), order },
        OperationState::Succeeded
        | OperationState::Failed
        | OperationState::Running
        | OperationState::Unknown => {
            let said = answer.message.clone().filter(|_| !is_in_part);
            let why = said.unwrap_or_else(|| Queues::from(&left).to_string());
            InVain::Order { executor: executor.clone(), order, why: cut(&why) }
        }
    };
    let times = turn.failing.as_ref().map_or(0, |failing| failing.times).saturating_add(1);
    noted(
        facts,
        turn,
        FailingOperation { executor, times, since: now(facts), why: why.to_string() },
    )
}

/// The turn with this on record, since the first of a row.
pub fn noted(facts: &Facts<'_>, turn: &ServiceTurn, failing: FailingOperation) -> ServiceTurn {
    let since = turn.failing.as_ref().map_or(now(facts), |before| before.since.clone());
    ServiceTurn { failing: Some(FailingOperation { since, ..failing }), ..turn.clone() }
}

fn now(facts: &Facts<'_>) -> Time {
    Time(facts.now())
}

fn cut(why: &str) -> String {
    why.chars().take(LONGEST).collect()
}

/// Has it failed too often? What has failed so in an earlier turn is tried once.
pub fn is_so(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let lately = postponed::lately(facts, &turn.member);
    let most = if lately.is_some_and(|l| l.failure.is_some()) { 1 } else { FAILURES };
    turn.failing.as_ref().is_some_and(|failing| failing.times >= most)
}

/// Say of a turn that goes on all the same what it fails at.
pub fn report(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let has_failed = |failing: &FailingOperation| failing.times >= FAILURES;
    let goes_on = !may_end(facts, turn) && !is_own_move(turn);
    let Some(failing) = turn.failing.clone().filter(|f| has_failed(f) && goes_on) else {
        return;
    };
    let FailingOperation { executor, times, why, .. } = failing;
    let (member, work) = (turn.member.clone(), turn.step.into());
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    draft.report(Problem::OperationFails { member, work, times, why, executor, namespace });
}

/// End this turn, where its operations fail too often and nothing is left half done by that.
pub fn gives_way(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) -> Flow {
    if !is_so(facts, turn) || !may_end(facts, turn) {
        return Flow::Free;
    }
    postpone(facts, turn, draft);
    Flow::Busy
}

/// End it with what it has failed at on record.
pub fn postpone(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let failing = turn.failing.clone();
    let (executor, failure) = failing.map(|f| (f.executor, f.why)).unzip();
    let record = PostponedTurn { executor, failure, ..postponed::of(facts, turn) };
    lock::postpone_as(facts, turn, record, Ended::OperationFails, draft);
}

/// May others have the turn now? A leaver that is out by its record is forgotten first, as with its
/// member nobody would account for it; a move off a leaver that serves is judged by what is still
/// on it; and one that joins has a permit by which it would have the turn again at once.
fn may_end(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let Some(member) = facts.members.get(&turn.member) else { return false };
    match turn.step {
        ServiceStep::Leave => !member.is_gone() && !is_own_move(turn),
        ServiceStep::Join => !shared::has_open_permit(member) && !evidence::is_begun(facts, member),
        ServiceStep::Replace => !shared::has_open_permit(member),
        ServiceStep::Initialize
        | ServiceStep::Restart
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}

/// Does a leaver move what is on its own node?
fn is_own_move(turn: &ServiceTurn) -> bool {
    let failing = turn.failing.as_ref().filter(|_| turn.step == ServiceStep::Leave);
    failing.is_some_and(|failing| failing.executor == turn.member)
}

/// Until when a member waits whose operations have failed in its turn.
pub fn until(facts: &Facts<'_>, member: &MemberFact) -> Option<Timestamp> {
    of(facts, member)?;
    postponed::until(facts, &member.name)
}

/// Busy with nothing, while it waits.
pub fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some((record, again)) = of(facts, member).zip(until(facts, member)) else {
        return Flow::Free;
    };
    let (name, why) = (member.name.clone(), record.failure.clone().unwrap_or_default());
    let waiting = Waiting::Postponed { member: name, why };
    draft.wait_for(waiting).about(member.subject()).until(again);
    Flow::Busy
}

/// What needs a person of a member whose turn has ended for that, also while it is tried once more.
pub fn trouble(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let record = of(facts, member)?;
    let (name, why) = (member.name.clone(), record.failure.clone()?);
    let (executor, namespace) = (record.executor.clone()?, &facts.snapshot.owner.meta.namespace);
    let namespace = namespace.clone();
    Some(match postponed::is_surplus(facts, member) {
        true => Trouble::of(leave::Fails::Operation { member: name, why, executor, namespace }),
        false if member.is_marked() => {
            Trouble::of(replace::Fails::Operation { member: name, why, executor, namespace })
        }
        false => Trouble::of(join::Fails::Operation { member: name, why, executor, namespace }),
    })
}

/// The record of its turn that has ended for that, as long as it says something of what is still
/// to be done.
fn of<'a>(facts: &'a Facts<'_>, member: &MemberFact) -> Option<&'a PostponedTurn> {
    let is_whole = member.has_served()
        && member.loss().is_none()
        && super::yet_to_grow::nonce_of(member).is_none();
    let record = match postponed::is_surplus(facts, member) {
        true => postponed::on_record(facts, &member.name).filter(|_| !member.is_gone()),
        false => postponed::lately(facts, &member.name).filter(|_| !is_whole),
    }?;
    record.executor.is_some().then_some(record)
}
