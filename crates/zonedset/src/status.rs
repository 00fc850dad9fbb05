//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

mod sets;

use crate::decide::{Draft, active};
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::ZonedStatefulSetSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PAUSED, PROGRESSING};
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::{RolloutState, names};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Conditions, FailureClass, Truth};
use serde_json::{Value, json};
use sets::{most_telling, sets};
use std::collections::BTreeMap;

/// Status of an owner that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted = usize::try_from(valid.replicas).unwrap_or_default() * valid.zones.len();
    let ready = facts.pods().filter(|p| p.is_ready()).count();
    let is_ready = is_ready(facts, valid, draft);
    let mut writer = stored(facts);
    writer.set(ACCEPTED, Truth::True, Reason::Valid, "the spec was read and can be carried out");
    available(&mut writer, facts, valid, ready, wanted);
    progressing(&mut writer, facts, valid, draft, is_ready);
    degraded(&mut writer, facts, valid, draft);
    paused(&mut writer, facts, &valid.spec);
    let active: Vec<&str> =
        facts.pods().filter(|p| active::is_labelled(p)).map(|p| p.name.as_str()).collect();
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "ready": is_ready,
        "pods": format!("{ready}/{wanted}"),
        "replicas": valid.replicas,
        "selector": format!("{}={},{}=0", names::OWNER, valid.name, names::AZ_INDEX),
        "version": facts.sets.values().map(|s| s.version).max().unwrap_or(facts.status.version),
        "rollout": most_telling(facts, draft),
        "sets": map_or_null(&sets(facts, draft)),
        "activePods": (!active.is_empty()).then(|| active.join(",")),
        "pendingConfig": draft.pending_config,
        "secretVersions": map_or_null(&draft.secret_versions),
    })
}

/// Status of an owner that was refused: what runs goes on running.
pub fn refused(facts: &Facts<'_>, message: &str) -> Value {
    let mut writer = stored(facts);
    writer.set(ACCEPTED, Truth::False, Reason::InvalidSpec, message);
    writer.set(PROGRESSING, Truth::False, Reason::InvalidSpec, message);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "ready": false,
    })
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &Facts<'_>, spec: &ZonedStatefulSetSpec) -> Option<&'static str> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(
            "OperatorConfig default has `paused: true`; nothing but status is written for any object",
        );
    }
    spec.paused.then_some("`spec.paused` is true; nothing but status is written for this object")
}

/// An empty map is no field at all.
fn map_or_null<T: serde::Serialize>(map: &BTreeMap<String, T>) -> Value {
    if map.is_empty() { Value::Null } else { json!(map) }
}

fn stored(facts: &Facts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.now())
}

