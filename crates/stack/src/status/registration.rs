//! The status of a Registration.

use super::common;
use crate::decide::registration::{Called, Reached, host, selected, target_uid};
use crate::facts::RegistrationFacts;
use crate::facts::registration::resource;
use crate::registration::{Next, Wanted, given_up, is};
use crate::validate::ValidRegistration;
use crate::words::refusal::Refusal;
use crate::words::registration::{Progress, Registered, Trouble as Wrong, Unselected};
use crate::words::status::{Accepted, Fine, Paused};
use palladion_api::RegistrationSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PROGRESSING};
use palladion_api::registration::status::MOST_ENTRIES;
use palladion_api::registration::{Cause, Entry, EntryState, Selected};
use palladion_plan::{Conditions, Draft, Trouble, Truth, wait};
use serde_json::{Value, json};
use std::collections::BTreeMap;

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
    let gone = called.trouble.as_ref().filter(|_| called.reached == Reached::No);
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    let absent = absent(facts, &valid.spec);
    match gone {
        // Nobody knows what it would answer.
        Some(Trouble { reason, message }) => {
            writer.set(AVAILABLE, Truth::False, *reason, message.clone());
        }
        None => available(&mut writer, (registered, pods), absent.as_ref()),
    }
    let leaving = next.entries.iter().filter(|e| e.gone_since.is_some()).count();
    match (pause(facts, &valid.spec), &called.trouble) {
        (Some(paused), _) => writer.set_false(PROGRESSING, paused),
        (None, Some(Trouble { reason, message }))
            if registered < pods || leaving > 0 || gone.is_some() =>
        {
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
    writer.set_false(DEGRADED, Fine::Nothing);
    let is_paused = facts.spec.as_ref().is_ok_and(|spec| spec.paused);
    common::paused(&mut writer, common::pause(facts.operator_config.as_ref(), is_paused));
    let entries = given_up(&facts.status.entries);
    let mut status = json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "waits": Value::Null,
        "entries": if entries.is_empty() { Value::Null } else { json!(entries) },
    });
    // How many there are is still said.
    let spec = facts.spec.as_ref().map_err(Clone::clone);
    if let Ok((wanted, spec)) = spec.and_then(|spec| Ok((selected(facts, spec)?, spec))) {
        let is_done =
            |pod: &&Wanted| entries.iter().any(|e| e.state == EntryState::Registered && is(e, pod));
        let (pods, registered) = (wanted.len(), wanted.iter().filter(is_done).count());
        available(&mut writer, (registered, pods), absent(facts, spec).as_ref());
        status["registered"] = json!(format!("{registered}/{pods}"));
    }
    status["conditions"] = json!(writer.all());
    status
}

/// A selected service that does not exist: it has no pods, and is not meant to have none.
fn absent(facts: &RegistrationFacts<'_>, spec: &RegistrationSpec) -> Option<Unselected> {
    let selected = facts.absent(&spec.select)?;
    let service = format!("{} {}", resource(selected.kind).kind, selected.name);
    Some(Unselected::Absent { service })
}

fn available(
    writer: &mut Conditions,
    (registered, pods): (usize, usize),
    absent: Option<&Unselected>,
) {
    if let Some(absent) = absent.filter(|_| registered == pods) {
        return writer.set_false(AVAILABLE, absent.clone());
    }
    match (registered == pods, pods) {
        (true, 0) => writer.set_true(AVAILABLE, Registered::None),
        (true, pods) => writer.set_true(AVAILABLE, Registered::All { pods }),
        (false, pods) => writer.set_false(AVAILABLE, Registered::Some { registered, pods }),
    }
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
    twice(facts, &valid.spec)
}

/// The first name that two services have for pods of different addresses. The later one is left
/// out.
fn twice(facts: &RegistrationFacts<'_>, spec: &RegistrationSpec) -> Option<Wrong> {
    let words = |selected: &Selected| format!("{} {}", resource(selected.kind).kind, selected.name);
    let mut seen: BTreeMap<String, (String, &Selected)> = BTreeMap::new();
    for selected in &spec.select {
        for pod in facts.wanted(selected).ok()? {
            match seen.get(&pod.name) {
                Some((address, first)) if *address != pod.address => {
                    let (first, second) = (words(first), words(selected));
                    return Some(Wrong::Twice { pod: pod.name, first, second });
                }
                Some(_) => {}
                None => {
                    seen.insert(pod.name, (pod.address, selected));
                }
            }
        }
    }
    None
}
