//! Which tasks of a schedule are kept when they have ended.

use super::read::{Schedule, ended, ended_at, of_the_ring};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::schedules::Doing;
use palladion_api::task::TaskPhase;
use palladion_plan::{Loss, Object, Step};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Delete what is beyond the limits of the schedule, the oldest first. The last of
/// each kind stays: it says how that kind of work went.
pub(super) fn tidy(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    tasks: &[&Arc<Object>],
    draft: &mut Draft,
) {
    let (mut done, mut failed): (Vec<&Object>, Vec<&Object>) = tasks
        .iter()
        .map(|task| task.as_ref())
        .filter(|task| ended_at(task).is_some() && !task.meta.is_terminating())
        .partition(|task| ended(task) == Some(TaskPhase::Done));
    let kept = last_of_each_kind(facts);
    for (tasks, limit) in [
        (&mut done, schedule.spec.successful_tasks_history_limit),
        (&mut failed, schedule.spec.failed_tasks_history_limit),
    ] {
        tasks.sort_by_key(|task| newest_first(task));
        let beyond = tasks.iter().skip(usize::try_from(limit).unwrap_or(usize::MAX));
        let beyond = beyond.filter(|task| !kept.contains(task.meta.name.as_str()));
        for task in beyond.rev() {
            if !is_deleted(task, draft) {
                draft.steps.push(delete(schedule, task));
            }
        }
    }
}

fn newest_first(task: &Object) -> impl Ord + use<> {
    (Reverse(ended_at(task)), task.meta.name.clone())
}

/// The names of the tasks that ended last, one of each kind.
fn last_of_each_kind<'a>(facts: &'a Facts<'_>) -> BTreeSet<&'a str> {
    let mut ended: Vec<&Object> =
        of_the_ring(facts).map(AsRef::as_ref).filter(|task| ended_at(task).is_some()).collect();
    ended.sort_by_key(|task| newest_first(task));
    let mut seen = BTreeSet::new();
    let last = ended.into_iter().filter(|task| seen.insert(task.str_at("/status/kind")));
    last.map(|task| task.meta.name.as_str()).collect()
}

/// Its time may have come besides.
fn is_deleted(task: &Object, draft: &Draft) -> bool {
    draft.steps.iter().any(|step| match step {
        Step::Delete { key, .. } => {
            key.resource == kinds::TASK
                && key.name == task.meta.name
                && key.namespace == task.meta.namespace
        }
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::CompareAndSet { .. }
        | Step::Issue { .. } => false,
    })
}

/// As it was seen: whoever changes the task in that moment keeps it.
fn delete(schedule: &Schedule<'_>, task: &Object) -> Step {
    let (task_name, schedule) = (task.meta.name.clone(), schedule.name().to_string());
    let doing = Doing::Delete { task: task_name, schedule };
    Step::delete_as_seen(kinds::TASK, &task.meta, Loss::Nothing, doing)
}
