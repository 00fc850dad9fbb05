//! One decision about the queue: what has ended, which task has the ring's job,
//! and which member is given its part next.

use super::abort::verdict;
use super::end::Course;
use super::follow::follow;
use super::next_member::{chosen, entries};
use super::pass::{Next, next};
use super::passing::passes;
use super::queue::{self, Job, holds};
use super::refusals::not_of_scylla;
use super::yields::Way;
use super::{batches, claim, go_on, remove_datacenter, replication, report, tidy};
use crate::decide::draft::Draft;
use crate::decide::turn::epoch;
use crate::facts::{Facts, KNOWS_DATACENTERS, KNOWS_DEPARTURES};
use crate::validate::Valid;
use crate::words::jobs::{Doing, Waiting, Working};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::task::TaskKind;
use palladion_plan::Step;
use palladion_plan::words::Names;

/// A task of the queue in this decision.
pub struct Line<'a> {
    /// The task.
    pub job: Job<'a>,
    /// How it has ended, if it has.
    pub ended: Option<Course>,
    /// What it is at.
    pub stands: Stands,
}

/// What a task is at.
#[derive(Clone)]
pub enum Stands {
    /// It waits in the queue.
    Queued,
    /// It has the job, and a member works.
    Working(Working),
    /// It has the job, or would have it, and waits.
    Waiting(Waiting),
    /// It has the job, and goes on with the next decision.
    Due,
}

/// Follow all tasks of the queue, and go on with the one whose turn it is.
pub fn decide(facts: &Facts<'_>, valid: &Valid, way: &Way, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    let mut lines: Vec<Line<'_>> = Vec::new();
    for mut job in queue::read(facts) {
        if is_refused(facts, valid, &job, draft) {
            continue;
        }
        replication::owe_repair_of_interrupted(facts, &job, draft);
        let ended = verdict(facts, &mut job);
        lines.push(Line { job, ended, stands: Stands::Queued });
    }
    let held = facts.status.job.as_ref();
    let is_holder = |line: &Line<'_>| holds(held, line.job.task.uid());
    let mut holder = lines.iter().position(|line| is_holder(line) && line.ended.is_none());
    let mut passer = None;
    if let Some(at) = holder {
        passer = passes(facts, valid, way, (&lines, at));
        // Work that is not ended is followed to its end.
        let job = &lines[at].job;
        let is_followed = job.is_at_work() && job.kind != TaskKind::Repair;
        let first = passer.filter(|_| !is_followed);
        lines[at].stands = match first.map(|to| lines[to].job.task.name().to_string()) {
            Some(task) => make_room(facts, &lines[at].job, task, draft),
            None => go_on::go_on(facts, valid, way, &mut lines[at].job, draft),
        };
        // Whoever was left out last ends the task: nothing else would write it.
        lines[at].ended = verdict(facts, &mut lines[at].job);
        holder = holder.filter(|at| lines[*at].ended.is_none());
    }
    let mut claim = None;
    match next(facts, valid, way, (&lines, holder, passer), draft) {
        Next::Stays => {}
        Next::Passes(to) => {
            claim = Some(claim::take(facts, &lines[to].job));
            lines[to].stands = Stands::Due;
            if let Some(from) = holder {
                lines[from].stands = Stands::Queued;
            }
            holder = Some(to);
        }
        Next::Released => claim = Some(release(facts, holder.map(|at| &lines[at]))),
    }
    for line in lines.iter().filter(|line| line.ended.is_some()) {
        replication::owe_repair(facts, &line.job, draft);
    }
    report::report(facts, valid, way, (&lines, holder), draft);
    // Before the job passes on: these are fenced on its nonce as it was seen.
    tidy::tidy(facts, &lines, draft);
    draft.steps.extend(claim);
}

/// Another task goes first: a repair is stopped, and goes on afterwards.
fn make_room(facts: &Facts<'_>, job: &Job<'_>, task: String, draft: &mut Draft) -> Stands {
    if !job.is_at_work() {
        return Stands::Due;
    }
    go_on::wake(facts, job, draft);
    batches::ask_who_is_silent(facts, job, draft);
    batches::stop_all(facts, job, draft);
    let (work, members) = (job.kind.into(), Names::of(job.running().map(|entry| &entry.name)));
    Stands::Working(Working::LetsPass { work, members, task })
}

/// Its members go on record, so that whoever joins later is not among them.
pub fn take_up(facts: &Facts<'_>, valid: &Valid, job: &mut Job<'_>) {
    if job.is_taken_up() {
        return;
    }
    if let Ok(names) = chosen(facts, valid, &job.task.spec) {
        let names = match job.kind {
            TaskKind::Replication => replication::writer(facts, names, KNOWS_DATACENTERS),
            TaskKind::RemoveDatacenter => replication::writer(facts, names, KNOWS_DEPARTURES),
            TaskKind::Repair
            | TaskKind::Cleanup
            | TaskKind::Compact
            | TaskKind::GarbageCollect
            | TaskKind::Scrub
            | TaskKind::UpgradeSstables
            | TaskKind::Flush
            | TaskKind::Snapshot
            | TaskKind::ClearSnapshot
            | TaskKind::SetLogLevel
            | TaskKind::Restart
            | TaskKind::Drain
            | TaskKind::Replace
            | TaskKind::RotateAuthority => names,
        };
        job.status.members = entries(names);
        job.status.started_at = Some(Time(facts.now()));
        // A leader that ended before it had recorded them may have given one its part.
        let status = std::mem::take(&mut job.status);
        job.status = follow(facts, &job.task, job.kind, status);
    }
}

/// Nobody has the job any more: its task has ended, or can only wait.
fn release(facts: &Facts<'_>, waits: Option<&Line<'_>>) -> Step {
    let task = facts.status.job.as_ref().and_then(|j| j.task.clone()).unwrap_or_default();
    match waits {
        Some(line) => claim::give_back(facts, &line.job, &line.stands),
        None => claim::release(facts, Doing::Release { task }, None),
    }
}

/// A task that cannot be done as it stands, and that nobody has begun.
fn is_refused(facts: &Facts<'_>, valid: &Valid, job: &Job<'_>, draft: &mut Draft) -> bool {
    if job.is_taken_up() || !facts.ring_exists() || job.task.spec.abort {
        return false;
    }
    let of_mode = not_of_scylla(valid, job.kind);
    let why = of_mode.or_else(|| replication::refused(facts, valid, &job.task));
    let why = why.or_else(|| remove_datacenter::refused(facts, valid, &job.task));
    let Some(why) = why.or_else(|| chosen(facts, valid, &job.task.spec).err()) else {
        return false;
    };
    job.task.refuse(facts, why, draft);
    true
}
