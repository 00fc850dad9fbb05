//! The status of a Component.

use super::common::{self, dependencies_ready, failure, paused, stuck_pod};
use super::service;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::facts::dependencies::{Seen, see};
use crate::facts::graph::Graph;
use crate::validate::Valid;
use crate::words::gates::Passed;
use crate::words::refusal::Refusal;
use crate::words::status::{Accepted, Available, Fine, Paused, Rest, Starting};
use palladion_api::ComponentSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, GATES_PASSED, PROGRESSING};
use palladion_api::service::ServiceStatus;
use palladion_api::staged::{Gate, GateState};
use palladion_plan::{Conditions, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Status of an owner that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let (service, formed) = service::of(facts, valid);
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(&mut writer, &service, formed);
    progressing(&mut writer, facts, valid, draft, &service);
    degraded(&mut writer, facts, draft);
    paused(&mut writer, pause(facts, &valid.spec));
    dependencies(&mut writer, facts, &valid.spec, draft);
    gates_passed(&mut writer, valid.spec.replicas, draft);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "service": has_begun(facts, draft).then_some(&service),
        "pods": format!("{}/{}", service.ready, service.wanted),
        "formed": formed,
        "layer": Graph::read(facts.snapshot).layer(&valid.name),
        "gates": if_any(&draft.more.gates),
        "pendingChange": draft.more.pending_change,
    })
}

/// Was anything created, or is it now? Until then the claims may still be put right.
fn has_begun(facts: &Facts<'_>, draft: &Draft) -> bool {
    facts.status.service.is_some() || facts.set.is_some() || !draft.steps.is_empty()
}

/// Status of an owner that was refused: what runs goes on running, and how it runs is still
/// said, as others start and call by that.
pub fn refused(facts: &Facts<'_>, refusal: Refusal, draft: &Draft) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal);
    let mut status = json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "waits": Value::Null,
    });
    degraded(&mut writer, facts, draft);
    let is_paused = facts.spec.as_ref().is_ok_and(|spec| spec.paused);
    paused(&mut writer, common::pause(facts.operator_config.as_ref(), is_paused));
    if let Ok(spec) = &facts.spec {
        dependencies(&mut writer, facts, spec, draft);
    }
    if let Some((service, formed)) = service::kept(facts) {
        available(&mut writer, &service, formed);
        gates_passed(&mut writer, i32::try_from(service.wanted).unwrap_or(i32::MAX), draft);
        status["pods"] = json!(format!("{}/{}", service.ready, service.wanted));
        status["gates"] = if_any(&draft.more.gates);
        status["formed"] = json!(formed);
        status["service"] = json!(service);
    }
    status["conditions"] = json!(writer.all());
    status
}

fn dependencies(writer: &mut Conditions, facts: &Facts<'_>, spec: &ComponentSpec, draft: &Draft) {
    let on = &spec.depends_on;
    let is_unread = on.iter().any(|d| matches!(see(facts.snapshot, d), Seen::Unread { .. }));
    dependencies_ready(writer, draft.more.missing.as_ref(), is_unread, !on.is_empty());
}

fn if_any(gates: &[Gate]) -> Value {
    if gates.is_empty() { Value::Null } else { json!(gates) }
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &Facts<'_>, spec: &ComponentSpec) -> Option<Paused> {
    common::pause(facts.operator_config.as_ref(), spec.paused)
}

fn stored(facts: &Facts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.now())
}

fn available(writer: &mut Conditions, service: &ServiceStatus, formed: bool) {
    let (ready, wanted) = (service.ready, service.wanted);
    let of = if formed { u32::try_from(service.nodes.len()).unwrap_or(wanted) } else { wanted };
    match service.active {
        true => writer.set_true(AVAILABLE, Available::Ready { ready, wanted }),
        false if wanted == 0 => writer.set_false(AVAILABLE, Available::NoPods),
        false => {
            let needed = of / 2 + 1;
            writer.set_false(AVAILABLE, Available::TooFew { ready, wanted, needed });
        }
    }
}

fn progressing(
    writer: &mut Conditions,
    facts: &Facts<'_>,
    valid: &Valid,
    draft: &Draft,
    service: &ServiceStatus,
) {
    if let Some(paused) = pause(facts, &valid.spec) {
        return writer.set_false(PROGRESSING, paused);
    }
    if let Some(wait) = draft.waits.first() {
        return writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    let is_applied = facts.set.as_ref().is_some_and(|set| set.seen);
    if is_applied && service.ready == service.wanted {
        return writer.set_false(PROGRESSING, Rest::AllReady);
    }
    let pod = facts.pods.iter().find(|p| !p.is_ready());
    let starting = pod.map_or(Starting::NotApplied, |pod| Starting::Pod { pod: pod.words() });
    writer.set_true(PROGRESSING, starting);
}

fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    let trouble = failure(facts.snapshot).or_else(|| draft.troubles.first().cloned());
    let trouble = trouble.or_else(|| stuck_pod(&facts.pods));
    match trouble {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

fn gates_passed(writer: &mut Conditions, wanted: i32, draft: &Draft) {
    let gates = &draft.more.gates;
    let passed = gates.iter().filter(|gate| gate.state == GateState::Passed).count();
    match &draft.more.closed {
        _ if wanted == 0 => writer.set_true(GATES_PASSED, Passed::NoPods),
        _ if i32::try_from(passed) == Ok(wanted) => writer.set_true(GATES_PASSED, Passed::All),
        Some(Trouble { reason, message }) => {
            writer.set(GATES_PASSED, Truth::False, *reason, message.clone());
        }
        None => writer.set_false(GATES_PASSED, Passed::Waiting { passed, wanted }),
    }
}
