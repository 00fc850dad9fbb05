//! Turns come before jobs, and never both: what a due turn, or maintenance of
//! the operator's own, does with the job that members work at.

use super::abort::is_ending;
use super::claim;
use super::doubts;
use super::give::stop;
use super::pass::can_go_on;
use super::queue::{self, Job, holds};
use super::units::{self, Unit, is_stoppable, operation_runs, under_way};
use crate::decide::draft::Draft;
use crate::decide::evidence::given;
use crate::facts::{Facts, MemberFact};
use crate::metrics;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::jobs::{Doing, Happened, RingWaits, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{ClusterJob, TurnStep};
use palladion_api::ids::MemberName;
use palladion_api::member::{OperationKind, OperationState};
use palladion_api::task::{Body, TaskKind};
use palladion_plan::words::Names;
use palladion_plan::{Event, Step, Subject};
use serde_json::{Value, json};

/// Between two restarts of a rollout a job that was interrupted has so much time.
const SHARE: SignedDuration = SignedDuration::from_mins(30);

/// The member that has just restarted is not Ready at once; the job may be at that one.
const SETTLES: SignedDuration = SignedDuration::from_secs(60);

/// May a member be given its part of a task now?
pub enum Way {
    /// Nothing comes before it.
    Free,
    /// This comes before it.
    Closed(Waiting),
}

/// What the ring does next comes before any job: turns at once, maintenance
/// between two members.
pub fn before(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Way {
    let units = under_way(facts);
    let due = draft.steps.iter().find_map(turn_of);
    if let Some(until) = due.and_then(|step| shared_until(facts, valid, step)) {
        draft.steps.retain(|step| turn_of(step).is_none());
        share(facts, until, draft);
        return Way::Free;
    }
    let is_due = due.is_some();
    let ordered = draft.steps.iter().filter_map(|step| urgency(facts, step)).max();
    if units.is_empty() {
        if is_due {
            halt_the_silent(facts, draft);
            release_with_the_turn(facts, draft);
            return Way::Closed(Waiting::RingFirst);
        }
        return match ordered.is_some() || operation_runs(facts) {
            true => Way::Closed(Waiting::Maintenance),
            false => Way::Free,
        };
    }
    // A repair of what is due loses no more than a segment.
    let passes = |unit: &Unit<'_>| {
        let body = unit.job.and_then(|job| job.work.body());
        body.is_some_and(Body::is_repair_of_due)
    };
    let gives_way = ordered.is_some() && units.iter().all(passes);
    if let Some(until) = tried_at(facts, ordered.filter(|_| gives_way && !is_due)) {
        draft.steps.retain(|step| operation_of(step).is_none());
        let task = by_name(facts, &units).unwrap_or_default();
        draft.wait_for(RingWaits::BeforeRetry { task }).until(until);
        return Way::Free;
    }
    if is_due || gives_way || ordered == Some(Urgency::AtOnce) {
        draft.steps.retain(|step| turn_of(step).is_none() && operation_of(step).is_none());
        give_way(facts, &units, draft);
        return Way::Closed(Waiting::RingFirst);
    }
    if ordered.is_some() {
        draft.steps.retain(|step| operation_of(step).is_none());
        let task = by_name(facts, &units).unwrap_or_default();
        if let Some((work, members)) = units::words(&units) {
            draft.wait_for(RingWaits::BeforeMaintenance { task, work, members });
        }
        return Way::Closed(Waiting::Maintenance);
    }
    Way::Free
}

/// A turn ends: the job that it has interrupted goes on in the same write, so
/// that neither another job nor the next turn comes between unseen.
pub fn after(facts: &Facts<'_>, draft: &mut Draft) {
    let begun_last = |job: &Job<'_>| {
        job.status.members.iter().filter_map(|m| m.started_at.as_ref()).map(|t| t.0).max()
    };
    // Whoever worked last was interrupted; of equals the first in the queue.
    let found = queue::read(facts).into_iter().rev().filter(goes_on).max_by_key(begun_last);
    let Some(job) = found else {
        return;
    };
    let event = || {
        let (task, work) = (job.task.name().to_string(), job.kind.into());
        Event::normal(Happened::GoesOn { task, work })
            .also_about(kinds::TASK, &job.task.object.meta)
    };
    for step in &mut draft.steps {
        if let Step::CompareAndSet { status, event: told, .. } = step
            && status.get("turn").is_some_and(Value::is_null)
        {
            status["job"] = claim::record(facts, &job);
            told.get_or_insert_with(event);
        }
    }
}

