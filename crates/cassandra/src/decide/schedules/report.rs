//! What the status of a schedule says.

use super::cover::Standing;
use super::read::{Schedule, ended, ended_at, is_active};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::metrics;
use crate::resources as kinds;
use crate::words::schedules::{Accepted, Behind, Doing, Held, Invalid, Risk, Runs, Told};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::conditions::{ACCEPTED, BEHIND, DEGRADED, PAUSED};
use palladion_api::task::TaskPhase;
use palladion_api::task_schedule::CassandraTaskScheduleStatus;
use palladion_plan::words::Reasoned;
use palladion_plan::{Conditions, Event, Object, Step, Truth};
use serde_json::{Value, json};
use std::sync::Arc;

/// What was decided about a schedule.
pub(super) struct Outcome {
    /// Is it valid, and what does a task wait for that is due?
    pub accepted: Result<Accepted, Invalid>,
    /// Why no tasks are created.
    pub held: Option<Held>,
    /// When the next task is due, or since when one has been.
    pub next: Option<Timestamp>,
    /// The task that was created, and for which time.
    pub created: Option<(String, Timestamp)>,
    /// What was missed.
    pub missed: Option<Told>,
    /// How the repair of the ring stands that it covers.
    pub standing: Option<Standing>,
}

impl Outcome {
    /// Nothing but when the next task is due.
    pub fn next(next: Option<Timestamp>) -> Self {
        Self {
            accepted: Ok(Accepted::Valid),
            held: None,
            next,
            created: None,
            missed: None,
            standing: None,
        }
    }
}

/// Fields that are absent where there is nothing to say: a merge patch takes them
/// away only if it names them.
const OPTIONAL: [&str; 5] =
    ["nextScheduleTime", "lastScheduleTime", "lastSuccessfulTime", "lastTask", "active"];

/// Write what was decided, where that differs.
pub(super) fn report(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    tasks: &[&Arc<Object>],
    outcome: Outcome,
    draft: &mut Draft,
) {
    let status = status(facts, schedule, tasks, &outcome);
    if status == schedule.status {
        return;
    }
    let mut patch = json!({ "status": status });
    for field in OPTIONAL {
        // What is absent becomes null, and so goes.
        patch["status"][field] = patch["status"].get(field).cloned().unwrap_or(Value::Null);
    }
    let doing = Doing::Report { schedule: schedule.name().to_string() };
    let meta = &schedule.object.meta;
    let step = Step::patch_status_as_seen(kinds::SCHEDULE, meta, patch, doing);
    let late = late(schedule, outcome.standing.as_ref());
    let missed = outcome.missed.as_ref().map(|_| metrics::missed());
    let told = outcome.missed.or(late).or_else(|| refused(schedule, outcome.accepted));
    let event = told.map(|told| Event::warning(told).also_about(kinds::SCHEDULE, meta));
    draft.steps.push(step.announced(event).counting(missed));
}

/// Is it late, and is it too late?
fn tell(conditions: &mut Conditions, standing: &Standing) {
    let behind = match &standing.behind {
        Behind::Late { .. } => Truth::True,
        Behind::Silent { .. }
        | Behind::TooOld { .. }
        | Behind::NoRange
        | Behind::Absent { .. }
        | Behind::Unclear { .. } => Truth::Unknown,
        Behind::Short { .. } | Behind::OneCopy | Behind::First | Behind::InTime => Truth::False,
    };
    conditions.set(BEHIND, behind, standing.behind.reason(), standing.behind.clone());
    let risk = match &standing.risk {
        Risk::TooLate { .. } | Risk::ReturnsTooLate { .. } => Truth::True,
        Risk::Nothing => Truth::False,
    };
    conditions.set(DEGRADED, risk, standing.risk.reason(), standing.risk.clone());
}

/// It has become late, or too late: told once.
fn late(schedule: &Schedule<'_>, standing: Option<&Standing>) -> Option<Told> {
    let is_known = |type_: &str| {
        schedule.status.conditions.iter().any(|c| c.type_ == type_ && c.status == "True")
    };
    let (name, standing) = (schedule.name().to_string(), standing?);
    match (&standing.risk, &standing.behind) {
        (why @ (Risk::TooLate { .. } | Risk::ReturnsTooLate { .. }), _) if !is_known(DEGRADED) => {
            Some(Told::TooLateForDeletions { schedule: name, why: why.clone() })
        }
        (_, why @ Behind::Late { .. }) if !is_known(BEHIND) => {
            Some(Told::Behind { schedule: name, why: why.clone() })
        }
        (Risk::TooLate { .. } | Risk::ReturnsTooLate { .. } | Risk::Nothing, _) => None,
    }
}

/// It was valid, or nobody has looked at it.
fn refused(schedule: &Schedule<'_>, accepted: Result<Accepted, Invalid>) -> Option<Told> {
    let mut conditions = schedule.status.conditions.iter();
    let is_known = conditions.any(|c| c.type_ == ACCEPTED && c.status == "False");
    let why = accepted.err().filter(|_| !is_known)?;
    Some(Told::Invalid { schedule: schedule.name().to_string(), why })
}

fn status(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    tasks: &[&Arc<Object>],
    outcome: &Outcome,
) -> CassandraTaskScheduleStatus {
    let generation = schedule.object.meta.generation;
    let mut status = schedule.status.clone();
    let mut conditions = Conditions::new(&status.conditions, generation, facts.now());
    match &outcome.accepted {
        Ok(said) => conditions.set_true(ACCEPTED, said.clone()),
        Err(why) => conditions.set_false(ACCEPTED, why.clone()),
    }
    match &outcome.held {
        Some(why) => conditions.set_true(PAUSED, why.clone()),
        None => conditions.set_false(PAUSED, Runs::NotPaused),
    }
    if let Some(standing) = &outcome.standing {
        tell(&mut conditions, standing);
    }
    status.conditions = conditions.all().to_vec();
    // Of one that covers nothing any more they say nothing.
    let covers = outcome.standing.is_some();
    status.conditions.retain(|c| covers || (c.type_ != BEHIND && c.type_ != DEGRADED));
    status.observed_generation = Some(generation);
    status.next_schedule_time = outcome.next.map(Time);
    let active = tasks.iter().filter(|task| is_active(task));
    status.active = active.map(|task| task.meta.name.clone()).collect();
    if let Some((task, at)) = &outcome.created {
        if !tasks.iter().any(|seen| seen.meta.name == *task) {
            status.active.push(task.clone());
        }
        status.last_schedule_time = Some(Time(*at));
        status.last_task = Some(task.clone());
    }
    status.active.sort();
    let done = tasks.iter().filter(|task| ended(task) == Some(TaskPhase::Done));
    let last_done = done.filter_map(|task| ended_at(task)).max().map(Time);
    status.last_successful_time = status.last_successful_time.max(last_done);
    if outcome.missed.is_some() {
        status.missed = status.missed.saturating_add(1);
    }
    status
}
