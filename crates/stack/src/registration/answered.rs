//! What an answer makes of an entry, and what becomes of one whose call is given up.

use super::{Target, Terms, Wanted, is, key};
use crate::words::registration::Answered;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::registration::status::MOST_CAPTURED;
use palladion_api::registration::{CallKind, Cause, Entry, EntryState};
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Answer, Captured};
use std::collections::BTreeMap;

/// The code by which a service says that it knows no such pod.
const NOT_FOUND: u16 = 404;
/// Bytes of a message at the most.
const LONGEST: usize = 128;

/// An entry after the answer to its call, if there is one. One that is known not to
/// be registered has no hash.
pub fn settle(entry: &Entry, wanted: &[Wanted], terms: &Terms<'_>) -> Entry {
    let Some(call) = &entry.call else {
        return entry.clone();
    };
    match terms.answers.get(&key(entry, call)) {
        Some(answer) => answered(entry, call.kind, answer, wanted, terms),
        None if terms.goes_on(call) => entry.clone(),
        None => given_up(entry, call.kind),
    }
}

/// An entry whose call is given up, if it has one.
pub fn without_call(entry: &Entry) -> Entry {
    entry.call.as_ref().map_or_else(|| entry.clone(), |call| given_up(entry, call.kind))
}

/// An entry of which the service knows nothing.
pub fn forgotten(entry: &Entry) -> Entry {
    not_registered(Entry { call: None, ..entry.clone() })
}

/// Nobody waits for the answer any more: the call may have been done, or not.
fn given_up(entry: &Entry, kind: CallKind) -> Entry {
    let state = match (kind, entry.state) {
        (CallKind::Lookup, EntryState::Registered) => EntryState::Registered,
        (CallKind::Lookup, EntryState::Deregistering) => EntryState::Deregistering,
        (CallKind::Lookup | CallKind::Register, _) => EntryState::Queued,
        (CallKind::Deregister, _) => EntryState::Deregistering,
    };
    Entry { call: None, state, ..entry.clone() }
}

fn answered(
    entry: &Entry,
    kind: CallKind,
    answer: &Answer,
    wanted: &[Wanted],
    terms: &Terms<'_>,
) -> Entry {
    let settled = Entry { call: None, last_try: Some(Time(answer.at)), ..entry.clone() };
    match (kind, &answer.end) {
        (CallKind::Deregister, Ok(_)) => not_registered(settled),
        (CallKind::Register | CallKind::Lookup, Ok(captured))
            if bytes(&settled, captured) > MOST_CAPTURED =>
        {
            let (bytes, most) = (bytes(&settled, captured), MOST_CAPTURED);
            let message = Some(short(&Answered::TooMuch { bytes, most }.to_string()));
            let attempts = settled.attempts.saturating_add(1);
            let (state, cause) = (after_failure(entry), Some(Cause::Refused));
            Entry { state, attempts, cause, message, ..settled }
        }
        (CallKind::Register, Ok(captured)) => {
            let entry = registered(settled, captured);
            // Such an answer as "it is there already" brings no values.
            let call = terms.lacks_values(&entry).then(|| terms.begun(CallKind::Lookup));
            Entry { call: call.flatten(), ..entry }
        }
        (CallKind::Lookup, Ok(captured)) => {
            let found = registered(settled, captured);
            match entry.state == EntryState::Deregistering && terms.lacks_values(&found) {
                true => still_lacking(found, entry),
                false => found,
            }
        }
        (CallKind::Lookup, Err(failed)) if is_not_found(failed) => {
            // What has failed before is no better for this answer: its pauses go on growing.
            let (attempts, cause) = (entry.attempts, entry.cause);
            let message = entry.message.clone();
            let absent = Entry { attempts, cause, message, ..not_registered(settled) };
            register(absent, wanted, terms)
        }
        // What was registered once is not in doubt because a question failed.
        (CallKind::Lookup, Err(_)) if entry.state == EntryState::Registered => settled,
        (CallKind::Deregister, Err(why)) => failed(settled, EntryState::Deregistering, why),
        (CallKind::Register | CallKind::Lookup, Err(why)) => {
            failed(settled, after_failure(entry), why)
        }
    }
}

