//! Tasks that come again and again, as a `CassandraTaskSchedule` says. Their steps
//! stand behind all others: what keeps a task from being created holds up nothing
//! of the ring. What the tasks do is decided in `tasks/`.

mod by_server;
mod cover;
pub(in crate::decide) mod cron;
pub(in crate::decide) mod due;
mod history;
mod read;
mod report;
mod rest;

use crate::build;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::schedules::{Accepted, Doing, Held, Told};
use cron::Times;
use due::{Due, Record, Run};
use jiff::{SignedDuration, Timestamp};
use palladion_api::task_schedule::ConcurrencyPolicy;
use palladion_plan::{FailureClass, Fence, Object, ObjectKey, Step};
use read::{Schedule, is_active};
use report::{Outcome, report};
use serde_json::{Value, json};
use std::sync::Arc;

/// So many tasks of a schedule are active at the most, whatever it allows: every
/// decision looks at each of them, and a ring that stands still must not collect more.
const MOST_ACTIVE: usize = 50;

/// Create the tasks of this cluster's schedules that are due, and delete those that
/// have ended and are no longer kept.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for schedule in read::of_cluster(facts) {
        let tasks = schedule.tasks(facts);
        let outcome = match &schedule.spec.cover {
            Some(_) => cover::outcome(facts, valid, (&schedule, &tasks), draft),
            None => of_active(facts, &schedule, |times| {
                outcome(facts, (&schedule, times), &tasks, draft)
            }),
        };
        report(facts, &schedule, &tasks, outcome, draft);
        history::tidy(facts, &schedule, &tasks, draft);
    }
    cover::give(facts, draft);
}

/// Create nothing, and say why. What is due stays on record.
pub fn hold(facts: &Facts<'_>, valid: Option<&Valid>, why: &Held, draft: &mut Draft) {
    for schedule in read::of_cluster(facts) {
        let tasks = schedule.tasks(facts);
        let outcome = match &schedule.spec.cover {
            Some(_) => cover::held(facts, valid, (&schedule, why.clone()), draft),
            None => of_active(facts, &schedule, |times| {
                let next = schedule.record(times).kept(times, facts.now());
                Outcome { held: Some(why.clone()), ..Outcome::next(next) }
            }),
        };
        report(facts, &schedule, &tasks, outcome, draft);
    }
}

/// What comes of a schedule: `outcome` says it of one that is valid and not suspended.
fn of_active(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    outcome: impl FnOnce(&Times) -> Outcome,
) -> Outcome {
    match schedule.times(facts.now()) {
        Err(why) => Outcome { accepted: Err(why), ..Outcome::next(None) },
        Ok(_) if schedule.spec.suspend => {
            Outcome { held: Some(Held::Suspended), ..Outcome::next(None) }
        }
        Ok(times) => outcome(&times),
    }
}

