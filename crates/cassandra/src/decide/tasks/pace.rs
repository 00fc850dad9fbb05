//! How much time the members of a repair of what is due have, so that they neither
//! end too late nor keep their clients waiting for no need.

use super::batches;
use super::follow::is_final;
use super::queue::Job;
use crate::facts::{Facts, MemberFact};
use jiff::Timestamp;
use palladion_api::task::Body;

/// What is due is repaired in this part of the time that is left until it is late.
const PART: (i64, i64) = (8, 10);

/// When the first range of these members is late, as they report it.
fn late_at<'a>(members: impl Iterator<Item = &'a MemberFact>) -> Option<Timestamp> {
    let times = members.filter_map(|m| m.status.repair.as_ref()?.behind_at.as_ref());
    times.map(|at| at.0).min()
}

/// Are ranges late? Then their repair comes before what can wait.
pub fn is_late(facts: &Facts<'_>) -> bool {
    late_at(facts.joined()).is_some_and(|at| at <= facts.now())
}

/// Seconds of work and pauses for each member that is begun now; none where it should
/// go as fast as it can, or where a person has said how fast.
pub fn seconds(facts: &Facts<'_>, job: &Job<'_>) -> Option<u32> {
    let work = &job.task.spec.work;
    let repair = work.repair.as_ref().filter(|repair| repair.intensity_percent.is_none())?;
    if !work.body().is_some_and(Body::is_repair_of_due) {
        return None;
    }
    let left = job.status.members.iter().filter(|entry| !is_final(entry.state));
    let members = left.clone().filter_map(|entry| facts.members.get(&entry.name));
    let late = late_at(members)?.duration_since(facts.now()).as_secs();
    let count = i64::try_from(left.count()).unwrap_or(i64::MAX).max(1);
    let copies = facts.joined().flat_map(|m| m.status.copies.values()).max();
    let copies = copies.map_or(1, |copies| i64::from(*copies)).max(1);
    let at_a_time = match batches::is_by_grants(job) {
        true => (count / copies).min(repair.parallel.map_or(i64::MAX, i64::from)).max(1),
        false => 1,
    };
    let each = late.checked_mul(PART.0)? / PART.1 * at_a_time / count;
    u32::try_from(each).ok().filter(|seconds| *seconds > 0)
}
