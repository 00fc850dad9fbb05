//! What needs the lock between regions: it waits until the lock is held, or says what is missing.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::facts::region::{Missing, Sharing};
use crate::words::region::{Problem, Waiting};
use palladion_plan::{Flow, LockFact};

/// What needs the lock and is no turn waits here until it is held.
pub fn waits(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    if facts.may_begin() {
        return false;
    }
    if report_missing(facts, draft).is_busy() {
        return true;
    }
    draft.wait_for(waiting_for(facts));
    true
}

/// The ring is shared, and there is no lock for it: a person has to act.
pub fn report_missing(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let Some(problem) = missing(facts) else { return Flow::Free };
    draft.report(problem);
    Flow::Busy
}

/// What is missing of the lock.
pub fn missing(facts: &Facts<'_>) -> Option<Problem> {
    match facts.sharing() {
        Sharing::Alone | Sharing::Shared(_) => None,
        Sharing::Missing(Missing::Choice) => Some(Problem::Choice),
        Sharing::Missing(Missing::Store) => Some(Problem::Store),
        Sharing::Missing(Missing::Region) => Some(Problem::Region),
    }
}

/// What is waited for where the lock is not held.
pub fn waiting_for(facts: &Facts<'_>) -> Waiting {
    match &facts.snapshot.lock {
        LockFact::HeldBy(holder) => Waiting::Held {
            region: holder.region.clone(),
            since: holder.since.into(),
            token: holder.token.clone(),
        },
        LockFact::Unknown { why } => Waiting::Unavailable { why: why.clone() },
        LockFact::Unasked | LockFact::Asking | LockFact::NotHeld | LockFact::Held { .. } => {
            Waiting::Asking
        }
    }
}
