//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

mod sets;

use crate::decide::active;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use crate::words::refusal::Refusal;
use crate::words::rollout;
use crate::words::status::{
    Accepted, Available, Failed, Fine, Paused, Rest, Running, Starting, Stuck,
};
use palladion_api::ZonedStatefulSetSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PAUSED, PROGRESSING};
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::{RolloutState, names};
use palladion_plan::workload::pod::PodTroubleKind;
use palladion_plan::workload::words::Doing;
use palladion_plan::{Conditions, FailureClass, Trouble, Truth, wait};
use serde_json::{Value, json};
use sets::{most_telling, sets};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Status of an owner that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted = usize::try_from(valid.replicas).unwrap_or_default() * valid.zones.len();
    let ready = facts.pods().filter(|p| p.is_ready()).count();
    let is_ready = is_ready(facts, valid, draft);
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(&mut writer, facts, valid, ready, wanted);
    progressing(&mut writer, facts, valid, draft, is_ready);
    degraded(&mut writer, facts, valid, draft);
    paused(&mut writer, facts, &valid.spec);
    let active: Vec<&str> =
        facts.pods().filter(|p| active::is_labelled(p)).map(|p| p.name.as_str()).collect();
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "ready": is_ready,
        "pods": format!("{ready}/{wanted}"),
        "replicas": valid.replicas,
        "selector": format!("{}={},{}=0", names::OWNER, valid.name, names::AZ_INDEX),
        "version": facts.sets.values().map(|s| s.version).max().unwrap_or(facts.status.version),
        "rollout": most_telling(facts, draft),
        "sets": map_or_null(&sets(facts, draft)),
        "activePods": (!active.is_empty()).then(|| active.join(",")),
        "pendingConfig": draft.more.pending_config,
        "secretVersions": map_or_null(&draft.more.secret_versions),
    })
}

/// Status of an owner that was refused: what runs goes on running.
pub fn refused(facts: &Facts<'_>, refusal: Refusal) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": Value::Null,
        "ready": false,
    })
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &Facts<'_>, spec: &ZonedStatefulSetSpec) -> Option<Paused> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(Paused::Everywhere);
    }
    spec.paused.then_some(Paused::Here)
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
                && draft.more.wanted.contains(&set.name)
                && i32::try_from(ready) == Ok(valid.replicas)
        })
        && !draft.waits.iter().any(|w| w.reason == Reason::RollingOut)
}

fn available(
    writer: &mut Conditions,
    facts: &Facts<'_>,
    valid: &Valid,
    ready: usize,
    wanted: usize,
) {
    let zone_without = valid.zones.iter().find(|zone| {
        let mut sets = facts.sets.values().filter(|s| s.zone_index == zone.index);
        valid.replicas > 0 && !sets.any(|s| s.ready() > 0)
    });
    match zone_without.map(|zone| zone.name.clone()) {
        None => writer.set_true(AVAILABLE, Available::Ready { ready, wanted }),
        Some(None) => writer.set_false(AVAILABLE, Available::Without { ready, wanted }),
        Some(Some(zone)) => {
            writer.set_false(AVAILABLE, Available::ZoneWithout { ready, wanted, zone });
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
        return writer.set_false(PROGRESSING, paused);
    }
    // A zone that failed says more than those that wait for it.
    if let Some(failed) = draft.troubles.iter().find(|t| t.reason == Reason::RolloutFailed) {
        return writer.set(PROGRESSING, Truth::False, failed.reason, &failed.message);
    }
    if let Some(wait) = draft.waits.first() {
        return writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    if is_ready {
        return writer.set_false(PROGRESSING, rest(valid));
    }
    let pod = facts.pods().find(|p| !p.is_ready());
    let starting = pod.map_or(Starting::NotApplied, |pod| Starting::Pod { pod: pod.words() });
    writer.set_true(PROGRESSING, starting);
}

fn rest(valid: &Valid) -> Rest {
    let (asked, replicas) = (valid.spec.template.spec.replicas, valid.replicas);
    match asked == replicas {
        true => Rest::AllReady,
        false => Rest::Limited { asked, replicas },
    }
}

fn degraded(writer: &mut Conditions, facts: &Facts<'_>, valid: &Valid, draft: &Draft) {
    let trouble =
        failure(facts).or_else(|| draft.troubles.first().cloned()).or_else(|| stuck_pod(facts));
    let (asked, replicas) = (valid.spec.template.spec.replicas, valid.replicas);
    match trouble {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None if asked != replicas => {
            writer.set_false(DEGRADED, Fine::Limited { asked, replicas });
        }
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

/// The step that failed the last time, by what it did (ADR 105).
fn failure(facts: &Facts<'_>) -> Option<Trouble> {
    let failed = facts.snapshot.failure.as_ref()?;
    let key = failed.object.as_ref().filter(|key| key.resource == STATEFUL_SET);
    let what = key.map(ToString::to_string).unwrap_or_default();
    let set = key.map(|key| key.name.clone()).unwrap_or_default();
    let was = |doing: &dyn Display| key.is_some() && failed.doing == doing.to_string();
    let is_create = was(&Doing::Create { what: what.clone() });
    let is_update = was(&Doing::Update { what }) || was(&rollout::Doing::StopOldPods { set });
    let (doing, answer) = (failed.doing.clone(), failed.message.clone());
    Some(Trouble::of(match failed.class {
        FailureClass::Conflict | FailureClass::Held => return None,
        FailureClass::Foreign => Failed::Foreign { doing, answer },
        FailureClass::Refused if is_create => Failed::Create { doing, answer },
        FailureClass::Refused if is_update => Failed::Update { doing, answer },
        FailureClass::Refused | FailureClass::Transient => Failed::Other { doing, answer },
    }))
}

fn stuck_pod(facts: &Facts<'_>) -> Option<Trouble> {
    let stuck = facts.pods().find(|p| p.is_stuck())?;
    let pod = stuck.words();
    Some(Trouble::of(match &stuck.trouble {
        None => Stuck::Unschedulable { pod },
        Some(trouble) => match trouble.kind() {
            PodTroubleKind::ImagePull => Stuck::ImagePull { pod },
            PodTroubleKind::OutOfMemory | PodTroubleKind::Other => Stuck::Failing { pod },
        },
    }))
}

fn paused(writer: &mut Conditions, facts: &Facts<'_>, spec: &ZonedStatefulSetSpec) {
    match pause(facts, spec) {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
}
