//! Pending maintenance is carried out (safety rule 5.3): one member at a time,
//! in a ring where all are up and nobody moves. A member that lacks data is
//! repaired before a lost one is replaced, from the members that are left.

use super::debts::patch;
use super::orders::{is_known, kind_of, ordered, outcome, prefix, words};
use super::{asked_in_vain, lacking, missed, rebuild};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, left_running as left, marks};
use crate::facts::{self, Facts, MemberFact};
use crate::words::maintenance::{Doing, Problem, Waiting};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::{Debt, DebtKind, Operation, OperationState, RepairRanges};
use palladion_plan::{Flow, Step};
use serde_json::json;

/// Maintenance that failed is started again after this long.
const RETRY_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);
/// A repair that holds up a replacement for so long is reported: the ring has one
/// copy less meanwhile.
const OVERDUE_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// What a member needs next: what is under way, then a repair, then the rest.
fn owed<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a Debt> {
    if member.is_gone() {
        return None;
    }
    let pending = &member.spec.as_ref()?.pending_maintenance;
    let is_under_way = |d: &&Debt| match Course::of(facts, member, d) {
        Course::Runs | Course::Done => true,
        Course::NotBegun | Course::Failed { .. } => false,
    };
    // What only a newer operator knows stays on record for that one.
    let mut known = pending.iter().filter(|d| is_known(d));
    let first = known.clone().next();
    let repair = known.clone().find(|d| is_repair(d));
    // Without the rows of another datacenter a repair would compare what is not there.
    let rebuild = known.clone().find(|d| d.kind == DebtKind::Rebuild);
    known.find(is_under_way).or(rebuild).or(repair).or(first)
}

fn is_repair(debt: &Debt) -> bool {
    match debt.kind {
        DebtKind::Repair => true,
        DebtKind::Cleanup
        | DebtKind::Rebuild
        | DebtKind::UpgradeSstables
        | DebtKind::Unknown(_) => false,
    }
}

/// Carry out the first maintenance that can be. What has failed waits for its
/// next try behind all that was not tried yet, so that it holds up nobody else.
pub fn pay(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let pending = facts.members.values().filter_map(|m| Some((m, owed(facts, m)?)));
    let (postponed, pending): (Vec<_>, Vec<_>) = pending.partition(|(m, d)| is_beyond(m, d));
    for (member, debt) in postponed {
        wait_for_newer_agent(member, debt, draft);
    }
    let mut untried = Vec::new();
    let mut failed = Vec::new();
    let mut under_way = Flow::Free;
    for (member, debt) in pending {
        let course = Course::of(facts, member, debt);
        let is_over = rebuild::is_over(facts, member, debt);
        match course {
            // Nobody withdraws what an agent may be at.
            Course::NotBegun | Course::Failed { .. } if is_over => {
                draft.steps.extend(done(facts, member, debt));
                under_way = Flow::Busy;
            }
            Course::NotBegun => untried.push((member, debt)),
            Course::Done => {
                draft.steps.extend(done(facts, member, debt));
                under_way = Flow::Busy;
            }
            Course::Runs => {
                let withdrawn_at = asked_in_vain::until(facts, member, debt);
                draft.steps.extend(asked_in_vain::withdraw(facts, member, debt));
                let (work, name, cause) = words(member, debt);
                let waiting = Waiting::Running { work, member: name, cause };
                let wait = draft.wait_for(waiting).about(member.subject());
                if let Some(at) = withdrawn_at.filter(|at| *at > facts.now()) {
                    wait.until(at);
                }
                under_way = Flow::Busy;
            }
            Course::Failed { why, again } => {
                // Of one that is down, that is the trouble.
                if member.is_normal() {
                    report_failed(member, debt, why, draft);
                }
                failed.push((again, member, debt));
            }
        }
    }
    if let Some(lacking) = lacking::member(facts) {
        lacking::hold_cleanups(lacking, (&mut untried, &mut failed), draft);
    }
    under_way.or(|| next(facts, untried, failed, draft))
}

