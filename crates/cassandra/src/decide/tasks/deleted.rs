//! Tasks of a cluster that is being deleted, is gone or was never there: nobody carries them out any
//! more, and whoever waits for one is told.

use super::end::Course;
use super::follow::{end_at, is_final};
use super::queue::open;
use super::read::Task;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::jobs::{Failed, Member, Waiting};
use jiff::Timestamp;
use palladion_api::task::MemberTaskState as State;
use palladion_plan::{Object, Step};

/// End all tasks of this cluster that have not ended. That it is deleted stands in the
/// object itself, and is not taken back.
pub fn end_all(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    for object in open(facts) {
        let why = Failed::ClusterDeleted { cluster: cluster.into() };
        draft.steps.extend(end_one(object, why, facts.now()));
    }
}

/// Its cluster has never been there: that is said, and waited for.
pub fn say_without_cluster(object: &Object, why: Waiting, now: Timestamp) -> Option<Step> {
    let task = Task::read(object)?;
    task.write(now, task.status.clone(), &Course::Waiting(why.into()))
}

/// End one task, saying why; `None` for one of another version of this kind.
pub fn end_one(object: &Object, why: Failed, now: Timestamp) -> Option<Step> {
    let task = Task::read(object)?;
    let mut status = task.status.clone();
    for entry in status.members.iter_mut().filter(|m| !is_final(m.state)) {
        let state = match entry.started_at {
            Some(_) => State::Failed,
            None => State::Skipped,
        };
        end_at(now, entry, state, &Member::ClusterDeleted);
    }
    let course = Course::Failed(why.into());
    let event = course.event(task.name());
    let event = event.map(|event| event.also_about(kinds::TASK, &object.meta));
    Some(task.write(now, status, &course)?.announced(event))
}
