//! The status of a Component.

use super::service;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::facts::dependencies::{Seen, see};
use crate::facts::graph::Graph;
use crate::validate::Valid;
use crate::words::dependencies::Satisfied;
use crate::words::gates::Passed;
use crate::words::refusal::Refusal;
use crate::words::status::Stuck;
use crate::words::status::{Accepted, Available, Failed, Fine, Paused, Rest, Running, Starting};
use palladion_api::ComponentSpec;
use palladion_api::conditions::{
    ACCEPTED, AVAILABLE, DEGRADED, DEPENDENCIES_READY, GATES_PASSED, PAUSED, PROGRESSING,
};
use palladion_api::service::Service;
use palladion_api::staged::GateState;
use palladion_plan::{Conditions, FailureClass, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Status of an owner that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let (service, formed) = service::of(facts, valid);
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(&mut writer, &service, formed);
    progressing(&mut writer, facts, valid, draft, &service);
    degraded(&mut writer, facts, draft);
    paused(&mut writer, facts, &valid.spec);
    dependencies_ready(&mut writer, facts, valid, draft);
    gates_passed(&mut writer, valid, draft);
    let list = |empty: bool, value: Value| if empty { Value::Null } else { value };
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "service": service,
        "pods": format!("{}/{}", service.ready, service.wanted),
        "formed": formed,
        "layer": Graph::read(facts.snapshot).layer(&valid.name),
        "gates": list(draft.more.gates.is_empty(), json!(draft.more.gates)),
        "pendingChange": draft.more.pending_change,
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
    })
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &Facts<'_>, spec: &ComponentSpec) -> Option<Paused> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(Paused::Everywhere);
    }
    spec.paused.then_some(Paused::Here)
}

fn stored(facts: &Facts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.now())
}

fn available(writer: &mut Conditions, service: &Service, formed: bool) {
    let (ready, wanted) = (service.ready, service.wanted);
    let of = if formed { i32::try_from(service.nodes.len()).unwrap_or(wanted) } else { wanted };
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
    service: &Service,
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
    let trouble =
        failure(facts).or_else(|| draft.troubles.first().cloned()).or_else(|| stuck_pod(facts));
    match trouble {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

/// The step that failed the last time.
fn failure(facts: &Facts<'_>) -> Option<Trouble> {
    let failed = facts.snapshot.failure.as_ref()?;
    let (doing, answer) = (failed.doing.clone(), failed.message.clone());
    Some(Trouble::of(match failed.class {
        FailureClass::Conflict | FailureClass::Held => return None,
        FailureClass::Foreign => Failed::Foreign { doing, answer },
        FailureClass::Refused | FailureClass::Transient => Failed::Other { doing, answer },
    }))
}

fn stuck_pod(facts: &Facts<'_>) -> Option<Trouble> {
    let stuck = facts.pods.iter().find(|p| p.is_stuck())?;
    let pod = stuck.words();
    Some(Trouble::of(match &stuck.trouble {
        None => Stuck::Unschedulable { pod },
        Some(trouble) => match trouble.reason.as_str() {
            "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull" => {
                Stuck::ImagePull { pod }
            }
            _ => Stuck::Failing { pod },
        },
    }))
}

fn paused(writer: &mut Conditions, facts: &Facts<'_>, spec: &ComponentSpec) {
    match pause(facts, spec) {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
}

/// Unknown is a value: a dependency that cannot be read is not one that is away.
fn dependencies_ready(writer: &mut Conditions, facts: &Facts<'_>, valid: &Valid, draft: &Draft) {
    let all = valid.spec.depends_on.iter();
    let is_unread = all.clone().any(|d| matches!(see(facts.snapshot, d), Seen::Unread { .. }));
    match &draft.more.missing {
        Some(Trouble { reason, message }) => {
            let truth = if is_unread { Truth::Unknown } else { Truth::False };
            writer.set(DEPENDENCIES_READY, truth, *reason, message.clone());
        }
        None if all.len() == 0 => writer.set_true(DEPENDENCIES_READY, Satisfied::None),
        None => writer.set_true(DEPENDENCIES_READY, Satisfied::All),
    }
}

fn gates_passed(writer: &mut Conditions, valid: &Valid, draft: &Draft) {
    let gates = &draft.more.gates;
    let passed = gates.iter().filter(|gate| gate.state == GateState::Passed).count();
    let wanted = valid.spec.replicas;
    match &draft.more.closed {
        _ if wanted == 0 => writer.set_true(GATES_PASSED, Passed::NoPods),
        _ if i32::try_from(passed) == Ok(wanted) => writer.set_true(GATES_PASSED, Passed::All),
        Some(Trouble { reason, message }) => {
            writer.set(GATES_PASSED, Truth::False, *reason, message.clone());
        }
        None => writer.set_false(GATES_PASSED, Passed::Waiting { passed, wanted }),
    }
}
