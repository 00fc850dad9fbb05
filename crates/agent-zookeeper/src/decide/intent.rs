//! The intent to leave. That the server leaves the configuration is a reconfiguration,
//! which another member makes as well; the leaver itself ends, and starts no more.

use super::{Action, Facts};
use crate::volume::ledger::Ledger;
use palladion_agent_core::service::intent::{self, Next};
use palladion_agent_core::words::permit::Refused;
use palladion_api::member::{IntentState, Word};

/// What is to be noted of an intent.
pub fn settle(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    Some(match intent::settle(facts.spec, ledger, &facts.process)? {
        Next::Begin { nonce } => Action::BeginLeave { nonce },
        Next::Settle { nonce, state, message } => Action::SettleIntent { nonce, state, message },
        // An intent of another system: nothing is done here that is not known.
        Next::OfItsSystem(intent) => {
            let why = Refused::unknown(Word::new(&format!("{:?}", intent.kind)));
            let (nonce, message) = (intent.nonce.clone(), Some(why.into()));
            Action::SettleIntent { nonce, state: IntentState::Refused, message }
        }
    })
}
