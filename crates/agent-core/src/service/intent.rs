//! The intent to leave: for the right volume only, once, and never back. Intents that only
//! one system has are its agent's. Pure.

use super::ledger::{Ledger, Membership};
use super::spec::SpecFact;
use crate::facts::Process;
use crate::words::permit::Refused;
use palladion_api::ids::Nonce;
use palladion_api::member::IntentState;
use palladion_api::service_member::{ServiceIntent, ServiceIntentKind};
use palladion_api::words::Message;

/// What is to be noted of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// One that only one system has, and of which nothing was noted.
    OfItsSystem(&'a ServiceIntent),
    /// The member leaves; its server is stopped after that.
    Begin {
        /// The intent's nonce.
        nonce: Nonce,
    },
    /// What became of it.
    Settle {
        /// Its nonce.
        nonce: Nonce,
        /// What became of it.
        state: IntentState,
        /// Why, for people.
        message: Option<Message>,
    },
}

/// Decide about the intent in the spec.
pub fn settle<'a, O>(
    known: Option<SpecFact<'a>>,
    ledger: &Ledger<O>,
    process: &Process,
) -> Option<Next<'a>> {
    // To leave is noted as left at once: what else is under way does not hold it up.
    let is_leaving = ledger.membership == Membership::Left;
    let open = ledger.intent.as_ref().filter(|intent| intent.state == IntentState::Running);
    if let Some(open) = open.filter(|_| is_leaving) {
        let (nonce, state) = (open.nonce.clone(), IntentState::Done);
        let is_over = *process == Process::Absent;
        return is_over.then_some(Next::Settle { nonce, state, message: None });
    }
    let intent = wanted(known?, ledger)?;
    let nonce = intent.nonce.clone();
    let refused = match intent.kind {
        ServiceIntentKind::Leave if intent.volume_id != ledger.volume_id => {
            let (meant, own) = (intent.volume_id.clone(), ledger.volume_id.clone());
            Some(Refused::OtherVolume { meant, own })
        }
        ServiceIntentKind::Leave => None,
        ServiceIntentKind::StopApp => return Some(Next::OfItsSystem(intent)),
        ServiceIntentKind::Unknown(word) => Some(Refused::unknown(word)),
    };
    if let Some(why) = refused {
        let message = Some(Message::from(why));
        return Some(Next::Settle { nonce, state: IntentState::Refused, message });
    }
    Some(match ledger.membership {
        Membership::Left => Next::Settle { nonce, state: IntentState::Done, message: None },
        Membership::Empty | Membership::Joining { .. } | Membership::Joined => {
            Next::Begin { nonce }
        }
    })
}

/// The intent in the spec, if it was not settled before. Only as read live: nobody
/// leaves a cluster by an old file.
fn wanted<'a, O>(known: SpecFact<'a>, ledger: &Ledger<O>) -> Option<&'a ServiceIntent> {
    let intent = known.live()?.intent.as_ref()?;
    let known = ledger.intent.as_ref().is_some_and(|i| i.nonce == intent.nonce);
    (!known).then_some(intent)
}
