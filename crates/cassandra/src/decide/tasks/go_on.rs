//! The task that has the ring's job goes on: its next member is given its part,
//! or the one that works is followed.

use super::abort::is_ending;
use super::batches;
use super::follow::{self, lost_at, unheard_at};
use super::give::{give, stop};
use super::next_member::next;
use super::once_more;
use super::preconditions::{Gate, closed, gate};
use super::queue::Job;
use super::run::{Stands, take_up};
use super::silent;
use super::units;
use super::yields::Way;
use crate::decide::draft::Draft;
use crate::decide::evidence::given::asked;
use crate::decide::evidence::left_running as left;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::jobs::{Waiting, Working};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::JobWanted;
use palladion_api::task::{Means, MemberTaskState as State, TaskMember};
use palladion_plan::words::Count;

/// Go on with the task that has the job.
pub fn go_on(
    facts: &Facts<'_>,
    valid: &Valid,
    way: &Way,
    job: &mut Job<'_>,
    draft: &mut Draft,
) -> Stands {
    take_up(facts, valid, job);
    if batches::is_by_grants(job) {
        return batches::go_on(facts, valid, closed(facts, way), job, draft);
    }
    if job.is_at_work() {
        return working(facts, job, draft);
    }
    left::wake(facts, draft);
    once_more::wake(facts, &job.status.members, draft);
    if let Some(why) = closed(facts, way) {
        return Stands::Waiting(why);
    }
    if let Some(members) = units::of_others(facts, job.task.uid()) {
        return Stands::Waiting(Waiting::OfAnother { members });
    }
    while let Some((place, entry)) = next(&job.status.members) {
        match gate(facts, valid, job, entry) {
            Gate::Skip(why) => {
                follow::end(facts, &mut job.status.members[place], State::Skipped, &why);
            }
            Gate::Wait(why) => return Stands::Waiting(why),
            Gate::Open(member, proof) => {
                let entry = entry.clone();
                if job.kind.means() == Means::Job {
                    let step = give(facts, job, (place, &entry), (member, proof.as_ref()));
                    let Some(step) = step else { return Stands::Due };
                    // Before it is recorded: what was not given costs no try.
                    draft.steps.push(step);
                }
                begin(facts, &mut job.status.members[place], member);
                return Stands::Working(words(job, &entry));
            }
        }
    }
    // All are done; the next decision sees it.
    Stands::Due
}

/// It is on record as begun.
pub(super) fn begin(facts: &Facts<'_>, entry: &mut TaskMember, member: &MemberFact) {
    entry.state = State::Running;
    entry.tries += 1;
    entry.host_id = member.recorded_host_id().cloned();
    entry.started_at = Some(Time(facts.now()));
    (entry.reason, entry.message, entry.ended_at) = (None, None, None);
}

fn words(job: &Job<'_>, entry: &TaskMember) -> Working {
    let members = Count::of(job.status.members.len(), "member");
    let done = job.done();
    Working::Member { work: job.kind.into(), member: entry.name.clone(), done, members }
}

/// Look again when a member's time is over.
pub fn wake(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    for entry in job.running() {
        let times = [
            lost_at(&job.task, job.kind, entry),
            unheard_at(&job.task, job.kind, entry),
            silent::until(facts, &job.task, entry),
        ];
        let later = times.into_iter().flatten().filter(|at| *at > facts.now());
        later.for_each(|at| draft.wake_at(at));
    }
}

/// A member works: it is followed, or stopped.
fn working(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) -> Stands {
    let Some(entry) = job.running().next() else {
        return Stands::Due;
    };
    wake(facts, job, draft);
    let member = facts.members.get(&entry.name);
    let (work, name) = (job.kind.into(), entry.name.clone());
    if is_ending(facts, job) {
        draft.steps.extend(member.and_then(|m| stop(facts, m)));
        return Stands::Working(match job.task.spec.abort {
            true => Working::Stopping { work, member: name },
            false => Working::OverTime { work, member: name },
        });
    }
    let is_stopped = member.and_then(asked).is_some_and(|job| job.wanted == JobWanted::Stop);
    Stands::Working(match is_stopped {
        true => Working::Yields { work, member: name },
        false => words(job, entry),
    })
}
