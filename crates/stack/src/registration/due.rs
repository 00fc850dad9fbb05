//! Which calls are due: registrations of those that are wanted, in the order in
//! which they wait, and removals of those that are not.

use super::{AT_ONCE, Next, Target, Terms, Wanted, is, pause};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::registration::status::MOST_ENTRIES;
use palladion_api::registration::{CallKind, Entry, EntryState};
use std::collections::BTreeMap;

/// Add those that are wanted and not there, and note since when others are not
/// wanted; says for how many there is no room.
pub fn compare(entries: &mut Vec<Entry>, wanted: &[Wanted], now: Timestamp) -> usize {
    for entry in entries.iter_mut() {
        let pod = wanted.iter().find(|pod| is(entry, pod));
        entry.gone_since = match pod {
            Some(_) => None,
            None => entry.gone_since.clone().or(Some(Time(now))),
        };
        let is_registered = entry.state == EntryState::Registered;
        if is_registered && pod.is_some_and(|pod| !is_other_call(entry, pod)) {
            // It could not be taken out, and need not be any more.
            (entry.attempts, entry.cause, entry.message) = (0, None, None);
        }
    }
    // Nobody has called for it, or it was taken out: there is nothing left to do.
    entries.retain(|e| e.gone_since.is_none() || is_maybe_registered(e));
    let mut left_out = 0;
    for pod in wanted {
        if entries.iter().any(|entry| is(entry, pod)) {
            continue;
        }
        match entries.len() < MOST_ENTRIES {
            true => entries.push(queued(pod)),
            false => left_out += 1,
        }
    }
    left_out
}

fn is_maybe_registered(entry: &Entry) -> bool {
    entry.state != EntryState::Queued || entry.hash.is_some() || entry.call.is_some()
}

fn queued(pod: &Wanted) -> Entry {
    Entry {
        name: pod.name.clone(),
        address: pod.address.clone(),
        state: EntryState::Queued,
        call: None,
        attempts: 0,
        last_try: None,
        gone_since: None,
        cause: None,
        message: None,
        ip: None,
        node: None,
        captured: BTreeMap::new(),
        hash: None,
    }
}

/// Begin as many calls as may be under way. They are sent when this is recorded.
pub fn begin(next: &mut Next, wanted: &[Wanted], terms: &Terms<'_>) {
    let under_way = next.entries.iter().filter(|entry| entry.call.is_some()).count();
    let mut free = AT_ONCE.saturating_sub(under_way);
    let idle = |entry: &Entry| entry.call.is_none();
    // Who has waited longest comes first, so that those that fail block no other.
    let mut order: Vec<usize> =
        (0..next.entries.len()).filter(|i| idle(&next.entries[*i])).collect();
    order.sort_by_key(|i| next.entries[*i].last_try.as_ref().map(|time| time.0));
    for at in order {
        let Some(Due { kind, from }) = due(&next.entries, at, wanted, terms) else {
            continue;
        };
        if terms.now < from {
            next.wake = next.wake.into_iter().chain([from]).min();
        } else if free > 0 && terms.target == Target::Active {
            free -= 1;
            next.entries[at] = begun(&next.entries[at], kind, wanted, terms);
        }
    }
}

/// The next call of an entry, and from when on.
struct Due {
    kind: CallKind,
    from: Timestamp,
}

fn due(entries: &[Entry], at: usize, wanted: &[Wanted], terms: &Terms<'_>) -> Option<Due> {
    let entry = &entries[at];
    let rested = match (&entry.last_try, entry.attempts) {
        (Some(last), attempts) if attempts > 0 => last.0 + pause(attempts),
        (Some(_) | None, _) => terms.now,
    };
    if let Some(gone) = &entry.gone_since {
        // One of the same name that waits must not be taken out by its namesake's removal.
        let is_replaced = wanted.iter().any(|pod| pod.name == entry.name);
        let from = if is_replaced { terms.now } else { gone.0 + terms.removed_after };
        return Some(Due { kind: removal(entry, terms), from: from.max(rested) });
    }
    let pod = wanted.iter().find(|pod| is(entry, pod))?;
    match entry.state {
        EntryState::Registered if is_other_call(entry, pod) => {
            Some(Due { kind: CallKind::Deregister, from: rested })
        }
        EntryState::Registered => {
            let resync = terms.resync.filter(|_| terms.can_ask())?;
            let last = entry.last_try.as_ref().map_or(terms.now, |time| time.0);
            Some(Due { kind: CallKind::Lookup, from: last + resync })
        }
        // It goes on as it began; then it is registered again.
        EntryState::Deregistering => Some(Due { kind: removal(entry, terms), from: rested }),
        EntryState::Queued | EntryState::Failed | EntryState::Registering => {
            let mut others = entries.iter().enumerate().filter(|(i, _)| *i != at);
            let is_in_the_way = others.any(|(_, other)| other.name == entry.name);
            let kind = if terms.can_ask() { CallKind::Lookup } else { CallKind::Register };
            (!is_in_the_way && pod.hash.is_some()).then_some(Due { kind, from: rested })
        }
    }
}

/// Is it registered by another call than the one that would register this pod now?
fn is_other_call(entry: &Entry, pod: &Wanted) -> bool {
    entry.hash.as_ref().zip(pod.hash.as_ref()).is_some_and(|(a, b)| a != b)
}

/// The call that takes it out. What it needs of the service, it may have to ask for first: also
/// of one that was asked for, once a removal has failed. The lookup may bring other values now.
fn removal(entry: &Entry, terms: &Terms<'_>) -> CallKind {
    let may_need_more = match entry.state {
        EntryState::Registered => false,
        EntryState::Deregistering => entry.cause.is_some(),
        EntryState::Queued | EntryState::Registering | EntryState::Failed => true,
    };
    match may_need_more && terms.lacks_values(entry) {
        true => CallKind::Lookup,
        false => CallKind::Deregister,
    }
}

fn begun(entry: &Entry, kind: CallKind, wanted: &[Wanted], terms: &Terms<'_>) -> Entry {
    let begun = Entry { call: terms.begun(kind), ..entry.clone() };
    if kind == CallKind::Deregister {
        return Entry { state: EntryState::Deregistering, ..begun };
    }
    let Some(pod) = wanted.iter().find(|pod| is(entry, pod)) else {
        return begun;
    };
    let begun = Entry { ip: pod.ip.clone(), node: pod.node.clone(), ..begun };
    match (kind, entry.state) {
        (CallKind::Lookup, EntryState::Registered | EntryState::Deregistering) => begun,
        // If it is registered already, it is by the call that was tried before.
        (CallKind::Lookup, _) => {
            let hash = entry.hash.clone().or_else(|| pod.hash.clone());
            Entry { state: EntryState::Registering, hash, ..begun }
        }
        (CallKind::Register | CallKind::Deregister, _) => {
            Entry { state: EntryState::Registering, hash: pod.hash.clone(), ..begun }
        }
    }
}