/// What an entry would keep after this answer.
fn bytes(entry: &Entry, captured: &Captured) -> usize {
    let is_kept = |name: &String| !captured.values.contains_key(name);
    let kept = entry.captured.iter().filter(|(name, _)| is_kept(name));
    kept.chain(&captured.values).map(|(name, value)| name.len() + value.len()).sum()
}

fn registered(entry: Entry, captured: &Captured) -> Entry {
    let mut values = entry.captured.clone();
    values.extend(captured.values.clone());
    let state = EntryState::Registered;
    Entry { state, attempts: 0, cause: None, message: None, captured: values, ..entry }
}

/// It is registered, and its removal has failed for what the service has not said now either. It
/// is tried all the same, as another removal may need none of it; the pauses go on growing.
fn still_lacking(found: Entry, before: &Entry) -> Entry {
    let (attempts, cause) = (before.attempts, before.cause);
    Entry { attempts, cause, message: before.message.clone(), ..found }
}

fn not_registered(entry: Entry) -> Entry {
    let (captured, state) = (BTreeMap::new(), EntryState::Queued);
    let last_try = None; // It is next: the service has answered, and well.
    Entry {
        hash: None,
        attempts: 0,
        cause: None,
        message: None,
        captured,
        state,
        last_try,
        ..entry
    }
}

/// Register it at once, as long as the answer that it is not is fresh.
fn register(entry: Entry, wanted: &[Wanted], terms: &Terms<'_>) -> Entry {
    let pod = wanted.iter().find(|pod| is(&entry, pod));
    match pod.filter(|pod| pod.hash.is_some() && terms.target == Target::Active) {
        Some(pod) => Entry {
            state: EntryState::Registering,
            call: terms.begun(CallKind::Register),
            hash: pod.hash.clone(),
            ip: pod.ip.clone(),
            node: pod.node.clone(),
            ..entry
        },
        None => entry,
    }
}

/// How an entry is after a registration or a question that came to nothing. One that is being
/// taken out was registered once, and its removal may need no answer.
fn after_failure(entry: &Entry) -> EntryState {
    match entry.state {
        EntryState::Deregistering => EntryState::Registered,
        EntryState::Queued
        | EntryState::Registering
        | EntryState::Registered
        | EntryState::Failed => EntryState::Failed,
    }
}

fn failed(entry: Entry, state: EntryState, why: &Failed) -> Entry {
    let attempts = entry.attempts.saturating_add(1);
    let (cause, message) = (Some(cause(why)), Some(short(&why.to_string())));
    Entry { state, attempts, cause, message, ..entry }
}

fn cause(failed: &Failed) -> Cause {
    match failed {
        Failed::Unreachable { .. } | Failed::TimedOut { .. } => Cause::Unreachable,
        Failed::NoCredentials { .. } | Failed::NoAuthority { .. } => Cause::Credentials,
        Failed::Code { .. }
        | Failed::Answered { .. }
        | Failed::TooLarge { .. }
        | Failed::NoRequest { .. } => Cause::Refused,
    }
}

fn is_not_found(failed: &Failed) -> bool {
    match failed {
        Failed::Code { code } | Failed::Answered { code, .. } => *code == NOT_FOUND,
        Failed::Unreachable { .. }
        | Failed::TimedOut { .. }
        | Failed::TooLarge { .. }
        | Failed::NoCredentials { .. }
        | Failed::NoAuthority { .. }
        | Failed::NoRequest { .. } => false,
    }
}

fn short(message: &str) -> String {
    let mut short = String::new();
    for char in message.chars() {
        if short.len() + char.len_utf8() > LONGEST {
            break;
        }
        short.push(char);
    }
    short
}