fn goes_on(job: &Job<'_>) -> bool {
    job.is_taken_up() && !job.task.spec.abort
}

/// The ring is to be stopped: its job with it.
pub fn stop_all(facts: &Facts<'_>, draft: &mut Draft) {
    let units = under_way(facts);
    if facts.status.job.is_some() || !units.is_empty() {
        give_way(facts, &units, draft);
    }
}

fn holder<'a>(facts: &'a Facts<'_>) -> Option<&'a ClusterJob> {
    facts.status.job.as_ref()
}

/// The step of the turn that this write takes.
fn turn_of(step: &Step) -> Option<&str> {
    match step {
        Step::CompareAndSet { status, .. } => status.pointer("/turn/step")?.as_str(),
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::Issue { .. }
        | Step::Delete { .. } => None,
    }
}

/// The member that this write asks for an operation, by the name of its object, and which.
fn operation_of(step: &Step) -> Option<(&str, &Value)> {
    match step {
        Step::Patch { key, patch, .. } => {
            let operation = patch.pointer("/spec/operation").filter(|o| o.is_object())?;
            Some((&key.name, operation))
        }
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::CompareAndSet { .. }
        | Step::Issue { .. }
        | Step::Delete { .. } => None,
    }
}

/// How long an operation can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// It has failed, and may fail over and over: between members, and after the share of a
    /// repair that gives way, or no job would ever end (safety rule 7.6).
    Again,
    BetweenMembers,
    AtOnce,
}

/// A repair that leaves out a lost member comes before its replacement, and a
/// change of replication before a leave, or at the end of a join.
fn urgency(facts: &Facts<'_>, step: &Step) -> Option<Urgency> {
    let (member, operation) = operation_of(step)?;
    if has_failed(facts, member, operation) {
        return Some(Urgency::Again);
    }
    let alters = operation["kind"] == json!(OperationKind::AlterReplication);
    Some(match operation["target"].is_string() || alters {
        true => Urgency::AtOnce,
        false => Urgency::BetweenMembers,
    })
}

/// Has the member failed the last time at what it is asked for now?
fn has_failed(facts: &Facts<'_>, member: &str, operation: &Value) -> bool {
    let Some(member) = facts.members.get(&MemberName::new(member)) else { return false };
    let asked = member.spec.as_ref().and_then(|s| s.operation.as_ref());
    let asked = asked.filter(|asked| operation["kind"] == json!(asked.kind));
    let told = member.status.operation.as_ref();
    let told = told.filter(|told| asked.is_some_and(|asked| asked.id == told.id));
    told.is_some_and(|told| told.state == OperationState::Failed)
}

/// When what has failed is tried again beside a repair that gives way: that has its share
/// between two tries, as between two restarts.
fn tried_at(facts: &Facts<'_>, ordered: Option<Urgency>) -> Option<Timestamp> {
    let held = holder(facts).filter(|_| ordered == Some(Urgency::Again))?;
    let until = facts.again(held.since.0, None, SHARE);
    (facts.now() < until).then_some(until)
}

/// Whoever is silent holds up nothing, and must not work beside the turn when it
/// is back.
fn halt_the_silent(facts: &Facts<'_>, draft: &mut Draft) {
    let is_open = |m: &&MemberFact| given::answer(m).is_none_or(|answer| !answer.state.is_final());
    let silent = facts.members.values().filter(is_open);
    let stops: Vec<Step> = silent.filter_map(|member| stop(facts, member)).collect();
    // Ahead of the turn: they are fenced on the job as it was seen.
    draft.steps.splice(0..0, stops);
}

