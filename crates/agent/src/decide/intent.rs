//! The intent to leave the ring: for the right host ID and volume only, once,
//! and never back by accident. Facts: a server that is killed while streaming
//! comes back NORMAL; one that is killed after the others took its leave joins
//! again under a new token, unless nobody starts it.

use super::begin::May;
use super::{Action, Facts, LeaveCall, Process, Source, Then, begin};
use crate::admin::{self, Reading};
use crate::volume::ledger::{Ledger, Membership};
use crate::words::permit::{Left, Refused};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_api::member::{Intent, IntentKind, IntentState};
use palladion_api::words::Message;

/// A call that was refused because another one is under way is made again after
/// this long: that one may have failed, and nobody has heard it.
const CALL_AGAIN: SignedDuration = SignedDuration::from_secs(60);

/// What is to be noted of an intent.
pub fn settle(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    if let Membership::Leaving { nonce } = &ledger.membership {
        return settle_leaving(facts, ledger, nonce);
    }
    let intent = wanted(facts, ledger)?;
    let settle = |state, message: Message| {
        Some(Action::SettleIntent {
            nonce: intent.nonce.clone(),
            state,
            message: Some(message),
            then: Then::Unchanged,
        })
    };
    match intent.kind {
        IntentKind::Decommission | IntentKind::LeaveWithDatacenter => {}
        IntentKind::Unknown(word) => {
            return settle(IntentState::Refused, Refused::unknown(word).into());
        }
    }
    if intent.volume_id != ledger.volume_id {
        let (meant, own) = (intent.volume_id.clone(), ledger.volume_id.clone());
        return settle(IntentState::Refused, Refused::OtherVolume { meant, own }.into());
    }
    if ledger.host_id.as_ref() != Some(&intent.host_id) {
        let why = match ledger.host_id.clone() {
            Some(own) => Refused::OtherHostId { meant: intent.host_id.clone(), own },
            None => Refused::NoOwnHostId,
        };
        return settle(IntentState::Refused, why.into());
    }
    match ledger.membership {
        Membership::Left => settle(IntentState::Done, Left::Before.into()),
        Membership::Joined
        | Membership::Empty
        | Membership::Joining { .. }
        | Membership::Leaving { .. } => None,
    }
}

/// The intent in the spec, if it was not settled before. Only as read live:
/// nobody leaves a ring by an old file.
fn wanted<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<&'a Intent> {
    let intent = facts.spec.filter(|s| s.source == Source::Live)?.spec.intent.as_ref()?;
    let known = ledger.intent.as_ref().is_some_and(|i| i.nonce == intent.nonce);
    (!known).then_some(intent)
}

fn settle_leaving(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    let open = ledger
        .intent
        .as_ref()
        .is_some_and(|i| i.nonce == *nonce && i.state == IntentState::Running);
    let settle = |state, message: Option<Message>, then| {
        Some(Action::SettleIntent { nonce: nonce.clone(), state, message, then })
    };
    if facts.process == Process::Absent {
        let unknown = || Some(Left::Unknown.into());
        return open.then(|| settle(IntentState::Failed, unknown(), Then::Unchanged)).flatten();
    }
    let reading = facts.reading?;
    if reading.is(admin::DECOMMISSIONED) {
        return settle(IntentState::Done, None, Then::Left);
    }
    match facts.leave_call {
        LeaveCall::UnderWay => None,
        LeaveCall::Answered(Err(why)) if why.contains(admin::STILL_LEAVING) => None,
        LeaveCall::Answered(Err(why)) => {
            let then = if is_full_member(reading) { Then::Joined } else { Then::Unchanged };
            (open || then == Then::Joined)
                .then(|| settle(IntentState::Failed, Some(Message::quoted(why)), then))
                .flatten()
        }
        // An earlier agent made the call and cannot hear the answer; or it was made
        // while another was under way, which 5.0 answers at once.
        LeaveCall::NotMade | LeaveCall::Answered(Ok(())) => {
            let then = match reading.is(admin::DECOMMISSION_FAILED) {
                true if is_full_member(reading) => Then::Joined,
                true if reading.sees_itself_leaving() && open => Then::Unchanged,
                true | false => return None,
            };
            settle(IntentState::Failed, Some(Left::Failed.into()), then)
        }
    }
}

/// After a refusal or a failure: a full member again, and seen so as a whole.
fn is_full_member(reading: &Reading) -> bool {
    reading.is_full_member() && reading.members.is_some() && !reading.sees_itself_leaving()
}

/// A leave that has failed half-way is taken up again by a new intent: Cassandra
/// does what is left of it, in all versions. The server serves meanwhile, and
/// is seen leaving by all. So is one that a person has begun.
fn leave_again(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let reading = facts.reading.filter(|r| r.sees_itself_leaving())?;
    let stands = reading.is(admin::LEAVING) || reading.is(admin::DECOMMISSION_FAILED);
    let belongs = matches!(ledger.membership, Membership::Leaving { .. } | Membership::Joined);
    if !stands || !belongs || *facts.leave_call == LeaveCall::UnderWay {
        return None;
    }
    let intent = wanted(facts, ledger)?;
    let fits =
        intent.volume_id == ledger.volume_id && ledger.host_id.as_ref() == Some(&intent.host_id);
    fits.then(|| begin_leaving(facts, intent)).flatten()
}

/// Begin what is intended, or what comes first where it was written under a region lock.
fn begin_leaving(facts: &Facts<'_>, intent: &Intent) -> Option<Action> {
    match intent.kind {
        IntentKind::Decommission | IntentKind::LeaveWithDatacenter => {
            match begin::may(facts, intent.lock_token.as_ref(), &intent.nonce) {
                May::Begin => Some(Action::Leave { nonce: intent.nonce.clone() }),
                May::NotYet(Action::Nothing) => None,
                May::NotYet(first) => Some(first),
            }
        }
        IntentKind::Unknown(_) => None,
    }
}

/// When the call of an earlier agent, whose end nobody would hear, is made again
/// by this one. Cassandra refuses it as long as the earlier one is under way.
pub fn calls_again_at(facts: &Facts<'_>, ledger: &Ledger) -> Option<Timestamp> {
    facts.reading.filter(|r| r.may_have_failed_to_leave())?;
    let intent = ledger.intent.as_ref().filter(|i| i.state == IntentState::Running)?;
    match facts.leave_call {
        LeaveCall::NotMade => Some(facts.now),
        LeaveCall::Answered(Err(why)) if why.contains(admin::STILL_LEAVING) => {
            Some(intent.since.as_ref()?.0 + CALL_AGAIN)
        }
        LeaveCall::UnderWay | LeaveCall::Answered(_) => None,
    }
}

/// Begin to leave, or begin again where an earlier agent's call left no trace.
pub fn leave(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    if let Some(again) = leave_again(facts, ledger) {
        return Some(again);
    }
    if let Membership::Leaving { nonce } = &ledger.membership
        && calls_again_at(facts, ledger).is_some_and(|time| time <= facts.now)
    {
        return Some(Action::Leave { nonce: nonce.clone() });
    }
    let reading = facts.reading.filter(|r| r.is_full_member())?;
    match &ledger.membership {
        Membership::Joined => begin_leaving(facts, wanted(facts, ledger)?),
        Membership::Leaving { nonce } => {
            let again = *facts.leave_call == LeaveCall::NotMade && is_full_member(reading);
            let open = ledger.intent.as_ref().is_some_and(|i| i.state == IntentState::Running);
            (again && open).then(|| Action::Leave { nonce: nonce.clone() })
        }
        Membership::Empty | Membership::Joining { .. } | Membership::Left => None,
    }
}
