//! Tasks of a cluster that is being deleted, or is gone: nobody carries them out any
//! more, and whoever waits for one is told.

use super::end::Course;
use super::follow::is_final;
use super::read::{Task, is_over};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::jobs::{Failed, Member};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::task::MemberTaskState as State;
use palladion_plan::words::Reasoned;
use palladion_plan::{Object, Step};

/// End all tasks of this cluster that have not ended. That it is deleted stands in the
/// object itself, and is not taken back.
pub fn end_all(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let of_this = facts.objects(kinds::TASK).iter().filter(|o| {
        o.str_at("/spec/cluster") == Some(cluster) && !o.meta.is_terminating() && !is_over(o)
    });
    for object in of_this {
        let why = Failed::ClusterDeleted { cluster: cluster.into() };
        draft.steps.extend(end_one(object, why, facts.now()));
    }
}

/// End one task, saying why; `None` for one of another version of this kind.
pub fn end_one(object: &Object, why: Failed, now: Timestamp) -> Option<Step> {
    let task = Task::read(object)?;
    let mut status = task.status.clone();
    for entry in status.members.iter_mut().filter(|m| !is_final(m.state)) {
        entry.state = match entry.started_at {
            Some(_) => State::Failed,
            None => State::Skipped,
        };
        entry.reason = Some(Member::ClusterDeleted.reason().to_string());
        entry.message = Some(Member::ClusterDeleted.to_string());
        entry.ended_at = Some(Time(now));
    }
    let course = Course::Failed(why.into());
    let event = course.event(task.name());
    let event = event.map(|event| event.also_about(kinds::TASK, &object.meta));
    Some(task.write(now, status, &course)?.announced(event))
}
