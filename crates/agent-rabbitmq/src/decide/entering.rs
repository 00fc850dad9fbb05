//! A node that started by permit: closed for clients, it joins its cluster or is set up as
//! the first; then it is opened.

use super::{Action, Doors, Facts, StopWhy, Work, WorkFact};
use crate::volume::ledger::{Entered, Ledger, Membership};
use palladion_api::service_member::{ServicePermit, ServicePermitKind};

/// What is to be done about it.
pub fn next(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    if facts.work == WorkFact::Busy {
        return None;
    }
    match ledger.entered {
        Entered::No => enter(facts, ledger),
        Entered::Yes => open(facts),
    }
}

fn enter(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let permit = permit(facts, ledger)?;
    match permit.kind {
        ServicePermitKind::Initialize => Some(Action::Work(Work::SetUp)),
        ServicePermitKind::Join => (!permit.nodes.is_empty())
            .then(|| Work::Join { nodes: permit.nodes.clone() })
            .map(Action::Work),
        ServicePermitKind::Rescue | ServicePermitKind::Unknown(_) => None,
    }
}

/// The permit that the node was started with; also as it was saved: nobody may be there to
/// be asked, as the second of two needs the first for every write.
pub fn permit<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<&'a ServicePermit> {
    let joining = match &ledger.membership {
        Membership::Joining { nonce, .. } => nonce,
        Membership::Empty | Membership::Joined | Membership::Left => return None,
    };
    let permit = facts.spec?.spec.start.as_ref()?;
    (permit.nonce == *joining && permit.volume_id == ledger.volume_id).then_some(permit)
}

/// Clients get in once it is a member that all others see. It starts again for that where
/// the others are a majority without it; of two the other would pause meanwhile, so that it
/// is opened as it runs.
fn open(facts: &Facts<'_>) -> Option<Action> {
    let reading = facts.reading?;
    let is_due = facts.doors == Some(Doors::Closed)
        && !reading.listens()
        && reading.sees_all()
        && reading.broker().is_some_and(|broker| broker.serves());
    is_due.then(|| match reading.is_alone() || reading.others_are_a_majority() {
        true => Action::Stop(StopWhy::Opening),
        false => Action::Work(Work::Open),
    })
}
