//! How a task comes to its end: for all its members, at its first failure, at
//! its deadline, or because a person aborts it.

use super::end::Course;
use super::follow::{end, is_final, is_over_time};
use super::queue::Job;
use crate::facts::Facts;
use crate::words::jobs::{Aborted, Done, Failed, Member, Partial};
use palladion_api::task::{MemberTaskState as State, OnFailure, TaskMember};
use palladion_plan::words::{Count, Names};

/// Does it begin no further member: it is aborted, or its time is over?
pub fn is_ending(facts: &Facts<'_>, job: &Job<'_>) -> bool {
    job.task.spec.abort || is_over_time(facts, &job.task)
}

/// How the task has ended, if it has; its members are told then.
pub fn verdict(facts: &Facts<'_>, job: &mut Job<'_>) -> Option<Course> {
    if job.is_at_work() {
        return None;
    }
    let members = &job.status.members;
    if !members.is_empty() && members.iter().all(|m| is_final(m.state)) {
        return Some(over(job));
    }
    if job.task.spec.abort {
        return Some(aborted(facts, job));
    }
    if is_over_time(facts, &job.task) {
        let rest = |entry: &mut TaskMember| end(facts, entry, State::Failed, &Member::TaskTooLong);
        job.status.members.iter_mut().filter(|m| !is_final(m.state)).for_each(rest);
        let (work, done, members) = (job.kind.into(), job.done(), count(job));
        return Some(Course::Failed(Failed::Deadline { work, done, members }.into()));
    }
    let failed = members.iter().find(|m| m.state == State::Failed)?.clone();
    match job.task.spec.on_failure {
        OnFailure::Continue => None,
        OnFailure::Stop => {
            let rest =
                |entry: &mut TaskMember| end(facts, entry, State::Skipped, &Member::NotBegun);
            job.status.members.iter_mut().filter(|m| !is_final(m.state)).for_each(rest);
            Some(failed_at(job, &failed))
        }
    }
}

fn count(job: &Job<'_>) -> Count {
    Count::of(job.status.members.len(), "member")
}

fn aborted(facts: &Facts<'_>, job: &mut Job<'_>) -> Course {
    let work = job.kind.into();
    if !job.has_begun() {
        job.status.members.clear();
        return Course::Aborted(Aborted::Never { work }.into());
    }
    let rest = |entry: &mut TaskMember| end(facts, entry, State::Aborted, &Member::Aborted);
    job.status.members.iter_mut().filter(|m| !is_final(m.state)).for_each(rest);
    let (done, members) = (job.done(), count(job));
    Course::Aborted(Aborted::After { work, done, members }.into())
}

/// Every member has ended.
fn over(job: &Job<'_>) -> Course {
    let (work, done, members) = (job.kind.into(), job.done(), count(job));
    let all = &job.status.members;
    if done == all.len() {
        return Course::Done(Done::All { work, members }.into());
    }
    if all.iter().any(|m| m.state == State::Aborted) {
        return Course::Aborted(Aborted::After { work, done, members }.into());
    }
    let failed = all.iter().find(|m| m.state == State::Failed);
    match (failed, job.task.spec.on_failure) {
        (Some(failed), OnFailure::Stop) => failed_at(job, failed),
        (Some(failed), OnFailure::Continue) if done == 0 => {
            let (member, why) = (failed.name.clone(), why(failed));
            Course::Failed(Failed::All { work, member, why }.into())
        }
        (Some(_), OnFailure::Continue) | (None, _) => {
            let left = all.iter().filter(|m| m.state != State::Succeeded).map(|m| &m.name);
            let left = Names::of(left);
            Course::Partial(Partial::Of { work, done, members, left }.into())
        }
    }
}

fn failed_at(job: &Job<'_>, failed: &TaskMember) -> Course {
    let (work, member, why) = (job.kind.into(), failed.name.clone(), why(failed));
    Course::Failed(Failed::Member { work, member, why }.into())
}

fn why(failed: &TaskMember) -> String {
    failed.message.clone().or(failed.reason.clone()).unwrap_or_default()
}