/// Everything as wanted: the wanted sets alone, done, all their pods ready, and
/// nothing that this decision is about to change.
fn is_ready(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> bool {
    facts.sets.len() == valid.zones.len()
        && facts.sets.values().all(|set| {
            let goes_on = set.state == RolloutState::Done && set.replicas == valid.replicas;
            let ready = set.pods.iter().filter(|p| p.is_ready()).count();
            goes_on
                && set.seen
                && draft.wanted.contains(&set.name)
                && i32::try_from(ready) == Ok(valid.replicas)
        })
        && !draft.waits.iter().any(|w| w.reason == Reason::RollingOut.as_str())
}

fn available(
    writer: &mut Conditions,
    facts: &Facts<'_>,
    valid: &Valid,
    ready: usize,
    wanted: usize,
) {
    let message = format!("{ready} of {wanted} pods are ready");
    let zone_without = valid.zones.iter().find(|zone| {
        let mut sets = facts.sets.values().filter(|s| s.zone_index == zone.index);
        valid.replicas > 0 && !sets.any(|s| s.ready() > 0)
    });
    match zone_without {
        None => writer.set(AVAILABLE, Truth::True, Reason::AsWanted, &message),
        Some(zone) => {
            let place =
                zone.name.as_ref().map(|z| format!("; zone {z} has none")).unwrap_or_default();
            writer.set(AVAILABLE, Truth::False, Reason::PodsNotReady, &format!("{message}{place}"));
        }
    }
}

fn progressing(
    writer: &mut Conditions,
    facts: &Facts<'_>,
    valid: &Valid,
    draft: &Draft,
    is_ready: bool,
) {
    if let Some(paused) = pause(facts, &valid.spec) {
        return writer.set(PROGRESSING, Truth::False, Reason::Paused, paused);
    }
    // A zone that failed says more than those that wait for it.
    if let Some((reason, message)) =
        draft.troubles.iter().find(|(r, _)| *r == Reason::RolloutFailed)
    {
        return writer.set(PROGRESSING, Truth::False, *reason, message);
    }
    if let Some(wait) = draft.waits.first() {
        let reason = Reason::ALL.iter().find(|r| r.as_str() == wait.reason).copied();
        return writer.set(
            PROGRESSING,
            Truth::True,
            reason.unwrap_or(Reason::CreatingObjects),
            &wait.message,
        );
    }
    if is_ready {
        return writer.set(PROGRESSING, Truth::False, Reason::AsWanted, &as_wanted(valid));
    }
    let words = facts.pods().find(|p| !p.is_ready()).map(PodFact::words);
    writer.set(
        PROGRESSING,
        Truth::True,
        Reason::PodsNotReady,
        &words.unwrap_or_else(|| "pods are being made".into()),
    );
}

fn as_wanted(valid: &Valid) -> String {
    let asked = valid.spec.template.spec.replicas;
    match asked == valid.replicas {
        true => "all pods are ready".into(),
        false => format!(
            "all pods are ready; {asked} replicas were asked for, `scaling` makes it {}",
            valid.replicas
        ),
    }
}

fn degraded(writer: &mut Conditions, facts: &Facts<'_>, valid: &Valid, draft: &Draft) {
    let trouble =
        failure(facts).or_else(|| draft.troubles.first().cloned()).or_else(|| stuck_pod(facts));
    match trouble {
        Some((reason, message)) => writer.set(DEGRADED, Truth::True, reason, &message),
        None if valid.spec.template.spec.replicas != valid.replicas => {
            writer.set(DEGRADED, Truth::False, Reason::ReplicasLimited, &as_wanted(valid));
        }
        None => writer.set(DEGRADED, Truth::False, Reason::AsWanted, "nothing needs a person"),
    }
}

/// The step that failed the last time, by what it did (ADR 105).
fn failure(facts: &Facts<'_>) -> Option<(Reason, String)> {
    let failed = facts.snapshot.failure.as_ref()?;
    let reason = match failed.class {
        FailureClass::Conflict => return None,
        FailureClass::Foreign => Reason::ForeignObject,
        FailureClass::Transient => Reason::ErrSyncFailed,
        FailureClass::Refused if failed.doing.starts_with("create StatefulSet") => {
            Reason::CreateStatefulSetError
        }
        FailureClass::Refused if failed.doing.starts_with("update StatefulSet") => {
            Reason::UpdateError
        }
        FailureClass::Refused => Reason::ErrSyncFailed,
    };
    Some((reason, format!("could not {}: {}", failed.doing, failed.message)))
}

fn stuck_pod(facts: &Facts<'_>) -> Option<(Reason, String)> {
    let pod = facts.pods().find(|p| p.is_stuck())?;
    let reason = match &pod.trouble {
        None => Reason::Unschedulable,
        Some(trouble) => match trouble.reason.as_str() {
            "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull" => {
                Reason::ImagePullFailed
            }
            _ => Reason::PodFailing,
        },
    };
    Some((reason, pod.words()))
}

fn paused(writer: &mut Conditions, facts: &Facts<'_>, spec: &ZonedStatefulSetSpec) {
    match pause(facts, spec) {
        Some(message) => writer.set(PAUSED, Truth::True, Reason::Paused, message),
        None => writer.set(PAUSED, Truth::False, Reason::AsWanted, "not paused"),
    }
}
