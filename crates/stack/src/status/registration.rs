//! The status of a Registration.

use super::common;
use crate::decide::registration::{Called, host, target_uid};
use crate::facts::RegistrationFacts;
use crate::facts::registration::resource;
use crate::registration::{Next, Wanted, given_up};
use crate::validate::ValidRegistration;
use crate::words::refusal::Refusal;
use crate::words::registration::{Progress, Registered, Trouble as Wrong, Unselected};
use crate::words::status::{Accepted, Fine, Paused};
use palladion_api::RegistrationSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PROGRESSING};
use palladion_api::registration::status::MOST_ENTRIES;
use palladion_api::registration::{Cause, Entry, EntryState};
use palladion_plan::{Conditions, Draft, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Failures in a row before a person is told: one may be the restart of a pod.
const TOLD_AFTER: i32 = 3;

/// Status of a Registration that was understood.
pub fn of(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
    (wanted, next): (&[Wanted], &Next),
    draft: &Draft,
) -> Value {
    let is_done =
        |entry: &&Entry| entry.state == EntryState::Registered && entry.gone_since.is_none();
    let (pods, registered) = (wanted.len(), next.entries.iter().filter(is_done).count());
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    // One that does not exist has no pods, and is not meant to have none.
    let absent = facts.absent(&valid.spec.select).map(|selected| {
        let service = format!("{} {}", resource(selected.kind).kind, selected.name);
        Unselected::Absent { service }
    });
    match (registered == pods, pods) {
        (true, _) if absent.is_some() => {
            absent.iter().for_each(|absent| writer.set_false(AVAILABLE, absent.clone()));
        }
        (true, 0) => writer.set_true(AVAILABLE, Registered::None),
        (true, pods) => writer.set_true(AVAILABLE, Registered::All { pods }),
        (false, pods) => writer.set_false(AVAILABLE, Registered::Some { registered, pods }),
    }
    let leaving = next.entries.iter().filter(|e| e.gone_since.is_some()).count();
    match (pause(facts, &valid.spec), &called.trouble) {
        (Some(paused), _) => writer.set_false(PROGRESSING, paused),
        (None, Some(Trouble { reason, message })) if registered < pods || leaving > 0 => {
            writer.set(PROGRESSING, Truth::True, *reason, message.clone());
        }
        (None, _) if registered < pods => {
            writer.set_true(PROGRESSING, Progress::Registering { registered, pods });
        }
        (None, _) if absent.is_some() => {
            absent.iter().for_each(|absent| writer.set_true(PROGRESSING, absent.clone()));
        }
        (None, _) if leaving > 0 => {
            writer.set_true(PROGRESSING, Progress::Removing { pods: leaving });
        }
        (None, _) => writer.set_false(PROGRESSING, Registered::All { pods }),
    }
    match wrong(facts, valid, called, next) {
        Some(wrong) => writer.set_true(DEGRADED, wrong),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
    common::paused(&mut writer, pause(facts, &valid.spec));
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.snapshot.now),
        "registered": format!("{registered}/{pods}"),
        "targetUID": target_uid(facts, valid),
        "entries": if next.entries.is_empty() { Value::Null } else { json!(next.entries) },
    })
}

/// Status of a Registration that was refused: nobody is called.
pub fn refused(facts: &RegistrationFacts<'_>, refusal: Refusal) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal);
    let entries = given_up(&facts.status.entries);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": Value::Null,
        "entries": if entries.is_empty() { Value::Null } else { json!(entries) },
    })
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &RegistrationFacts<'_>, spec: &RegistrationSpec) -> Option<Paused> {
    common::pause(facts.operator_config.as_ref(), spec.paused)
}

fn stored(facts: &RegistrationFacts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.snapshot.now)
}

/// What a person has to look at: the cause that keeps the most from being done.
fn wrong(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
    next: &Next,
) -> Option<Wrong> {
    if next.left_out > 0 {
        return Some(Wrong::TooMany { pods: next.left_out, most: MOST_ENTRIES });
    }
    let of_cause = |cause: Cause| -> Vec<&Entry> {
        let is_told = |entry: &&Entry| {
            entry.cause == Some(cause)
                && (cause != Cause::Unreachable || entry.attempts >= TOLD_AFTER)
        };
        next.entries.iter().filter(is_told).collect()
    };
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    for cause in [Cause::Credentials, Cause::Unreachable, Cause::Refused] {
        let all = of_cause(cause);
        let Some(first) = all.first() else {
            continue;
        };
        let (pods, pod) = (all.len(), first.name.clone());
        let answer = first.message.clone().unwrap_or_default();
        return Some(match cause {
            Cause::Credentials => Wrong::Credentials { pods, pod, namespace, answer },
            Cause::Unreachable => {
                let (host, port) = (host(valid, &namespace), called.port());
                Wrong::Unreachable { pods, pod, host, port, answer }
            }
            Cause::Refused => Wrong::Refused { pods, pod, answer },
        });
    }
    None
}
