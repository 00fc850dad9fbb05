//! Pending maintenance that somebody took off a member before it was carried out. Nothing
//! waits for it from then on, so it is told (safety rule 5.3).

use super::debts;
use super::orders::{ordered, prefix};
use crate::facts::{ClaimFact, MemberFact};
use crate::words::maintenance::Happened;
use palladion_api::member::{Debt, OperationState};
use palladion_api::reasons::Reason;
use palladion_plan::{Event, EventType};

/// What is told when the claim's note follows the member's: the operator takes an
/// entry off only when its operation has succeeded, and that is reported until the next. One that
/// left a lost member out leaves the entry.
pub fn of(member: &MemberFact, claim: &ClaimFact) -> Option<Event> {
    let pending = &member.spec.as_ref()?.pending_maintenance;
    let is_done = |debt: &Debt| {
        let last = member.status.operation.as_ref();
        let is_partial = ordered(member, debt).is_some_and(|o| o.target.is_some());
        last.is_some_and(|o| {
            o.state == OperationState::Succeeded && o.id.starts_with(&prefix(debt)) && !is_partial
        })
    };
    let noted = debts::on_claim(claim);
    let waived = noted.iter().find(|debt| !pending.contains(debt) && !is_done(debt))?;
    Some(Event::of(
        EventType::Warning,
        Reason::MaintenanceWaived,
        Happened::Waived {
            work: waived.kind.into(),
            member: member.name.clone(),
            cause: waived.reason.clone(),
        },
    ))
}
