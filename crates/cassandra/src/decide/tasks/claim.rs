//! The ring's one job: taken up, given back, passed on. Each is a write that is
//! conditional on what was seen of turn, job and epoch.

use super::preconditions::lock_fence;
use super::queue::Job;
use super::run::Stands;
use crate::decide::turn::lock::seen;
use crate::facts::{Facts, JOB_NONCE};
use crate::resources as kinds;
use crate::words::jobs::{Doing, Happened};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{ClusterJob, JobOrigin};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// Take up a task, in place of whatever job there was.
pub fn take(facts: &Facts<'_>, job: &Job<'_>) -> Step {
    let (task, work) = (job.task.name().to_string(), job.kind.into());
    let (doing, happened) = match job.is_taken_up() {
        true => (Doing::GoOn { task: task.clone() }, Happened::GoesOn { task, work }),
        false => (Doing::Take { task: task.clone() }, Happened::TakenUp { task, work }),
    };
    let event = Event::normal(happened).also_about(kinds::TASK, &job.task.object.meta);
    // The lock is asked for before the job is taken, not only when the member is given its part.
    let lock = lock_fence(facts, job.kind);
    write(facts, record(facts, job), doing).announced(event).under_lock(lock)
}

/// A task that can only wait lets others pass.
pub fn give_back(facts: &Facts<'_>, job: &Job<'_>, stands: &Stands) -> Step {
    let why = match stands {
        Stands::Waiting(why) => why.to_string(),
        Stands::Queued | Stands::Working(_) | Stands::Due => String::new(),
    };
    let (task, work) = (job.task.name().to_string(), job.kind.into());
    let event = Event::normal(Happened::GivenBack { task: task.clone(), work, why });
    let event = event.also_about(kinds::TASK, &job.task.object.meta);
    release(facts, Doing::GiveBack { task }, Some(event))
}

/// Nobody has the job any more.
pub fn release(facts: &Facts<'_>, doing: Doing, event: Option<Event>) -> Step {
    write(facts, Value::Null, doing).announced(event)
}

/// The job of a task, as of this decision.
pub fn record(facts: &Facts<'_>, job: &Job<'_>) -> Value {
    json!(ClusterJob {
        origin: JobOrigin::Task,
        task: Some(job.task.name().to_string()),
        task_uid: Some(job.task.uid().clone()),
        kind: Some(job.kind),
        nonce: facts.snapshot.nonce.clone(),
        epoch: facts.snapshot.epoch,
        since: Time(facts.now()),
    })
}

fn write(facts: &Facts<'_>, job: Value, doing: Doing) -> Step {
    let status = json!({ "job": job, "epoch": facts.snapshot.epoch });
    let pointers = ["/status/turn/nonce", JOB_NONCE, "/status/epoch"];
    Step::compare_and_set(status, pointers.map(|p| seen(facts, p)).into(), doing)
}
