//! A ring that begins with a backup takes no clients before all of it is there: they would not
//! find rows that are still to come, and what they write would be mixed with them. So each of its members is closed before its first start, and every start is,
//! also one by itself, until an order of the operator opens the member.

use super::{Action, Facts, Start, StopWhy, VolumeFact, rebuild};
use crate::render::{Door, Entry};
use crate::volume::ledger::{Ledger, Membership};

/// How a start is made that need not be sealed.
pub fn door(facts: &Facts<'_>, start: &Start) -> Door {
    match noted_before(start, noted(facts)) {
        true => Door::Closed,
        false => rebuild::door(facts, &start.cause),
    }
}

/// Is it noted before a start that the member is closed? Who enters a ring as new, and not by
/// a restore, has nothing to do with an earlier restore on this volume.
pub fn noted_before(start: &Start, noted: bool) -> bool {
    if let Entry::Restore { .. } = start.identity.entry {
        return true;
    }
    noted && !start.cause.enters_as_new()
}

/// A closed server whose member was opened is stopped, and then starts for clients.
pub fn ends(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    // Before, a stop would be a failed try of the permit.
    let is_on_record = ledger.membership == Membership::Joined;
    (facts.closed && is_on_record && !noted(facts)).then_some(Action::Stop(StopWhy::Opens))
}

fn noted(facts: &Facts<'_>) -> bool {
    match &facts.volume {
        VolumeFact::Found(found) => found.note.closed,
        // None is started on it, and none that runs is stopped for it.
        VolumeFact::Unreadable(_) => true,
    }
}
