//! How much time the members of a repair of what is due have, so that they neither
//! end too late nor keep their clients waiting for no need.

use super::batches;
use super::follow::{deadline, is_final, over_time_at};
use super::queue::Job;
use crate::facts::{Facts, MemberFact};
use jiff::Timestamp;
use palladion_api::task::Body;

/// What is due is repaired in this part of the time that is left until it is late.
const PART: (i64, i64) = (8, 10);

/// When the first range of this member is late, as it reports it.
fn late_at(member: &MemberFact) -> Option<Timestamp> {
    member.status.repair.as_ref()?.behind_at.as_ref().map(|at| at.0)
}

/// Are ranges late? Then their repair comes before what can wait. No haste helps the ranges
/// of a member that is down.
pub fn is_late(facts: &Facts<'_>) -> bool {
    let mut up = facts.joined().filter(|m| m.lives_by_its_own_word(&facts.nodes));
    up.any(|member| late_at(member).is_some_and(|at| at <= facts.now()))
}

/// Seconds of work and pauses for this member, which is begun now; none where it should
/// go as fast as it can, because ranges of its own are late, or where a person has said how
/// fast. That others are late, or are down and late, hastens nobody.
pub fn seconds(facts: &Facts<'_>, job: &Job<'_>, member: &MemberFact) -> Option<u32> {
    let work = &job.task.spec.work;
    let repair = work.repair.as_ref().filter(|repair| repair.intensity_percent.is_none())?;
    if !work.body().is_some_and(Body::is_repair_of_due) {
        return None;
    }
    let left = job.status.members.iter().filter(|entry| !is_final(entry.state));
    let in_time = |at: &Timestamp| *at > facts.now();
    if late_at(member).is_some_and(|at| !in_time(&at)) {
        return None;
    }
    let members = left.clone().filter_map(|entry| facts.members.get(&entry.name));
    let each_late_at = members.filter_map(late_at).filter(in_time);
    let until = [Some(each_late_at.min()?), over_time_at(&job.task)].into_iter().flatten().min()?;
    let time = until.duration_since(facts.now()).as_secs();
    let count = u32::try_from(left.count()).unwrap_or(u32::MAX).max(1);
    let deadline = i64::from(deadline(&job.task, job.kind));
    let each = match batches::is_by_grants(job) {
        true => {
            let copies = facts.joined().flat_map(|m| m.status.copies.values()).max();
            let at_a_time = at_a_time(count, copies.copied().unwrap_or(1), repair.parallel);
            // All are begun now, and wait for each other within their deadlines.
            part(time.min(deadline))? * i64::from(at_a_time) / i64::from(count)
        }
        false => (part(time)? / i64::from(count)).min(part(deadline)?),
    };
    u32::try_from(each).ok().filter(|seconds| *seconds > 0)
}

fn part(seconds: i64) -> Option<i64> {
    Some(seconds.checked_mul(PART.0)? / PART.1)
}

/// So many of these members repair at a time. It is about half of what the copies allow: the
/// first ranges that have to wait keep their members free, who do nothing until then.
fn at_a_time(count: u32, copies: u32, parallel: Option<u32>) -> u32 {
    let allowed = count / copies.max(1);
    allowed.div_ceil(2).min(parallel.unwrap_or(u32::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_copies_allow_repair_at_a_time() {
        let counted = [(1, 3), (3, 3), (6, 3), (9, 3), (12, 3), (30, 3), (4, 0)];
        let found = counted.map(|(count, copies)| at_a_time(count, copies, None));
        assert_eq!(found, [1, 1, 1, 2, 2, 5, 2]);
        assert_eq!(at_a_time(30, 3, Some(2)), 2);
        assert_eq!(at_a_time(30, 3, Some(9)), 5);
    }

    #[test]
    fn a_fifth_of_the_time_is_left_over() {
        assert_eq!(part(1000), Some(800));
        assert_eq!(part(i64::MAX), None);
        assert_eq!(part(i64::from(u32::MAX)), Some(3_435_973_836), "no deadline");
    }
}
