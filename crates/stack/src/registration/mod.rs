//! Who is registered, who is to be, and which calls are due for it: by level, so
//! that a lost answer or a restart of the operator changes nothing. State and
//! nonce of a call are recorded before it is sent; it is sent for as long as they
//! are there, and a good answer, whenever it comes, ends it.

mod answered;
mod due;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_api::registration::{Entry, EntryState};
use palladion_plan::{Answer, ExchangeKey};
use std::collections::BTreeMap;

/// Calls at a time: a service that has just started must not be overrun.
const AT_ONCE: usize = 4;
/// The first pause after a failed call; it doubles.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// The longest.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// A pod that should be registered. It is known by its name and its address: one
/// that restarts with both is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Hash of the call that would register it now.
    pub hash: String,
}

/// May the service be called?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is active.
    Active,
    /// It is not; all wait.
    Away,
}

/// A call that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Is it registered?
    Lookup,
    /// Register it.
    Register,
    /// Take it out.
    Deregister,
}

/// What the owner wants, and what is so.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// The time.
    pub now: Timestamp,
    /// For calls that begin now; with the name of a pod it is unique for ever.
    pub nonce: &'a Nonce,
    /// The service.
    pub target: Target,
    /// After which a pod that is no longer wanted is taken out.
    pub removed_after: SignedDuration,
    /// After which each is asked for again; `None` = never.
    pub resync: Option<SignedDuration>,
    /// Can the service be asked for a pod?
    pub lookup: Lookup,
    /// What has been answered.
    pub answers: &'a BTreeMap<ExchangeKey, Answer>,
}

/// Can the service be asked for a pod?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Yes.
    Possible,
    /// No.
    Impossible,
}

/// What is to be recorded and sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// The entries, as they are to be recorded.
    pub entries: Vec<Entry>,
    /// Calls that are to be sent now: what was recorded before, and no more.
    pub asks: Vec<(ExchangeKey, Ask)>,
    /// When to look again.
    pub wake: Option<Timestamp>,
}

/// From what is recorded to what is to be recorded and sent.
pub fn next(stored: &[Entry], wanted: &[Wanted], terms: &Terms<'_>) -> Next {
    let mut next = Next::default();
    for entry in stored {
        next.entries.extend(answered::settle(entry, terms));
    }
    due::compare(&mut next.entries, wanted, terms.now);
    due::begin(&mut next, wanted, terms);
    if terms.target == Target::Active {
        let is_recorded = |entry: &&Entry| stored.iter().any(|s| key(s) == key(entry));
        let in_flight = next.entries.iter().filter(is_recorded);
        next.asks = in_flight.filter_map(|e| Some((key(e)?, ask(e, terms.lookup)?))).collect();
    }
    next
}

/// The call that an entry waits for.
fn ask(entry: &Entry, lookup: Lookup) -> Option<Ask> {
    entry.nonce.as_ref()?;
    match (entry.state, lookup) {
        // Whether the last call was done although its answer was lost, only the service knows.
        (EntryState::Registering, Lookup::Possible) if entry.attempts > 0 => Some(Ask::Lookup),
        (EntryState::Registering, Lookup::Possible | Lookup::Impossible) => Some(Ask::Register),
        (EntryState::Deregistering, _) => Some(Ask::Deregister),
        (EntryState::Registered, Lookup::Possible) => Some(Ask::Lookup),
        (EntryState::Registered, Lookup::Impossible)
        | (EntryState::Queued | EntryState::Failed, _) => None,
    }
}

/// The key of the call that is under way for an entry.
fn key(entry: &Entry) -> Option<ExchangeKey> {
    let name = format!("{}/{}", entry.name, entry.address);
    Some(ExchangeKey { name, nonce: entry.nonce.clone()? })
}

/// The pause after so many failures in a row.
fn pause(attempts: i32) -> SignedDuration {
    let doubled = u32::try_from(attempts.max(1) - 1).unwrap_or_default().min(10);
    FIRST_PAUSE.checked_mul(1 << doubled).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
}
