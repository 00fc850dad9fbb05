//! A repair that its server reports as failed: a replica may have ended in its middle, which
//! costs one of the tries of the member that repairs, as the end of its own server does. Who
//! ended is known some seconds later, so the second try waits a little, and then until all
//! replicas are up.

use super::follow::{TRIES, end};
use super::read::Task;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::jobs::{Member as Said, Waiting};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{JobCause, JobState, JobStatus};
use palladion_api::task::{Body, MemberTaskState as State, TaskMember};

/// Until a server that has ended is seen down, or up again: twice what Cassandra's failure
/// detector takes with its defaults.
const PAUSE: SignedDuration = SignedDuration::from_secs(30);

/// Note that the part of a member is tried once more, if this answer is such a failure. What is
/// due is repaired segment by segment, and each is tried again by the agent itself.
pub fn note(
    facts: &Facts<'_>,
    (task, answer): (&Task<'_>, &JobStatus),
    entry: &mut TaskMember,
) -> bool {
    let work = task.spec.work.body();
    let is_it = work.is_some_and(|b| matches!(b, Body::Repair(_)) && !b.is_repair_of_due());
    let has_failed =
        answer.state == JobState::Failed && answer.cause == Some(JobCause::ServerError);
    if !is_it || !has_failed || entry.tries >= TRIES {
        return false;
    }
    let why = answer.message.clone().unwrap_or_default();
    end(facts, entry, State::Interrupted, &Said::Again { why });
    entry.ended_at = Some(Time(facts.now()));
    true
}

fn until(facts: &Facts<'_>, entry: &TaskMember) -> Option<Timestamp> {
    let ended = entry.ended_at.as_ref().filter(|_| entry.state == State::Interrupted)?;
    let until = facts.again(ended.0, None, PAUSE);
    (facts.now() < until).then_some(until)
}

/// It does not begin yet.
pub fn pause(facts: &Facts<'_>, entry: &TaskMember) -> Option<Waiting> {
    let until = until(facts, entry)?;
    Some(Waiting::Pause { member: entry.name.clone(), until })
}

/// Look again when it may begin.
pub fn wake(facts: &Facts<'_>, members: &[TaskMember], draft: &mut Draft) {
    members.iter().filter_map(|entry| until(facts, entry)).for_each(|at| draft.wake_at(at));
}
