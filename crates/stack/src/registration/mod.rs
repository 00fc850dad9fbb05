//! Who is registered, who is to be, and which calls are due for it: by level, so
//! that a lost answer or a restart of the operator changes nothing. A call is
//! recorded before it is sent. Where the service can be asked for a pod it is asked
//! before each registration, and again whenever nobody knows what became of one:
//! what the service answers counts, and not what was sent.

mod answered;
pub mod calls;
mod due;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_api::registration::{CallKind, Entry, OpenCall};
use palladion_plan::{Answer, ExchangeKey};
use std::collections::{BTreeMap, BTreeSet};

/// Calls at a time: a service that has just started must not be overrun.
const AT_ONCE: usize = 4;
/// The first pause after a failed call; it doubles.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// The longest.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// A pod that should be registered. It is known by its name and its address: one
/// that restarts with both is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Its own address, once it has one.
    pub ip: Option<String>,
    /// Its node, once it has one.
    pub node: Option<String>,
    /// Hash of the call that would register it now; `None` = that cannot be made yet.
    pub hash: Option<String>,
}

/// May the service be called?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is active.
    Active,
    /// It is not: no call begins, and what is under way goes on.
    Away,
    /// There is nothing to call, or nobody may be called: what is under way is given up.
    Nowhere,
}

/// Can the service be asked for a pod?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Yes, and the answer brings these values.
    Possible(BTreeSet<String>),
    /// No.
    Impossible,
}

/// What the owner wants, and what is so.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// The time.
    pub now: Timestamp,
    /// Epoch of this process' leadership.
    pub epoch: i64,
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

/// What is to be recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Pods for which there is no room.
    pub left_out: usize,
    /// When to look again.
    pub wake: Option<Timestamp>,
}

/// From what is recorded to what is to be recorded.
pub fn next(stored: &[Entry], wanted: &[Wanted], terms: &Terms<'_>) -> Next {
    let mut next = Next::default();
    next.entries = stored.iter().map(|entry| answered::settle(entry, wanted, terms)).collect();
    next.left_out = due::compare(&mut next.entries, wanted, terms.now);
    due::begin(&mut next, wanted, terms);
    next
}

/// What is recorded, if nobody may be called any more: what is under way is given up.
pub fn given_up(stored: &[Entry]) -> Vec<Entry> {
    stored.iter().map(answered::without_call).collect()
}

/// What is recorded, if the service knows nobody: it was created again.
pub fn forgotten(stored: &[Entry]) -> Vec<Entry> {
    stored.iter().map(answered::forgotten).collect()
}

/// The calls of what is recorded that are to be sent now, by the place of their entry.
pub fn open<'a>(
    stored: &'a [Entry],
    terms: &'a Terms<'_>,
) -> impl Iterator<Item = (usize, ExchangeKey, CallKind)> + 'a {
    stored.iter().enumerate().filter_map(move |(at, entry)| {
        let call = entry.call.as_ref()?;
        terms.goes_on(call).then(|| (at, key(entry, call), call.kind))
    })
}

impl Terms<'_> {
    /// Is this call still to be sent, or its answer to be waited for?
    fn goes_on(&self, call: &OpenCall) -> bool {
        if self.target == Target::Nowhere {
            return false;
        }
        match (call.kind, &self.lookup) {
            (CallKind::Lookup, lookup) => *lookup != Lookup::Impossible,
            // Another process may have sent it, and only the service knows.
            (CallKind::Register, Lookup::Possible(_)) => call.epoch == self.epoch,
            (CallKind::Register, Lookup::Impossible) | (CallKind::Deregister, _) => true,
        }
    }

    fn begun(&self, kind: CallKind) -> Option<OpenCall> {
        Some(OpenCall { kind, nonce: self.nonce.clone(), epoch: self.epoch })
    }

    fn can_ask(&self) -> bool {
        matches!(self.lookup, Lookup::Possible(_))
    }

    /// Has an entry not got all that a lookup brings?
    fn lacks_values(&self, entry: &Entry) -> bool {
        match &self.lookup {
            Lookup::Possible(values) => values.iter().any(|v| !entry.captured.contains_key(v)),
            Lookup::Impossible => false,
        }
    }
}

/// Which exchange a call is.
fn key(entry: &Entry, call: &OpenCall) -> ExchangeKey {
    let name = format!("{} {}/{}", call.kind.as_str(), entry.name, entry.address);
    ExchangeKey { name, nonce: call.nonce.clone() }
}

/// Is an entry of this pod?
pub fn is(entry: &Entry, pod: &Wanted) -> bool {
    entry.name == pod.name && entry.address == pod.address
}

/// The pause after so many failures in a row.
fn pause(attempts: i32) -> SignedDuration {
    let doubled = u32::try_from(attempts.max(1) - 1).unwrap_or_default().min(10);
    FIRST_PAUSE.checked_mul(1 << doubled).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
}