/// Begin what was not tried yet, repairs first, or try again what failed first.
fn next(
    facts: &Facts<'_>,
    mut untried: Vec<(&MemberFact, &Debt)>,
    mut failed: Vec<(jiff::Timestamp, &MemberFact, &Debt)>,
    draft: &mut Draft,
) -> Flow {
    untried.retain(|(member, debt)| !rebuild::stands_in_the_way(facts, member, debt, draft));
    failed.retain(|(_, member, debt)| !rebuild::stands_in_the_way(facts, member, debt, draft));
    untried.retain(|(member, debt)| !asked_in_vain::waits(member, debt, draft));
    failed.retain(|(_, member, debt)| !asked_in_vain::waits(member, debt, draft));
    untried.sort_by_key(|(_, debt)| !is_repair(debt));
    failed.sort_by_key(|(again, ..)| *again);
    if let Some((member, debt)) = untried.first() {
        return begin(facts, member, debt, draft);
    }
    let Some((again, member, debt)) = failed.first() else {
        return Flow::Free;
    };
    if facts.now() >= *again {
        return begin(facts, member, debt, draft);
    }
    let (work, name, cause) = words(member, debt);
    let waiting = Waiting::Retried { work, member: name, cause };
    draft.wait_for(waiting).about(member.subject()).until(*again);
    Flow::Busy
}

/// Agents of before this protocol do not know the ranges of a repair: they would
/// repair their primary ranges, and report that all is done.
const KNOWS_RANGES: u32 = 2;

fn is_beyond(member: &MemberFact, debt: &Debt) -> bool {
    let is_older = member.status.agent.as_ref().is_some_and(|a| a.protocol < KNOWS_RANGES);
    match debt.ranges {
        RepairRanges::All => is_older,
        RepairRanges::Primary | RepairRanges::Unknown(_) => false,
    }
}

/// What an older agent was asked for, and may report as done, does not count.
fn wait_for_newer_agent(member: &MemberFact, debt: &Debt, draft: &mut Draft) {
    if ordered(member, debt).is_some() {
        let doing = Doing::Withdraw { work: debt.kind.into(), member: member.name.clone() };
        draft.steps.extend(patch(member, json!({ "operation": null }), doing));
    }
    let agent = member.status.agent.as_ref().map(|a| a.version.clone()).unwrap_or_default();
    let waiting =
        Waiting::OldAgent { member: member.name.clone(), agent, cause: debt.reason.clone() };
    draft.wait_for(waiting).about(member.subject());
}

/// Begin it, unless somebody is down or moves: a cleanup drops what its member
/// is about to own, a repair fails while a replica is down.
fn begin(facts: &Facts<'_>, member: &MemberFact, debt: &Debt, draft: &mut Draft) -> Flow {
    let (work, name, cause) = words(member, debt);
    // What a server has left running may be at the same ranges (safety rule 5.4).
    if debt.kind == DebtKind::Repair
        && let Some(left) = left::anywhere(facts)
    {
        left::wake(facts, draft);
        draft.wait_for(left).about(member.subject());
        return Flow::Free;
    }
    let quiet = match evidence::is_quiet_for(facts, member) {
        Ok(proof) => proof.stated(),
        Err(why) => {
            let waiting = Waiting::Postponed { work, member: name, why, cause };
            draft.wait_for(waiting).about(member.subject());
            return Flow::Free;
        }
    };
    draft.steps.extend(order(facts, member, debt, None).map(|step| step.proven(quiet)));
    let waiting = Waiting::Starting { work, member: name, cause };
    draft.wait_for(waiting).about(member.subject());
    Flow::Busy
}