fn outcome(
    facts: &Facts<'_>,
    (schedule, times): (&Schedule<'_>, &Times),
    tasks: &[&Arc<Object>],
    draft: &mut Draft,
) -> Outcome {
    let now = facts.now();
    let record = schedule.record(times);
    let deadline = SignedDuration::from_secs(schedule.spec.starting_deadline_seconds.into());
    match record.due(times, now, deadline) {
        Due::NotYet => Outcome::next(awaited(&record, times, now, draft)),
        Due::Missed(run) => {
            let seconds = schedule.spec.starting_deadline_seconds;
            let missed = Told::TooLate { schedule: schedule.name().into(), due: run.at, seconds };
            let next = awaited(&record, times, now, draft);
            Outcome { missed: Some(missed), ..Outcome::next(next) }
        }
        Due::Now(run) => {
            let name = task_name(schedule, run.at);
            if !exists(facts, schedule, &name) {
                if let Some(waits) = waits(schedule, run, tasks) {
                    draft.wake_at(run.at + deadline + SignedDuration::from_secs(1));
                    return Outcome { accepted: Ok(waits), ..Outcome::next(Some(run.since)) };
                }
                if let Some(why) = create(facts, schedule, &name, tasks, draft) {
                    let refused = Accepted::Refused { due: run.since, task: name, why };
                    return Outcome { accepted: Ok(refused), ..Outcome::next(Some(run.since)) };
                }
            }
            let record = Record { last: Some(run.at), ..record };
            let next = awaited(&record, times, now, draft);
            Outcome { created: Some((name, run.at)), ..Outcome::next(next) }
        }
    }
}

/// When the next task is due; the cluster is decided again at that time.
fn awaited(record: &Record, times: &Times, now: Timestamp, draft: &mut Draft) -> Option<Timestamp> {
    let next = record.next(times, now);
    next.into_iter().for_each(|next| draft.wake_at(next));
    next
}

/// What must end before the task is created; `None` where nothing must.
fn waits(schedule: &Schedule<'_>, run: Run, tasks: &[&Arc<Object>]) -> Option<Accepted> {
    let mut active = tasks.iter().filter(|task| is_active(task));
    match schedule.spec.concurrency_policy {
        ConcurrencyPolicy::Forbid => {
            let task = active.next()?.meta.name.clone();
            Some(Accepted::Waits { due: run.since, task })
        }
        ConcurrencyPolicy::Allow | ConcurrencyPolicy::Replace => {
            let is_full = active.count() >= MOST_ACTIVE;
            is_full.then_some(Accepted::Full { due: run.since, most: MOST_ACTIVE })
        }
    }
}

/// The time is in the name, by which no task is created twice: an operator that does
/// not know what an earlier one has done finds it.
fn task_name(schedule: &Schedule<'_>, at: Timestamp) -> String {
    format!("{}-{}", schedule.name(), at.as_second().div_euclid(60))
}

fn exists(facts: &Facts<'_>, schedule: &Schedule<'_>, name: &str) -> bool {
    let namespace = &schedule.object.meta.namespace;
    let mut tasks = facts.objects(kinds::TASK).iter();
    tasks.any(|task| task.meta.name == name && task.meta.namespace == *namespace)
}

/// Create the task, which holds up no other schedule where it is refused. What was answered
/// is returned if it was refused the last time: then nothing is on record of it before it is
/// seen to exist.
fn create(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    name: &str,
    tasks: &[&Arc<Object>],
    draft: &mut Draft,
) -> Option<String> {
    if schedule.spec.concurrency_policy == ConcurrencyPolicy::Replace {
        let active = tasks.iter().filter(|task| is_active(task));
        let running = active.filter(|task| task.at("/spec/abort") != Some(&Value::Bool(true)));
        draft.steps.extend(running.map(|task| abort(schedule, task)));
    }
    let meta = &schedule.object.meta;
    let key = ObjectKey::new(kinds::TASK, &meta.namespace, name);
    let doing = Doing::Create { task: name.into(), schedule: schedule.name().into() };
    let fence = Fence {
        object: ObjectKey::new(kinds::SCHEDULE, &meta.namespace, &meta.name),
        pointer: "/status/lastScheduleTime".to_string(),
        expected: schedule.object.at("/status/lastScheduleTime").cloned().unwrap_or_default(),
        lock: None,
    };
    // Who was frozen and wakes up finds what was done since: the task of that name may
    // have ended by then, and be gone.
    let spec = schedule.object.at("/spec").cloned().unwrap_or_default();
    let task = build::task_of_schedule(schedule.name(), &meta.namespace, &spec, name);
    let refused = refused(facts, schedule);
    let step = Step::create(key, task, doing).fenced(fence);
    draft.steps.push(match refused {
        Some(_) => step.standing_alone(),
        // The next one records that it was created.
        None => step.leaving_out_next(),
    });
    refused
}

/// What the API server has answered when it refused to create a task of this schedule, if that
/// is what failed the last time.
fn refused(facts: &Facts<'_>, schedule: &Schedule<'_>) -> Option<String> {
    let failure = facts.snapshot.failure.as_ref().filter(|f| f.class == FailureClass::Refused)?;
    let object = failure.object.as_ref().filter(|object| object.resource == kinds::TASK)?;
    let is_ours = object.namespace == schedule.object.meta.namespace;
    let number = object.name.strip_prefix(schedule.name()).and_then(|n| n.strip_prefix('-'))?;
    let is_one = is_ours && number.chars().all(|c| c.is_ascii_digit());
    is_one.then(|| failure.message.clone())
}

fn abort(schedule: &Schedule<'_>, task: &Object) -> Step {
    let doing =
        Doing::Abort { task: task.meta.name.clone(), schedule: schedule.name().to_string() };
    Step::patch_seen(kinds::TASK, &task.meta, json!({ "spec": { "abort": true } }), doing)
}
