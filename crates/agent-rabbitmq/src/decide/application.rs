//! The application of a node that was stopped by intent: kept so while the intent stands,
//! and started again when it is withdrawn.

use super::intent::{Wanted, wanted};
use super::{Action, Facts, Work, WorkFact};
use crate::volume::ledger::Ledger;
use crate::words::server::Running;
use palladion_api::member::IntentState;

/// What is to be done about it.
pub fn next(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let wanted = wanted(facts, ledger)?;
    if facts.work == WorkFact::Busy {
        return None;
    }
    match wanted {
        Wanted::Stopped => is_open(ledger).then_some(Action::Work(Work::StopApp)),
        Wanted::Running => Some(Action::Work(Work::StartApp)),
        Wanted::Leaving | Wanted::Unknown => None,
    }
}

/// How it is told.
pub fn told(facts: &Facts<'_>, ledger: &Ledger) -> Option<Running> {
    Some(match (wanted(facts, ledger)?, is_open(ledger)) {
        (Wanted::Running, _) => Running::StartingApp,
        (Wanted::Stopped | Wanted::Unknown, true) => Running::StoppingApp,
        (Wanted::Stopped | Wanted::Unknown, false) | (Wanted::Leaving, _) => Running::AppStopped,
    })
}

/// Is it being stopped, as far as was noted?
fn is_open(ledger: &Ledger) -> bool {
    ledger.intent.as_ref().is_some_and(|intent| intent.state == IntentState::Running)
}