/// A replacement streams each range from one member that is left. One of them
/// that lacks data is repaired from the others first, as far as that is
/// possible without the lost member: what fails holds up nothing.
pub fn before_replacement(
    facts: &Facts<'_>,
    (lost, host_id): (&MemberName, &HostId),
    draft: &mut Draft,
) -> Flow {
    let others = facts.members.values().filter(|m| m.name != *lost && m.is_normal());
    let unmarked = others.filter(|m| marks::of(m).is_none());
    let lacking = unmarked.filter_map(|m| Some((m, lacked(facts, m)?)));
    for (member, debt) in lacking {
        if is_beyond(member, debt) {
            // What cannot be repaired now holds up nothing.
            wait_for_newer_agent(member, debt, draft);
            continue;
        }
        let operation = ordered(member, debt);
        let tried = operation.filter(|o| o.target.as_ref() == Some(host_id));
        let told = tried.and_then(|o| outcome(member, o));
        let has_failed = told.is_some_and(|o| o.state == OperationState::Failed);
        match Course::of_operation(facts, member, operation) {
            Course::Done if operation.is_some_and(|o| o.target.is_none()) => {
                draft.steps.extend(done(facts, member, debt));
                return Flow::Busy;
            }
            // It has what those that are left had. What the lost one alone had is still missing
            // if that comes back: the repair stays on record.
            // Made without another one that is lost, it counts as well. What has failed then does
            // not: it may have been the loss of this one that ended it.
            Course::Done if without_lost(facts, operation) => continue,
            Course::Failed { why, .. } if has_failed => {
                report_failed(member, debt, why, draft);
                continue;
            }
            Course::Runs => {
                // It is waited for all the same: the replacement would stream from this member.
                asked_in_vain::waits(member, debt, draft);
            }
            Course::NotBegun | Course::Done | Course::Failed { .. } => {
                draft.steps.extend(order(facts, member, debt, Some(host_id)));
            }
        }
        held(facts, lost, (member, debt), draft);
        return Flow::Busy;
    }
    held_by_a_newer_word(facts, lost, draft)
}

/// Was it made without a member that is lost still?
fn without_lost(facts: &Facts<'_>, operation: Option<&Operation>) -> bool {
    let Some(target) = operation.and_then(|o| o.target.as_ref()) else { return false };
    facts.members.values().filter_map(evidence::lost).any(|(_, lost)| lost.host_id == *target)
}

/// The repair by which a member gets what it lacks: that which runs, or the last one on record. Each
/// is of all its ranges; one that was made before the member was away once more does not count for
/// that.
fn lacked<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a Debt> {
    let pending = member.spec.iter().flat_map(|s| &s.pending_maintenance);
    let is_lacking = |d: &&Debt| d.kind == DebtKind::Repair && d.ranges == RepairRanges::All;
    let mut lacking = pending.filter(is_lacking);
    let runs = |d: &&Debt| matches!(Course::of(facts, member, d), Course::Runs);
    lacking.clone().find(runs).or_else(|| lacking.next_back())
}

/// What only a newer operator knows may be a repair.
fn held_by_a_newer_word(facts: &Facts<'_>, lost: &MemberName, draft: &mut Draft) -> Flow {
    let others = facts.members.values().filter(|m| m.name != *lost && m.is_normal());
    let newer = others.filter(|m| marks::of(m).is_none()).find_map(|m| {
        let mut pending = m.spec.iter().flat_map(|s| &s.pending_maintenance);
        Some((m, pending.find(|d| is_newer(d))?))
    });
    let Some((member, debt)) = newer else {
        return Flow::Free;
    };
    let (lost, name, cause) = (lost.clone(), member.name.clone(), debt.reason.clone());
    draft.report(Problem::NewerWork {
        lost: lost.clone(),
        member: name.clone(),
        cause: cause.clone(),
    });
    let waiting = Waiting::BeforeUnknown { lost, member: name, cause };
    draft.wait_for(waiting).about(member.subject());
    Flow::Busy
}

fn is_newer(debt: &Debt) -> bool {
    match (debt.kind, debt.ranges) {
        (DebtKind::Unknown(_), _) | (DebtKind::Repair, RepairRanges::Unknown(_)) => true,
        (DebtKind::Repair, RepairRanges::All | RepairRanges::Primary)
        | (DebtKind::Cleanup | DebtKind::Rebuild | DebtKind::UpgradeSstables, _) => false,
    }
}

/// A replacement waits for this repair. One that does not end is reported, with
/// what a person can do: how long a repair takes nobody knows beforehand.
fn held(
    facts: &Facts<'_>,
    lost: &MemberName,
    (member, debt): (&MemberFact, &Debt),
    draft: &mut Draft,
) {
    let (_, name, cause) = words(member, debt);
    let since = ordered(member, debt).and_then(asked_first);
    let overdue = since.map(|since| since + OVERDUE_AFTER);
    if let Some(since) = since.filter(|since| facts.now() >= *since + OVERDUE_AFTER) {
        let (lost, member) = (lost.clone(), name.clone());
        draft.report(Problem::Overdue { lost, member, since, cause: cause.clone() });
    }
    let waiting = Waiting::BeforeReplacement { lost: lost.clone(), member: name, cause };
    let wait = draft.wait_for(waiting).about(member.subject());
    if let Some(at) = overdue.filter(|at| *at > facts.now()) {
        wait.until(at);
    }
}

