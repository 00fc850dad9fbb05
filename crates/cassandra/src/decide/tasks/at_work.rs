//! What a task says while members have their parts of it: who is at work, or why nobody is.

use super::batches::{holds, is_by_grants, unheard_elsewhere};
use super::preconditions::knows_grants;
use super::queue::Job;
use super::units;
use crate::decide::evidence::given::asked;
use crate::decide::evidence::left_running as left;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::{Waiting, Working};
use palladion_api::ids::MemberName;
use palladion_api::member::JobWanted;
use palladion_plan::words::{Count, Names};
use std::collections::BTreeSet;

/// What is told while somebody has a part. Whoever is granted nothing does not work: where
/// that is everybody, what they wait for is told, or what comes before jobs.
pub fn working(
    facts: &Facts<'_>,
    job: &Job<'_>,
    granted: &BTreeSet<MemberName>,
    first: Option<&Waiting>,
) -> Option<Working> {
    let (work, names) = (job.kind.into(), job.running().map(|entry| entry.name.clone()));
    let names: Vec<_> = names.collect();
    let is_stopped = |name| {
        let wanted = facts.members.get(name).and_then(asked).map(|job| job.wanted);
        wanted == Some(JobWanted::Stop)
    };
    let (done, members) = (job.done(), Count::of(job.status.members.len(), "member"));
    match names.as_slice() {
        [] => None,
        [first, ..] if is_stopped(first) => Some(Working::Yields { work, member: first.clone() }),
        all if is_by_grants(job) && !all.iter().any(|name| is_at_it(facts, name, granted)) => {
            Some(nobody(job, first.cloned().unwrap_or_else(|| withheld(facts, job))))
        }
        [member] => Some(Working::Member { work, member: member.clone(), done, members }),
        names => Some(Working::Members { work, at_work: Names::of(names), done, members }),
    }
}

/// It has the job, and nobody repairs.
pub fn nobody(job: &Job<'_>, why: Waiting) -> Working {
    let (done, members) = (job.done(), Count::of(job.status.members.len(), "member"));
    Working::Nobody { work: job.kind.into(), why, done, members }
}

/// Does it repair now? One whose agent knows no grants does so with its part.
fn is_at_it(facts: &Facts<'_>, name: &MemberName, granted: &BTreeSet<MemberName>) -> bool {
    let repairs = |member: &MemberFact| {
        let is_left = left::held_until(facts, member).is_some();
        !knows_grants(member) || holds(facts, member).is_some() && !is_left
    };
    granted.contains(name) || facts.members.get(name).is_some_and(repairs)
}

/// Why nobody is granted anything.
fn withheld(facts: &Facts<'_>, job: &Job<'_>) -> Waiting {
    if let Some(waiting) = left::anywhere(facts) {
        return waiting;
    }
    if let Some(members) = units::of_others(facts, job.task.uid()) {
        return Waiting::OfAnother { members };
    }
    match unheard_elsewhere(facts, job) {
        Some(member) => Waiting::NotEnded { member: member.name.clone() },
        None => {
            let members = Names::of(job.running().map(|entry| &entry.name));
            Waiting::NothingOffered { members }
        }
    }
}
