//! The intent to leave: for the right volume only, once, and never back. That the
//! server leaves the configuration is a reconfiguration, which another member makes
//! as well; the leaver itself ends, and starts no more.

use super::{Action, Facts, Process, Source};
use crate::volume::ledger::{Ledger, Membership};
use crate::words::permit::Refused;
use palladion_api::member::IntentState;
use palladion_api::service_member::{ServiceIntent, ServiceIntentKind};
use palladion_api::word::Word;
use palladion_api::words::Message;

/// What is to be noted of an intent.
pub fn settle(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let open = ledger.intent.as_ref().filter(|intent| intent.state == IntentState::Running);
    if let Some(open) = open {
        let is_over = facts.process == Process::Absent && ledger.membership == Membership::Left;
        let (nonce, state) = (open.nonce.clone(), IntentState::Done);
        return is_over.then_some(Action::SettleIntent { nonce, state, message: None });
    }
    let intent = wanted(facts, ledger)?;
    let nonce = intent.nonce.clone();
    let refused = match intent.kind {
        ServiceIntentKind::Leave if intent.volume_id != ledger.volume_id => {
            let (meant, own) = (intent.volume_id.clone(), ledger.volume_id.clone());
            Some(Refused::OtherVolume { meant, own })
        }
        ServiceIntentKind::Leave => None,
        // An intent of RabbitMQ: nothing is done here that is not known.
        ServiceIntentKind::StopApp => Some(Refused::unknown(Word::new("StopApp"))),
        ServiceIntentKind::Unknown(word) => Some(Refused::unknown(word)),
    };
    if let Some(why) = refused {
        let message = Some(Message::from(why));
        return Some(Action::SettleIntent { nonce, state: IntentState::Refused, message });
    }
    Some(match ledger.membership {
        Membership::Left => Action::SettleIntent { nonce, state: IntentState::Done, message: None },
        Membership::Empty | Membership::Joining { .. } | Membership::Joined => {
            Action::BeginLeave { nonce }
        }
    })
}

/// The intent in the spec, if it was not settled before. Only as read live: nobody
/// leaves an ensemble by an old file.
fn wanted<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<&'a ServiceIntent> {
    let intent = facts.spec.filter(|s| s.source == Source::Live)?.spec.intent.as_ref()?;
    let known = ledger.intent.as_ref().is_some_and(|i| i.nonce == intent.nonce);
    (!known).then_some(intent)
}