/// When it was asked for, counted from the first of the tries that were interrupted.
fn asked_first(operation: &Operation) -> Option<jiff::Timestamp> {
    operation.tried_since.as_ref().or(operation.requested_at.as_ref()).map(|t| t.0)
}

/// How far the operation of a pending maintenance is.
enum Course {
    NotBegun,
    Runs,
    Done,
    Failed { why: String, again: jiff::Timestamp },
}

impl Course {
    /// A repair that has left a lost member out ends for the replacement of that one alone
    /// (see [`before_replacement`]): for the member it is as if it had not begun.
    fn of(facts: &Facts<'_>, member: &MemberFact, debt: &Debt) -> Self {
        let operation = ordered(member, debt);
        let is_partial = operation.is_some_and(|operation| operation.target.is_some());
        match Course::of_operation(facts, member, operation) {
            Course::Done | Course::Failed { .. } if is_partial => Course::NotBegun,
            course => course,
        }
    }

    fn of_operation(facts: &Facts<'_>, member: &MemberFact, operation: Option<&Operation>) -> Self {
        let Some(operation) = operation else {
            return Course::NotBegun;
        };
        let Some(outcome) = outcome(member, operation) else {
            return Course::Runs;
        };
        match outcome.state {
            OperationState::Running | OperationState::Unknown => Course::Runs,
            OperationState::Succeeded => Course::Done,
            OperationState::Failed | OperationState::Interrupted => {
                let ended = outcome.finished_at.as_ref().map_or(facts.now(), |t| t.0);
                let why = outcome.message.clone().unwrap_or_default();
                let asked = operation.requested_at.as_ref().map(|t| t.0);
                Course::Failed { why, again: facts.again(ended, asked, RETRY_AFTER) }
            }
        }
    }
}

fn report_failed(member: &MemberFact, debt: &Debt, why: String, draft: &mut Draft) {
    let (work, cause) = (debt.kind.into(), debt.reason.clone());
    draft.report(Problem::Failed { work, member: member.name.clone(), why, cause });
}

/// The operation goes with the record of what was needed, so that the next one
/// is a new operation.
fn done(facts: &Facts<'_>, member: &MemberFact, debt: &Debt) -> Option<Step> {
    let mut owes = member.spec.as_ref()?.pending_maintenance.clone();
    // Each cause says when: what stands twice in the same words is of one event, which came
    // before the operation.
    owes.retain(|d| d != debt);
    let doing = Doing::RecordDone { work: debt.kind.into(), member: member.name.clone() };
    owes.extend(rebuild::then(facts.now(), member, debt, &owes));
    let mut spec = json!({ "pendingMaintenance": owes, "operation": null });
    missed::made_up(member, debt, &owes.iter().collect::<Vec<_>>(), &mut spec);
    patch(member, spec, doing)
}

/// Start it, without a member that is lost if there is one.
fn order(
    facts: &Facts<'_>,
    member: &MemberFact,
    debt: &Debt,
    without: Option<&HostId>,
) -> Option<Step> {
    let kind = kind_of(debt);
    let mut operation = Operation::of(format!("{}{}", prefix(debt), facts.snapshot.nonce), kind);
    operation.ranges = debt.ranges;
    if debt.kind == DebtKind::Rebuild {
        rebuild::name(facts, member, &mut operation)?;
    }
    operation.target = without.cloned();
    // Interrupted each time, it takes as long as one that never ends.
    let before = without.and(ordered(member, debt)).filter(|o| o.target == operation.target);
    operation.tried_since = before.and_then(asked_first).map(Time);
    let operation = facts::operation_of(facts, member, &operation);
    let doing = Doing::Start { work: debt.kind.into(), member: member.name.clone() };
    // A turn that somebody has taken meanwhile has asked whether all are quiet.
    let step = patch(member, json!({ "operation": operation }), doing)?;
    Some(step.fenced(facts.fence_as_seen()))
}
