//! A removal that does not come to its end is reported, with what a person can
//! do: nothing else changes the ring meanwhile. How long one takes nobody knows
//! beforehand, since all other members stream.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::remove::Problem;
use jiff::SignedDuration;
use palladion_plan::Trouble;

/// Long enough for terabytes at the default throughput of streams.
const AFTER: SignedDuration = SignedDuration::from_hours(6);

/// Report a removal that `helper` is carrying out and that has been on record for
/// too long, and look again when it will have been. Where nobody carries it out,
/// the message would not be true: the wait says what forbids it.
pub fn report(facts: &Facts<'_>, member: &MemberFact, helper: &MemberFact, draft: &mut Draft) {
    let Some(since) = member.removal().and_then(|r| r.since.as_ref()).map(|since| since.0) else {
        return;
    };
    match since.checked_add(AFTER).unwrap_or(since) {
        due if facts.now() >= due => {
            // It says more than that the Node of this member is gone.
            let (member, helper) = (member.name.clone(), helper.name.clone());
            let problem = Problem::Overdue { member, helper, since };
            draft.troubles.insert(0, Trouble::of(problem));
        }
        due => draft.wake_at(due),
    }
}
