//! Tasks of a ring for which nothing is decided: it is paused, or its spec is refused. Nobody
//! begins and nothing is granted; whoever works goes on. What a user takes back, or whose time
//! is over, ends all the same.

use super::abort::{is_ending, verdict};
use super::at_work::working;
use super::end::Course;
use super::queue::{self, Job, holds};
use super::read::{Task, is_over};
use super::run::{Line, Stands};
use super::{batches, go_on, replace, replication, report, rotate};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::jobs::Waiting;
use std::collections::BTreeSet;

/// Follow all tasks, and end what is to end.
pub fn hold(facts: &Facts<'_>, why: &Waiting, draft: &mut Draft) {
    replacements(facts, why, draft);
    rotate::hold(facts, why, draft);
    let held = facts.status.job.as_ref();
    let mut waiting = 0;
    for mut job in queue::read(facts) {
        replication::owe_repair_of_interrupted(facts, &job, draft);
        let ended = verdict(facts, &mut job);
        let course = match &ended {
            Some(ended) => ended.clone(),
            None => course(facts, &job, why, draft),
        };
        let is_in_line = ended.is_none() && !holds(held, job.task.uid());
        waiting += u32::from(is_in_line);
        let position = is_in_line.then_some(waiting);
        if ended.is_some() {
            replication::owe_repair(facts, &job, draft);
        }
        let line = Line { job, ended, stands: Stands::Queued };
        report::tell(facts, &line, (position, &course), draft);
    }
}

/// How a task goes that has not ended.
fn course(facts: &Facts<'_>, job: &Job<'_>, why: &Waiting, draft: &mut Draft) -> Course {
    go_on::wake(facts, job, draft);
    if is_ending(facts, job) {
        batches::ask_who_is_silent(facts, job, draft);
        let stopping = batches::end(facts, job, draft);
        return report::going(job, &stopping).unwrap_or_else(|| report::pending(job, why.clone()));
    }
    match working(facts, job, &BTreeSet::new(), Some(why)) {
        Some(said) => Course::Running(said.into()),
        None => report::pending(job, why.clone()),
    }
}

/// A replacement is carried out by a record and by turns, which wait.
fn replacements(facts: &Facts<'_>, why: &Waiting, draft: &mut Draft) {
    let cluster = &facts.snapshot.owner.meta.name;
    let open = facts.objects(kinds::TASK).iter().filter(|o| !is_over(o));
    for task in open.filter(|o| !o.meta.is_terminating()).filter_map(|o| Task::read(o)) {
        if let Some(wanted) = task.spec.replace.as_ref().filter(|_| task.spec.cluster == *cluster) {
            replace::hold(facts, &task, wanted, why, draft);
        }
    }
}
