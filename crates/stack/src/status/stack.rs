//! The status of a Stack: the state of all its services in one place.

use super::child::{self, Stand};
use super::common;
use crate::decide::stack::Found;
use crate::facts::StackFacts;
use crate::facts::graph::Graph;
use crate::words::refusal::Refusal;
use crate::words::stack::Available;
use crate::words::status::{Accepted, Fine, Paused};
use palladion_api::StackSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PROGRESSING};
use palladion_api::stack::{LeftBehind, MOST_SERVICES, ServiceStatus, StackKind};
use palladion_plan::words::Message;
use palladion_plan::{Conditions, Draft, Reason, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Characters of the message of a service at the most.
const LONGEST: usize = 512;

/// Status of a Stack that was understood.
pub fn of(facts: &StackFacts<'_>, spec: &StackSpec, all: &[Found<'_>], draft: &Draft) -> Value {
    let stands: Vec<Stand> = all.iter().map(|found| child::stand(facts, found)).collect();
    let services: Vec<ServiceStatus> =
        all.iter().zip(&stands).map(|(found, stand)| service(facts, found, stand)).collect();
    let of_active: Vec<&Stand> = all
        .iter()
        .zip(&stands)
        .filter(|(found, _)| found.service.activate)
        .map(|(_, s)| s)
        .collect();
    let active = of_active.len();
    let ready = of_active.iter().filter(|stand| stand.is_ready()).count();
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    match (ready == active, active) {
        (true, 0) => writer.set_false(AVAILABLE, Available::None),
        (true, services) => writer.set_true(AVAILABLE, Available::All { services }),
        (false, services) => writer.set_false(AVAILABLE, Available::Some { ready, services }),
    }
    let undone = of_active.iter().find(|stand| !stand.is_done());
    match (pause(facts, spec), undone.and_then(|stand| stand.trouble())) {
        (Some(paused), _) => writer.set_false(PROGRESSING, paused),
        (None, Some(Trouble { reason, message })) => {
            writer.set(PROGRESSING, Truth::True, *reason, message.clone());
        }
        (None, None) => writer.set_false(PROGRESSING, Available::All { services: active }),
    }
    let problem = of_active.iter().find_map(|stand| stand.problem().cloned());
    match problem.or_else(|| common::failure(facts.snapshot)) {
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

/// Status of a Stack whose spec cannot be read: what runs goes on running, and nobody knows which
/// of its services that is. What was said of them stays: what is left behind is known by it.
pub fn refused(facts: &StackFacts<'_>, refusal: Refusal) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal);
    for condition in [AVAILABLE, DEGRADED] {
        writer.set(condition, Truth::Unknown, Reason::FactUnknown, Available::NotLooked);
    }
    let is_paused = facts.spec.as_ref().is_ok_and(|spec| spec.paused);
    common::paused(&mut writer, common::pause(facts.operator_config.as_ref(), is_paused));
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": Value::Null,
        "ready": Value::Null,
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

fn service(facts: &StackFacts<'_>, found: &Found<'_>, stand: &Stand) -> ServiceStatus {
    let trouble = stand.trouble();
    let cut = |message: &Message| message.to_string().chars().take(LONGEST).collect();
    ServiceStatus {
        name: found.service.name.clone(),
        kind: found.service.kind,
        active: found.service.activate,
        created: found.created,
        ready: stand.is_ready(),
        layer: layer(facts, found),
        reason: trouble.map(|t| t.reason.as_str().to_string()),
        message: trouble.map(|t| cut(&t.message)),
    }
}

/// Its place in the order. Registrations and profiles have none: nothing of theirs starts.
fn layer(facts: &StackFacts<'_>, found: &Found<'_>) -> Option<u32> {
    match found.service.kind {
        StackKind::CassandraCluster | StackKind::ZookeeperCluster | StackKind::RabbitmqCluster => {
            Some(0)
        }
        StackKind::Component if found.object.is_some() => {
            Graph::read(facts.snapshot).layer(&found.service.name)
        }
        StackKind::NodeAgentGroup => {
            let object = found.object.as_ref()?;
            Graph::read(facts.snapshot).layer_upon(object.at("/spec/dependsOn"))
        }
        StackKind::Component | StackKind::Registration | StackKind::NodeAgentProfile => None,
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
