//! Before a permit or an intent is begun that was given under a region lock, the agent asks back
//! whether that still holds. Who wrote it may have been frozen, and have lost the lock long
//! before the write arrived; who holds the lock answers. An answer is good for 15 s from when it
//! was asked, by the agent's own monotonic clock: no two clocks are compared.

use super::{Action, Facts, Source};
use jiff::SignedDuration;
use palladion_api::ids::{LockToken, Nonce};
use palladion_api::member::ANSWER_LIFE;

/// A question that this agent has asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Drawn for this question.
    pub nonce: Nonce,
    /// Nonce of the permit or intent.
    pub of: Nonce,
    /// How long ago it was asked, by the monotonic clock.
    pub age: SignedDuration,
}

impl Asked {
    /// Is an answer to it void?
    pub fn is_void(&self) -> bool {
        self.age >= ANSWER_LIFE
    }
}

/// May it be begun?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum May {
    /// It may, now.
    Begin,
    /// Not yet: this comes first, or the answer.
    NotYet(Action),
}

/// May the permit or intent of this nonce be begun?
pub fn may(facts: &Facts<'_>, under: Option<&LockToken>, of: &Nonce) -> May {
    if under.is_none() {
        return May::Begin;
    }
    let asked = facts.asked.as_ref().filter(|asked| asked.of == *of && !asked.is_void());
    let Some(asked) = asked else {
        return May::NotYet(Action::AskBegin { of: of.clone() });
    };
    let live = facts.spec.filter(|known| known.source == Source::Live);
    let answer = live.and_then(|known| known.spec.begin.as_ref());
    match answer.is_some_and(|answer| answer.nonce == asked.nonce) {
        true => May::Begin,
        false => May::NotYet(Action::Nothing),
    }
}
