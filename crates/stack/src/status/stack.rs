//! The status of a Stack: the state of all its services in one place.

use super::common;
use crate::decide::stack::{Found, needs_a_person};
use crate::facts::StackFacts;
use crate::facts::graph::Graph;
use crate::words::refusal::Refusal;
use crate::words::stack::{Available, Child};
use crate::words::status::{Accepted, Fine, Paused};
use palladion_api::StackSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PROGRESSING};
use palladion_api::stack::{LeftBehind, MOST_SERVICES, ServiceStatus, StackKind};
use palladion_plan::words::Message;
use palladion_plan::{Conditions, Draft, Object, ObjectKey, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Characters of the message of a service at the most.
const LONGEST: usize = 512;

/// Status of a Stack that was understood.
pub fn of(facts: &StackFacts<'_>, spec: &StackSpec, all: &[Found<'_>], draft: &Draft) -> Value {
    let services: Vec<ServiceStatus> = all.iter().map(|found| service(facts, found)).collect();
    let active = services.iter().filter(|s| s.active).count();
    let ready = services.iter().filter(|s| s.active && s.ready).count();
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    let first = all.iter().zip(&services).find(|(_, s)| s.active && !s.ready);
    let first = first.and_then(|(found, _)| trouble(facts, found));
    match (ready == active, active) {
        (true, 0) => writer.set_false(AVAILABLE, Available::None),
        (true, services) => writer.set_true(AVAILABLE, Available::All { services }),
        (false, services) => writer.set_false(AVAILABLE, Available::Some { ready, services }),
    }
    match (pause(facts, spec), &first) {
        (Some(paused), _) => writer.set_false(PROGRESSING, paused),
        (None, Some(Trouble { reason, message })) => {
            writer.set(PROGRESSING, Truth::True, *reason, message.clone());
        }
        (None, None) => writer.set_false(PROGRESSING, Available::All { services: active }),
    }
    let bad = all.iter().filter_map(|found| found.trouble.clone()).find(needs_a_person);
    match bad.or_else(|| common::failure(facts.snapshot)) {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
    common::paused(&mut writer, pause(facts, spec));
    let left = left_behind(facts, spec);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.snapshot.now),
        "ready": format!("{ready}/{active}"),
        "services": services,
        "leftBehind": if left.is_empty() { Value::Null } else { json!(left) },
    })
}

/// Status of a Stack that was refused: what runs goes on running.
pub fn refused(facts: &StackFacts<'_>, refusal: Refusal) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": Value::Null,
    })
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &StackFacts<'_>, spec: &StackSpec) -> Option<Paused> {
    common::pause(facts.operator_config.as_ref(), spec.paused)
}

fn stored(facts: &StackFacts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.snapshot.now)
}

fn service(facts: &StackFacts<'_>, found: &Found<'_>) -> ServiceStatus {
    let is_ready = found.object.as_ref().is_some_and(|o| is_ready(found.service.kind, o));
    let ready = is_ready && found.trouble.is_none();
    let trouble = if ready { None } else { trouble(facts, found) };
    let cut = |message: &Message| message.to_string().chars().take(LONGEST).collect();
    ServiceStatus {
        name: found.service.name.clone(),
        kind: found.service.kind,
        active: found.service.activate,
        created: found.created,
        ready,
        layer: layer(facts, found),
        reason: trouble.as_ref().map(|t| t.reason.as_str().to_string()),
        message: trouble.as_ref().map(|t| cut(&t.message)),
    }
}

/// A profile has no state: it is there or it is not.
fn is_ready(kind: StackKind, object: &Object) -> bool {
    match kind {
        StackKind::NodeAgentProfile => true,
        StackKind::CassandraCluster
        | StackKind::ZookeeperCluster
        | StackKind::RabbitmqCluster
        | StackKind::Component
        | StackKind::Registration
        | StackKind::NodeAgentGroup => {
            condition(object, AVAILABLE).is_some_and(|c| c["status"] == "True")
        }
    }
}

fn condition<'a>(object: &'a Object, type_: &str) -> Option<&'a Value> {
    let all = object.at("/status/conditions").and_then(Value::as_array)?;
    all.iter().find(|c| c["type"] == type_)
}

/// Why a service is not available: what the Stack knows, or what it says itself.
fn trouble(facts: &StackFacts<'_>, found: &Found<'_>) -> Option<Trouble> {
    if let Some(trouble) = &found.trouble {
        return Some(trouble.clone());
    }
    let object = found.object.as_ref()?;
    let resource = crate::resources::of_stack(found.service.kind);
    let namespace = &facts.snapshot.owner.meta.namespace;
    let child = ObjectKey::new(resource, namespace, &found.service.name).to_string();
    let refused = condition(object, ACCEPTED).filter(|c| c["status"] == "False");
    let says = refused.or_else(|| condition(object, PROGRESSING));
    Some(Trouble::of(match says.and_then(|c| c["message"].as_str()) {
        Some(message) => Child::Says { child, message: message.to_string() },
        None => Child::Silent { child },
    }))
}

/// Only what others depend on has a place in the order.
fn layer(facts: &StackFacts<'_>, found: &Found<'_>) -> Option<u32> {
    match found.service.kind {
        StackKind::CassandraCluster | StackKind::ZookeeperCluster | StackKind::RabbitmqCluster => {
            Some(0)
        }
        StackKind::Component if found.object.is_some() => {
            Graph::read(facts.snapshot).layer(&found.service.name)
        }
        StackKind::Component
        | StackKind::Registration
        | StackKind::NodeAgentProfile
        | StackKind::NodeAgentGroup => None,
    }
}

/// Services that were in the spec, are no more, and still exist.
fn left_behind(facts: &StackFacts<'_>, spec: &StackSpec) -> Vec<LeftBehind> {
    let before = facts.status.services.iter().filter(|s| s.active);
    let before = before.map(|s| LeftBehind { kind: s.kind, name: s.name.clone() });
    let mut left: Vec<LeftBehind> =
        before.chain(facts.status.left_behind.iter().cloned()).collect();
    let is_in_spec = |left: &LeftBehind| {
        spec.services.iter().any(|s| s.kind == left.kind && s.name == left.name)
    };
    // What cannot be read may still be there.
    let exists = |left: &LeftBehind| match facts.child(left.kind, &left.name) {
        Ok(object) => object.is_some(),
        Err(_) => true,
    };
    left.retain(|left| !is_in_spec(left) && exists(left));
    left.sort();
    left.dedup();
    left.truncate(MOST_SERVICES);
    left
}
