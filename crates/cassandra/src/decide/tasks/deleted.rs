//! Tasks of a cluster that is being deleted: nobody carries them out any more, and
//! whoever waits for one is told. That it is deleted stands in the object itself,
//! and is not taken back.

use super::end::Course;
use super::follow::{end, is_final};
use super::read::{Task, is_over};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::jobs::{Failed, Member};
use palladion_api::task::MemberTaskState as State;

/// End all tasks of this cluster that have not ended.
pub fn end_all(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let open = facts.objects(kinds::TASK).iter().filter(|o| {
        o.str_at("/spec/cluster") == Some(cluster) && !o.meta.is_terminating() && !is_over(o)
    });
    for task in open.filter_map(|object| Task::read(object)) {
        let mut status = task.status.clone();
        for entry in status.members.iter_mut().filter(|m| !is_final(m.state)) {
            let state = match entry.started_at {
                Some(_) => State::Failed,
                None => State::Skipped,
            };
            end(facts, entry, state, &Member::ClusterDeleted);
        }
        let course = Course::Failed(Failed::ClusterDeleted { cluster: cluster.into() }.into());
        let event = course.event(task.name());
        let event = event.map(|event| event.also_about(kinds::TASK, &task.object.meta));
        let step = task.write(facts, status, &course);
        draft.steps.extend(step.map(|step| step.announced(event)));
    }
}
