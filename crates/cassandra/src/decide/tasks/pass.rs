//! Who has the ring's job next. A task that can only wait lets others pass after
//! a while and keeps its place: else a dead member would hold up all of them.

use super::batches;
use super::follow::is_final;
use super::next_member::next as next_member;
use super::preconditions::{Gate, closed, gate};
use super::queue::Job;
use super::run::{Line, Stands};
use super::units;
use super::yields::Way;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use palladion_api::task::TaskMember;

/// How long a task can only wait before it lets others pass.
pub(super) const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Who has the job next.
pub enum Next {
    /// Whoever has it, if anybody has.
    Stays,
    /// This task.
    Passes(usize),
    /// Nobody.
    Released,
}

/// Who has the job next?
pub fn next(
    facts: &Facts<'_>,
    valid: &Valid,
    way: &Way,
    (lines, holder, passer): (&[Line<'_>], Option<usize>, Option<usize>),
    draft: &mut Draft,
) -> Next {
    if let (Some(at), Some(to)) = (holder, passer) {
        return if lines[at].job.is_at_work() { Next::Stays } else { Next::Passes(to) };
    }
    if let Some(at) = holder {
        match lets_pass_at(facts, &lines[at]) {
            None => return Next::Stays,
            Some(end) if facts.now() < end => {
                draft.wake_at(end);
                return Next::Stays;
            }
            Some(_) => {}
        }
    }
    let can = |(at, line): &(usize, &Line<'_>)| {
        Some(*at) != holder && line.ended.is_none() && can_go_on(facts, valid, &line.job)
    };
    let is_free = closed(facts, way).is_none();
    let found = lines.iter().enumerate().filter(|_| is_free).find(can);
    match (found, facts.status.job.is_some()) {
        (Some((at, _)), _) => Next::Passes(at),
        (None, true) => Next::Released,
        (None, false) => Next::Stays,
    }
}

/// When a task that can only wait lets others pass. Waiting for a turn or for
/// maintenance is none of its doing.
fn lets_pass_at(facts: &Facts<'_>, line: &Line<'_>) -> Option<Timestamp> {
    match line.stands {
        Stands::Waiting(_) => patience_ends(facts, &line.job.status.members),
        Stands::Queued | Stands::Working(_) | Stands::Due => None,
    }
}

/// Until when the task that has the job has patience with these members of it.
pub(super) fn patience_ends(facts: &Facts<'_>, members: &[TaskMember]) -> Option<Timestamp> {
    let held = facts.status.job.as_ref()?;
    let ends = members.iter().filter_map(|m| m.ended_at.as_ref());
    // A leader's clock that was ahead may have written them.
    ends.chain([&held.since]).map(|t| facts.again(t.0, None, PATIENCE)).max()
}

/// One that was not taken up yet is, whatever it then waits for; one that has let
/// others pass, or was interrupted, only where it can go on.
pub fn can_go_on(facts: &Facts<'_>, valid: &Valid, job: &Job<'_>) -> bool {
    if !job.is_taken_up() || job.is_at_work() {
        return true;
    }
    if units::of_others(facts, job.task.uid()).is_some() {
        return false;
    }
    let can = |entry: &TaskMember| match gate(facts, valid, job, entry) {
        Gate::Open(..) | Gate::Skip(_) => true,
        Gate::Wait(_) => false,
    };
    match batches::is_by_grants(job) {
        true => {
            let mut left = job.status.members.iter().filter(|entry| !is_final(entry.state));
            left.clone().next().is_none() || left.any(can)
        }
        false => next_member(&job.status.members).is_none_or(|(_, entry)| can(entry)),
    }
}
