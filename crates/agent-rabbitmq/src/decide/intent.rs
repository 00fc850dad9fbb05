//! Intents. To leave is every agent's; to stop the application alone is RabbitMQ's: a node
//! whose virtual machine lives still counts for the others, and of two nodes the last one
//! could otherwise forget nobody.

use super::{Action, Facts, Process};
use crate::volume::ledger::{App, Ledger, Membership};
use palladion_agent_core::service::intent::{self, Next};
use palladion_agent_core::words::permit::Refused;
use palladion_api::ids::Nonce;
use palladion_api::member::IntentState;
use palladion_api::service_member::{ServiceIntent, ServiceIntentKind};

/// What is to be noted of an intent.
pub fn settle(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    if let Some(done) = stopped_with_its_node(facts, ledger) {
        return Some(done);
    }
    Some(match intent::settle(facts.spec, ledger, &facts.process)? {
        Next::Begin { nonce } => Action::BeginLeave { nonce },
        Next::Settle { nonce, state, message } => Action::SettleIntent { nonce, state, message },
        Next::OfItsSystem(intent) => return of_rabbitmq(facts, ledger, intent),
    })
}

/// Its node has ended while its application was being stopped, and the work with it: what was
/// to be stopped does not run, and is kept from running. Of an intent that has taken the place
/// of the noted one the same holds.
fn stopped_with_its_node(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_kept = wanted(facts, ledger) == Some(Wanted::Stopped);
    if !is_kept || facts.process != Process::Absent {
        return None;
    }
    let intent = facts.spec?.spec.intent.as_ref()?;
    let noted = ledger.intent.as_ref().filter(|noted| noted.nonce == intent.nonce);
    let is_open = noted.is_none_or(|noted| noted.state == IntentState::Running);
    let nonce = intent.nonce.clone();
    is_open.then_some(Action::SettleIntent { nonce, state: IntentState::Done, message: None })
}

fn of_rabbitmq(facts: &Facts<'_>, ledger: &Ledger, intent: &ServiceIntent) -> Option<Action> {
    let nonce = intent.nonce.clone();
    let refuse = |nonce: Nonce, why: Refused| {
        let (state, message) = (IntentState::Refused, Some(why.into()));
        Some(Action::SettleIntent { nonce, state, message })
    };
    match intent.kind {
        ServiceIntentKind::StopApp if intent.volume_id != ledger.volume_id => {
            let (meant, own) = (intent.volume_id.clone(), ledger.volume_id.clone());
            refuse(nonce, Refused::OtherVolume { meant, own })
        }
        ServiceIntentKind::StopApp => match (&ledger.membership, &facts.process) {
            (Membership::Left, _) => {
                Some(Action::SettleIntent { nonce, state: IntentState::Done, message: None })
            }
            // Of one that does not run nothing can be stopped with its virtual machine alive.
            (_, Process::Running) => Some(Action::BeginStopApp { nonce }),
            (_, Process::Absent | Process::Unknown(_)) => None,
        },
        // The general rule has settled these.
        ServiceIntentKind::Leave | ServiceIntentKind::Unknown(_) => None,
    }
}

/// What the spec says of an application that is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The intent stands by which it was stopped.
    Stopped,
    /// It is to run again.
    Running,
    /// It leaves.
    Leaving,
    /// Nobody has said so lately.
    Unknown,
}

/// What is wanted of an application that was stopped by intent.
pub fn wanted(facts: &Facts<'_>, ledger: &Ledger) -> Option<Wanted> {
    if ledger.app == App::Runs {
        return None;
    }
    let Some(spec) = facts.spec.and_then(|known| known.live()) else {
        return Some(Wanted::Unknown);
    };
    let ours = spec.intent.as_ref().filter(|intent| intent.volume_id == ledger.volume_id);
    Some(match ours.map(|intent| intent.kind) {
        Some(ServiceIntentKind::StopApp) => Wanted::Stopped,
        Some(ServiceIntentKind::Leave) => Wanted::Leaving,
        // What is not known changes nothing.
        Some(ServiceIntentKind::Unknown(_)) => Wanted::Unknown,
        None => Wanted::Running,
    })
}
