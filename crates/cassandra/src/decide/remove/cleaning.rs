//! A removal waits for cleanups. A server looks once, when a cleanup begins, whether the ring
//! changes; of what is streamed to it later it may drop the rows of ranges that it does not
//! own until the removal has ended (safety rule 5.6).

use crate::decide::evidence::{self, marks};
use crate::facts::{Facts, MemberFact};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::MemberName;
use palladion_api::member::{OperationKind, OperationState, OperationStatus};

/// A server goes on with a cleanup whose agent has ended, and nobody hears of its end: it is
/// waited for so long (safety rule 3.6).
const LEFT: SignedDuration = SignedDuration::from_hours(1);

/// A member whose server cleans up, or may, and until when at the most if that is known.
pub fn by<'a>(
    facts: &'a Facts<'_>,
    removed: &MemberName,
) -> Option<(&'a MemberFact, Option<Timestamp>)> {
    let is_other = |m: &&MemberFact| m.name != *removed && marks::of(m).is_none();
    let runs = |m: &&MemberFact| evidence::runs_no_server(facts, m).is_none();
    facts.joined().filter(is_other).filter(runs).find_map(|m| {
        let ordered = m.spec.as_ref()?.operation.as_ref()?;
        if ordered.kind != OperationKind::Cleanup {
            return None;
        }
        match m.status.operation.as_ref().filter(|told| told.id == ordered.id) {
            // It is begun as soon as the agent hears of it.
            None => Some((m, None)),
            Some(told) => match told.state {
                OperationState::Running | OperationState::Unknown => Some((m, None)),
                OperationState::Succeeded | OperationState::Failed => None,
                OperationState::Interrupted => Some((m, Some(goes_on_until(facts, m, told)?))),
            },
        }
    })
}

/// Until when a cleanup is waited for whose agent has ended; none where its server has, too.
fn goes_on_until(
    facts: &Facts<'_>,
    member: &MemberFact,
    told: &OperationStatus,
) -> Option<Timestamp> {
    // Both are by the clock of its agent.
    let begun = told.started_at.as_ref()?.0;
    if member.status.start_history.iter().any(|start| start.started_at.0 >= begun) {
        return None;
    }
    let until = facts.again(told.finished_at.as_ref()?.0, None, LEFT);
    (facts.now() < until).then_some(until)
}
