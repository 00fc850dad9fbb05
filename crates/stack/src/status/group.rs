//! The status of a group of node agents.

use super::common::{self, dependencies_ready, failure, paused, stuck_pod};
use crate::decide::draft::Draft;
use crate::decide::group;
use crate::facts::GroupFacts;
use crate::facts::dependencies::{Seen, see};
use crate::validate::ValidGroup;
use crate::words::gates::Passed;
use crate::words::groups::Available;
use crate::words::refusal::GroupRefusal;
use crate::words::status::{Accepted, Fine, Paused, Rest, Starting};
use palladion_api::NodeAgentGroupSpec;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, GATES_PASSED, PROGRESSING};
use palladion_api::node_agents::GateCounts;
use palladion_api::node_agents::status::{MOST_GROUPS, MOST_OVERLAPS};
use palladion_api::service::ServiceStatus;
use palladion_api::staged::GateState;
use palladion_plan::words::Reasoned;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Conditions, Trouble, Truth, wait};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Status of a group that was understood.
pub fn of(facts: &GroupFacts<'_>, valid: &ValidGroup, draft: &Draft) -> Value {
    let ports = valid.spec.network.ports.iter();
    let ports = ports.filter_map(|p| Some((p.name.clone(), u16::try_from(p.port).ok()?)));
    let service = service(facts, ports.collect());
    let mut overlaps = group::of(facts);
    overlaps.truncate(MOST_OVERLAPS);
    overlaps.iter_mut().for_each(|overlap| overlap.groups.truncate(MOST_GROUPS));
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(&mut writer, &service);
    progressing(&mut writer, facts, valid, draft, &service);
    degraded(&mut writer, facts, draft);
    paused(&mut writer, pause(facts, &valid.spec));
    dependencies(&mut writer, facts, &valid.spec, draft);
    let gates = counts(draft);
    gates_passed(&mut writer, draft, gates, service.wanted);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.snapshot.now),
        "service": service,
        "pods": format!("{}/{}", service.ready, service.wanted),
        "gates": gates,
        "overlaps": if overlaps.is_empty() { Value::Null } else { json!(overlaps) },
        "pendingChange": draft.more.pending_change,
    })
}

/// Status of a group that was refused: what runs goes on running.
pub fn refused(facts: &GroupFacts<'_>, refusal: GroupRefusal, draft: &Draft) -> Value {
    // What is refused of every staged service has the same reason here.
    let reason = match &refusal {
        GroupRefusal::Shared { refusal } => refusal.reason(),
        GroupRefusal::NoProfile { .. }
        | GroupRefusal::BadProfile { .. }
        | GroupRefusal::Conflict { .. }
        | GroupRefusal::ModesExclusive { .. } => refusal.reason(),
    };
    let mut writer = stored(facts);
    writer.set(ACCEPTED, Truth::False, reason, refusal.clone());
    writer.set(PROGRESSING, Truth::False, reason, refusal);
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
    if let Some(stored) = &facts.status.service {
        // How the agents run is still said: others start by that.
        let service = service(facts, stored.ports.clone());
        let gates = counts(draft);
        available(&mut writer, &service);
        gates_passed(&mut writer, draft, gates, service.wanted);
        status["pods"] = json!(format!("{}/{}", service.ready, service.wanted));
        status["gates"] = json!(gates);
        status["service"] = json!(service);
    }
    status["conditions"] = json!(writer.all());
    status
}

fn dependencies(
    writer: &mut Conditions,
    facts: &GroupFacts<'_>,
    spec: &NodeAgentGroupSpec,
    draft: &Draft,
) {
    let on = &spec.depends_on;
    let is_unread = on.iter().any(|d| matches!(see(facts.snapshot, d), Seen::Unread { .. }));
    dependencies_ready(writer, draft.more.missing.as_ref(), is_unread, !on.is_empty());
}

/// Is everything, or this object, paused? Says where.
pub fn pause(facts: &GroupFacts<'_>, spec: &NodeAgentGroupSpec) -> Option<Paused> {
    common::pause(facts.operator_config.as_ref(), spec.paused)
}

fn stored(facts: &GroupFacts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.snapshot.now)
}

/// Of a group, counts alone: its nodes may be thousands.
fn service(facts: &GroupFacts<'_>, ports: BTreeMap<String, u16>) -> ServiceStatus {
    let ready = facts.pods.iter().filter(|pod| pod.is_ready()).count();
    let ready = u32::try_from(ready).unwrap_or(u32::MAX);
    let wanted = facts.set.as_ref().map_or(0, |set| set.desired);
    ServiceStatus { active: ready > wanted / 2, wanted, ready, ports, ..ServiceStatus::default() }
}

fn degraded(writer: &mut Conditions, facts: &GroupFacts<'_>, draft: &Draft) {
    let trouble = failure(facts.snapshot).or_else(|| draft.troubles.first().cloned());
    let stuck = || stuck_pod(&facts.pods).or_else(|| stuck_pod(&facts.unplaced));
    match trouble.or_else(stuck) {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

fn counts(draft: &Draft) -> GateCounts {
    let count = |state| {
        let all = draft.more.gates.iter().filter(|gate| gate.state == state);
        i32::try_from(all.count()).unwrap_or(i32::MAX)
    };
    GateCounts {
        closed: count(GateState::Closed),
        open: count(GateState::Open),
        passed: count(GateState::Passed),
    }
}

fn available(writer: &mut Conditions, service: &ServiceStatus) {
    let ServiceStatus { active, wanted, ready, .. } = *service;
    match active {
        true => writer.set_true(AVAILABLE, Available::Ready { ready, wanted }),
        false if wanted == 0 => writer.set_false(AVAILABLE, Available::NoNodes),
        false => {
            let needed = wanted / 2 + 1;
            writer.set_false(AVAILABLE, Available::TooFew { ready, wanted, needed });
        }
    }
}

fn progressing(
    writer: &mut Conditions,
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
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
    let mut all = facts.pods.iter().chain(&facts.unplaced);
    let unready: Option<&PodFact> = all.find(|p| !p.is_ready());
    match unready {
        None if is_applied && service.ready >= service.wanted => {
            writer.set_false(PROGRESSING, Rest::AllReady);
        }
        None => writer.set_true(PROGRESSING, Starting::NoPods),
        Some(pod) => writer.set_true(PROGRESSING, Starting::Pod { pod: pod.words() }),
    }
}

fn gates_passed(writer: &mut Conditions, draft: &Draft, gates: GateCounts, wanted: u32) {
    let passed = u32::try_from(gates.passed).unwrap_or_default();
    match &draft.more.closed {
        _ if wanted == 0 => writer.set_true(GATES_PASSED, Passed::NoPods),
        _ if passed >= wanted => writer.set_true(GATES_PASSED, Passed::All),
        Some(Trouble { reason, message }) => {
            writer.set(GATES_PASSED, Truth::False, *reason, message.clone());
        }
        None => {
            let (passed, wanted) = (passed as usize, i32::try_from(wanted).unwrap_or(i32::MAX));
            writer.set_false(GATES_PASSED, Passed::Waiting { passed, wanted });
        }
    }
}
