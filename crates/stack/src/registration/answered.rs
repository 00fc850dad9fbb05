//! What an answer makes of an entry.

use super::{Ask, Terms, ask, key};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::registration::{Entry, EntryState};
use palladion_plan::Captured;
use palladion_plan::words::exchange::Failed;

/// The code by which a service says that it knows no such pod.
const NOT_FOUND: u16 = 404;
/// Bytes of a message at the most.
const LONGEST: usize = 128;

/// An entry after the answer to its call, if there is one; `None` = it is gone.
pub fn settle(entry: &Entry, terms: &Terms<'_>) -> Option<Entry> {
    let (Some(asked), Some(answer)) =
        (ask(entry, terms.lookup), key(entry).and_then(|key| terms.answers.get(&key)))
    else {
        return Some(entry.clone());
    };
    let settled = Entry { nonce: None, last_try: Some(Time(answer.at)), ..entry.clone() };
    match (asked, &answer.end) {
        (Ask::Deregister, Ok(_)) => None,
        (Ask::Register | Ask::Lookup, Ok(captured)) => Some(registered(settled, captured)),
        (Ask::Lookup, Err(failed)) if is_not_found(failed) => Some(Entry {
            // It is registered at once: the service has answered, and well.
            state: EntryState::Queued,
            attempts: 0,
            message: None,
            last_try: None,
            ..settled
        }),
        // What was registered once is not in doubt because a question failed.
        (Ask::Lookup, Err(_)) if entry.state == EntryState::Registered => Some(settled),
        (Ask::Register | Ask::Deregister | Ask::Lookup, Err(failed)) => Some(Entry {
            state: EntryState::Failed,
            attempts: entry.attempts.saturating_add(1),
            message: Some(short(&failed.to_string())),
            ..settled
        }),
    }
}

fn registered(entry: Entry, captured: &Captured) -> Entry {
    let mut values = entry.captured.clone();
    values.extend(captured.values.clone());
    Entry { state: EntryState::Registered, attempts: 0, message: None, captured: values, ..entry }
}

fn is_not_found(failed: &Failed) -> bool {
    match failed {
        Failed::Code { code } | Failed::Answered { code, .. } => *code == NOT_FOUND,
        Failed::Unreachable { .. }
        | Failed::TimedOut { .. }
        | Failed::TooLarge { .. }
        | Failed::NoCredentials { .. } => false,
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