/// Nobody works: the turn takes the job's place in one write.
fn release_with_the_turn(facts: &Facts<'_>, draft: &mut Draft) {
    if holder(facts).is_none() {
        return;
    }
    for step in &mut draft.steps {
        if turn_of(step).is_some()
            && let Step::CompareAndSet { status, .. } = step
        {
            status["job"] = Value::Null;
        }
    }
}

/// No work is given any more; what can be stopped is, the rest is waited for.
fn give_way(facts: &Facts<'_>, units: &[Unit<'_>], draft: &mut Draft) {
    let held = holder(facts);
    let task = held.and_then(|j| j.task.clone()).unwrap_or_default();
    if let Some(kind) = held.and_then(|j| j.kind) {
        let (name, work) = (task.clone(), kind.into());
        let mut event = Event::normal(Happened::Yields { task: name.clone(), work });
        let open = queue::read(facts);
        if let Some(job) = open.iter().find(|job| holds(held, job.task.uid())) {
            event = event.also_about(kinds::TASK, &job.task.object.meta);
        }
        let step = claim::release(facts, Doing::Yield { task: name }, Some(event));
        draft.steps.push(step.counting(metrics::yields()));
    } else {
        // The fence of a stop sees the job as it was read: from the next decision on it is nobody's.
        // What its agent has not answered yet may not have begun: then it never does.
        // What its task is to end goes no further than it is.
        let open = queue::read(facts);
        let is_to_end = |unit: &Unit<'_>| {
            let task = unit.job.map(|part| &part.task);
            let job = task.and_then(|task| open.iter().find(|job| job.task.uid() == task));
            job.is_some_and(|job| is_ending(facts, job))
        };
        let can_stop = |unit: &&Unit<'_>| {
            let is_unanswered = given::answer(unit.member).is_none();
            unit.kind().is_some_and(is_stoppable) || is_unanswered || is_to_end(unit)
        };
        let stops = units.iter().filter(can_stop).filter_map(|unit| stop(facts, unit.member));
        draft.steps.extend(stops);
        doubts::ask_the_unheard(facts, units, draft);
    }
    let members = || Names::of(units.iter().map(|u| &u.member.name));
    match units::words(units) {
        Some((work, members)) => {
            let task = by_name(facts, units).unwrap_or(task);
            draft.wait_for(RingWaits::ForYield { task, work, members });
        }
        None if !units.is_empty() => {
            draft.wait_for(RingWaits::ForOrphan { members: members() });
        }
        None => {}
    }
}

/// The name of the task that these members work for.
fn by_name(facts: &Facts<'_>, units: &[Unit<'_>]) -> Option<String> {
    let uid = &units.iter().find_map(|u| u.job)?.task;
    let task = facts.objects(kinds::TASK).iter().find(|o| o.meta.uid == *uid)?;
    Some(task.meta.name.clone())
}

/// Until when a rollout waits: a job that was interrupted by it has its time
/// before the next member restarts, while it can use it.
fn shared_until(facts: &Facts<'_>, valid: &Valid, step: &str) -> Option<Timestamp> {
    let is_restart = json!(TurnStep::Restart) == step;
    let held = holder(facts).filter(|job| is_restart && job.kind.is_some_and(is_stoppable))?;
    let open = queue::read(facts);
    let job = open.iter().find(|job| holds(Some(held), job.task.uid()))?;
    let was_interrupted = job.status.started_at.as_ref().is_some_and(|at| at.0 < held.since.0);
    let until = facts.again(held.since.0, None, SHARE);
    let settles = facts.now() < facts.again(held.since.0, None, SETTLES);
    let can = was_interrupted && (settles || can_go_on(facts, valid, job));
    (can && facts.now() < until).then_some(until)
}

fn share(facts: &Facts<'_>, until: Timestamp, draft: &mut Draft) {
    let held = holder(facts);
    let task = held.and_then(|j| j.task.clone()).unwrap_or_default();
    let work = held.and_then(|j| j.kind).unwrap_or(TaskKind::Repair).into();
    let about = Subject::new(kinds::TASK, &task);
    draft.wait_for(RingWaits::ForShare { task, work }).about(about).until(until);
}
