//! No cleanup begins while a member may lack what others have: a joiner of which a coordinator
//! had not heard was not sent what that one wrote, and until the joiner is repaired the rows
//! that others would drop may be all that there are (safety rule 5.3).

use super::debts;
use super::orders::words;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::Waiting;
use jiff::Timestamp;
use palladion_api::member::{Debt, DebtKind};

/// What was not tried yet, and what failed.
type Pending<'p, 'a> =
    (&'p mut Vec<(&'a MemberFact, &'a Debt)>, &'p mut Vec<(Timestamp, &'a MemberFact, &'a Debt)>);

/// A member with a pending repair of all its ranges. What only a newer operator knows, and would
/// carry out, holds up nothing.
pub fn member<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberFact> {
    let is_one = |debt: &Debt| debt.kind == DebtKind::Repair && debts::may_lack(debt);
    let mut members = facts.members.values().filter(|m| !m.is_gone());
    members.find(|m| m.spec.iter().flat_map(|s| &s.pending_maintenance).any(is_one))
}

/// Take cleanups out of what can be begun.
pub(super) fn hold_cleanups(
    lacking: &MemberFact,
    (untried, failed): Pending<'_, '_>,
    draft: &mut Draft,
) {
    let held = untried.iter().find(|(_, debt)| debt.kind == DebtKind::Cleanup).copied();
    untried.retain(|(_, debt)| debt.kind != DebtKind::Cleanup);
    failed.retain(|(_, _, debt)| debt.kind != DebtKind::Cleanup);
    if let Some((member, debt)) = held {
        let (work, name, cause) = words(member, debt);
        let lacking = lacking.name.clone();
        let waiting = Waiting::BehindRepair { work, member: name, lacking, cause };
        draft.wait_for(waiting).about(member.subject());
    }
}
