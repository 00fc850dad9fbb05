//! Which task goes before the one that has the job. A repair of what is due has time,
//! as long as nothing is late: what people ask for goes first. Once it is late, it
//! goes before work that rewrites data, between two members.

use super::abort::is_ending;
use super::pace::is_late;
use super::pass::can_go_on;
use super::preconditions::closed;
use super::queue::Job;
use super::run::Line;
use super::units::is_stoppable;
use super::yields::Way;
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::task::{Body, TaskKind};

fn is_of_due(job: &Job<'_>) -> bool {
    job.task.spec.work.body().is_some_and(Body::is_repair_of_due)
}

/// What can be stopped rewrites data, but for a repair.
fn rewrites(kind: TaskKind) -> bool {
    is_stoppable(kind) && kind != TaskKind::Repair
}

/// Who goes before the one that has the job, if anybody does.
pub fn passes(
    facts: &Facts<'_>,
    valid: &Valid,
    way: &Way,
    (lines, holder): (&[Line<'_>], usize),
) -> Option<usize> {
    let held = &lines[holder].job;
    if closed(facts, way).is_some() || is_ending(facts, held) {
        return None;
    }
    let goes_before = |job: &Job<'_>| match (is_of_due(held), is_of_due(job), is_late(facts)) {
        (true, false, false) => true,
        (false, true, true) => rewrites(held.kind),
        (true, true, _) | (true, false, true) | (false, true, false) | (false, false, _) => false,
    };
    let can = |(at, line): &(usize, &Line<'_>)| {
        let job = &line.job;
        *at != holder && line.ended.is_none() && goes_before(job) && can_go_on(facts, valid, job)
    };
    lines.iter().enumerate().find(can).map(|(at, _)| at)
}
