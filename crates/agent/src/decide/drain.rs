//! A server that is to be drained and goes on running (`spec.drain`): asked once for
//! each order, and only the very start that the order names. One that was started
//! since serves because somebody wants it to.

use super::{Action, Facts, Source, is_stale_twin};
use crate::volume::ledger::{Ledger, Membership};
use crate::words::server::Running;
use palladion_api::member::Drain;

/// The drain that is ordered and was not asked for yet.
pub(super) fn begin(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let order = ordered(facts, ledger)?;
    let is_asked = facts.drain_call.is_some_and(|call| call.nonce == order.nonce);
    // Draining, drained, or about to leave: there is nothing to ask for.
    let is_full = facts.reading.is_some_and(|r| r.is_full_member());
    let due = is_full && !is_asked && ledger.membership == Membership::Joined;
    due.then(|| Action::Drain { nonce: order.nonce.clone() })
}

/// What the server answered, where it could not be drained.
pub(super) fn failed(facts: &Facts<'_>, ledger: &Ledger) -> Option<Running> {
    let order = ordered(facts, ledger)?;
    let call = facts.drain_call.filter(|call| call.nonce == order.nonce)?;
    let why = call.answer.as_ref()?.as_ref().err()?;
    Some(Running::NotDrained { why: why.clone() })
}

/// The order for this server, as the API says it now.
fn ordered<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<&'a Drain> {
    let known = facts.spec.filter(|known| known.source == Source::Live)?;
    let order = known.spec.drain.as_ref().filter(|_| !is_stale_twin(known.spec, ledger))?;
    let start = ledger.last_start()?;
    let is_ours = order.volume_id == ledger.volume_id
        && ledger.host_id.as_ref() == Some(&order.host_id)
        && start.record.started_at == order.started_at;
    is_ours.then_some(order)
}
