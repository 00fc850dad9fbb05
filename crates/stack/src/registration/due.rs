//! Which calls are due: registrations of those that are wanted, in the order in
//! which they wait, and removals of those that are not.

use super::{AT_ONCE, Lookup, Next, Target, Terms, Wanted, pause};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::registration::{Entry, EntryState};
use std::collections::BTreeMap;

/// Add those that are wanted and not there, and note since when others are not wanted.
pub fn compare(entries: &mut Vec<Entry>, wanted: &[Wanted], now: Timestamp) {
    let is = |entry: &Entry, pod: &Wanted| entry.name == pod.name && entry.address == pod.address;
    for entry in entries.iter_mut() {
        entry.gone_since = match wanted.iter().any(|pod| is(entry, pod)) {
            true => None,
            false => entry.gone_since.clone().or(Some(Time(now))),
        };
    }
    // Nobody has called for it: there is nothing to take out.
    entries.retain(|e| {
        let is_unknown = e.state == EntryState::Queued && e.hash.is_none();
        e.gone_since.is_none() || !is_unknown
    });
    for pod in wanted {
        if !entries.iter().any(|entry| is(entry, pod)) {
            entries.push(queued(pod));
        }
    }
}

fn queued(pod: &Wanted) -> Entry {
    Entry {
        name: pod.name.clone(),
        address: pod.address.clone(),
        state: EntryState::Queued,
        nonce: None,
        attempts: 0,
        last_try: None,
        gone_since: None,
        message: None,
        captured: BTreeMap::new(),
        hash: None,
    }
}

/// Begin as many calls as may be under way. They are sent when this is recorded.
pub fn begin(next: &mut Next, wanted: &[Wanted], terms: &Terms<'_>) {
    let under_way = next.entries.iter().filter(|entry| entry.nonce.is_some()).count();
    let mut free = AT_ONCE.saturating_sub(under_way);
    let idle = |entry: &Entry| entry.nonce.is_none();
    // Who has waited longest comes first, so that those that fail block no other.
    let mut order: Vec<usize> =
        (0..next.entries.len()).filter(|i| idle(&next.entries[*i])).collect();
    order.sort_by_key(|i| next.entries[*i].last_try.as_ref().map(|time| time.0));
    for at in order {
        let Some((begun, from)) = one(&next.entries, at, wanted, terms) else {
            continue;
        };
        if terms.now < from {
            next.wake = next.wake.into_iter().chain([from]).min();
        } else if free > 0 && terms.target == Target::Active {
            free -= 1;
            next.entries[at] = Entry { nonce: Some(terms.nonce.clone()), ..begun };
        }
    }
}

/// What an entry becomes next, and from when on.
fn one(
    entries: &[Entry],
    at: usize,
    wanted: &[Wanted],
    terms: &Terms<'_>,
) -> Option<(Entry, Timestamp)> {
    let entry = &entries[at];
    let after_failure = match (&entry.last_try, entry.attempts) {
        (Some(last), attempts) if attempts > 0 => last.0 + pause(attempts),
        (Some(_) | None, _) => terms.now,
    };
    let taken_out = Entry { state: EntryState::Deregistering, ..entry.clone() };
    if let Some(gone) = &entry.gone_since {
        // One of the same name that waits must not be taken out by its namesake's removal.
        let is_replaced = wanted.iter().any(|pod| pod.name == entry.name);
        let from = if is_replaced { terms.now } else { gone.0 + terms.removed_after };
        return Some((taken_out, from.max(after_failure)));
    }
    let pod = wanted.iter().find(|p| p.name == entry.name && p.address == entry.address)?;
    let is_other_call = entry.hash.as_ref().is_some_and(|hash| *hash != pod.hash);
    match entry.state {
        EntryState::Registered if is_other_call => Some((taken_out, after_failure)),
        EntryState::Registered => {
            let resync = terms.resync.filter(|_| terms.lookup == Lookup::Possible)?;
            let last = entry.last_try.as_ref().map_or(terms.now, |time| time.0);
            Some((entry.clone(), last + resync))
        }
        EntryState::Queued | EntryState::Failed => {
            let mut others = entries.iter().enumerate().filter(|(i, _)| *i != at);
            if others.any(|(_, other)| other.name == entry.name) {
                return None;
            }
            let hash = Some(pod.hash.clone());
            let begun = Entry { state: EntryState::Registering, hash, ..entry.clone() };
            Some((begun, after_failure))
        }
        // Recorded without a nonce by nobody of ours: it begins again.
        EntryState::Registering | EntryState::Deregistering => {
            let hash = Some(pod.hash.clone());
            let begun = Entry { state: EntryState::Registering, hash, ..entry.clone() };
            Some((begun, after_failure))
        }
    }
}
