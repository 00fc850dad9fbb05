//! A member that runs, cut off from the others, for longer than tombstones are kept: the
//! others forget deletions that it has not heard of, and nothing keeps it from bringing the
//! rows back, since its server need not start for that (safety rule 7.8). People are told.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::Problem;
use jiff::{SignedDuration, Timestamp};

/// `gc_grace_seconds` of a table where nobody has set it: ten days. It counts where no agent
/// reports what the tables have.
const GC_GRACE: SignedDuration = SignedDuration::from_hours(24 * 10);

/// Report a member that is away since then, by the records, and runs.
pub fn report(facts: &Facts<'_>, member: &MemberFact, since: Timestamp, draft: &mut Draft) {
    if !member.may_run() || !member.agent_answers(&facts.nodes) {
        return;
    }
    let Ok(at) = since.checked_add(kept(facts)) else {
        return;
    };
    if facts.now() < at {
        return draft.wake_at(at);
    }
    draft.report(Problem::CutOffTooLong { member: member.name.clone(), since });
}

/// For how long tables keep tombstones at least, by what agents report for schedules.
fn kept(facts: &Facts<'_>) -> SignedDuration {
    let repairs = facts.joined().filter_map(|m| m.status.repair.as_ref());
    let smallest = repairs.filter_map(|status| status.grace_seconds).min();
    smallest.map_or(GC_GRACE, |seconds| SignedDuration::from_secs(seconds.into()))
}
