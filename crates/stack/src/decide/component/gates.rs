//! The gates of the pods: a ticket for each start of an init container, once
//! all pods, their addresses, their texts and all dependencies are there.

use super::texts::{Text, Texts, has_every_key, inputs_of};
use crate::decide::draft::{Draft, patch_pod_as_seen};
use crate::facts::Facts;
use crate::gate::{self, Label, Place, Stand, Start, UNUSED};
use crate::resources::POD;
use crate::validate::Valid;
use crate::words::gates::{Closed, Doing, Misplaced, OfPod};
use jiff::Timestamp;
use palladion_api::component::names;
use palladion_api::staged::{Gate, GateState};
use palladion_plan::Trouble;
use palladion_plan::wait::{Subject, Wait};
use palladion_plan::workload::pod::PodFact;

/// Empty what earlier starts have left, and give tickets.
pub fn decide(facts: &Facts<'_>, valid: &Valid, template: &str, texts: &Texts, draft: &mut Draft) {
    let closed = draft.more.missing.clone().or_else(|| closed(facts, valid, texts));
    let mut is_waited_at = false;
    for ordinal in valid.ordinals() {
        let Some(pod) = facts.pod(ordinal).filter(|pod| !pod.terminating) else {
            is_waited_at = true;
            continue;
        };
        misplaced(pod, draft);
        let stand = gate::stand(pod);
        is_waited_at |= stand != Stand::Passed;
        let is_current = pod.spec_hash() == Some(template);
        let text = texts.current(facts, ordinal).filter(|_| is_current && closed.is_none());
        let message = match &stand {
            Stand::Passed => None,
            Stand::Absent => Some(Trouble::of(OfPod::NotStarted { pod: pod.name.clone() })),
            Stand::Waiting { label: Label::LeftOver, .. } => {
                let doing = Doing::Close { pod: pod.name.clone() };
                patch_pod_as_seen(facts, pod, gate::empty(), doing, draft);
                Some(Trouble::of(OfPod::LeftOver { pod: pod.name.clone() }))
            }
            Stand::Waiting { start, label: Label::Empty } => {
                if let Some(text) = text {
                    open(facts, valid, pod, (*start, text), draft);
                }
                text.map(|_| Trouble::of(OfPod::Unused { pod: pod.name.clone() }))
            }
            Stand::Open { start, given } => {
                again(facts, valid, pod, (*start, *given), text, draft);
                Some(Trouble::of(OfPod::Unused { pod: pod.name.clone() }))
            }
        };
        if closed.is_none()
            && let Some(trouble) = &message
        {
            waits(pod, trouble, draft);
        }
        let message = closed.clone().filter(|_| stand != Stand::Passed).or(message);
        draft.more.gates.push(shown(pod, &stand, message));
    }
    if let Some(trouble) = closed.filter(|_| is_waited_at) {
        let wait = Wait::new(trouble.reason, trouble.message.clone());
        draft.waits.insert(0, wait);
        draft.more.closed = Some(trouble);
    }
}

/// Why no gate is opened, dependencies aside.
fn closed(facts: &Facts<'_>, valid: &Valid, texts: &Texts) -> Option<Trouble> {
    if facts.set.as_ref().is_some_and(|set| set.recreating.is_some()) {
        return Some(Trouble::of(Closed::Stopping { left: facts.pods.len() }));
    }
    let is_there = |ordinal: &i32| facts.pod(*ordinal).is_some_and(|pod| !pod.terminating);
    let there = valid.ordinals().filter(is_there).count();
    if i32::try_from(there) != Ok(valid.spec.replicas) {
        return Some(Trouble::of(Closed::Pods { there, wanted: valid.spec.replicas }));
    }
    let no_address =
        facts.pods.iter().find(|p| valid.ordinals().contains(&p.ordinal) && p.address.is_none());
    let lacking = texts.lacking.clone();
    if let Some(closed) =
        lacking.or(no_address.map(|pod| Closed::Address { pod: pod.name.clone() }))
    {
        return Some(Trouble::of(closed));
    }
    (!has_every_key(facts, valid, texts)).then(|| Trouble::of(Closed::Texts))
}

fn misplaced(pod: &PodFact, draft: &mut Draft) {
    match gate::place(pod) {
        Place::First | Place::Nowhere => {}
        Place::Behind(first) => {
            let (pod, first) = (pod.name.clone(), first.to_string());
            draft.report(Misplaced::Behind { pod, first });
        }
    }
}

fn waits(pod: &PodFact, trouble: &Trouble, draft: &mut Draft) {
    let mut wait = Wait::new(trouble.reason, trouble.message.clone());
    wait.about(Subject::new(POD, &pod.name));
    draft.waits.push(wait);
}

/// Give a ticket for a start.
fn open(
    facts: &Facts<'_>,
    valid: &Valid,
    pod: &PodFact,
    (start, text): (Start<'_>, &Text),
    draft: &mut Draft,
) {
    let mut patch = gate::give(pod, start, &text.hash, facts.seconds());
    if inputs_of(pod) != Some(valid.inputs.as_str()) {
        patch["metadata"]["annotations"][names::INPUTS] = valid.inputs.as_str().into();
    }
    patch_pod_as_seen(facts, pod, patch, Doing::Open { pod: pod.name.clone() }, draft);
}

/// Give another ticket, if the last one was not used for long or is for another text.
fn again(
    facts: &Facts<'_>,
    valid: &Valid,
    pod: &PodFact,
    (start, given): (Start<'_>, Timestamp),
    text: Option<&Text>,
    draft: &mut Draft,
) {
    let Some(text) = text else { return };
    // Twice as long each time: the node may be away for good.
    let pause = given.duration_since(start.since).max(UNUSED);
    let due = given + pause;
    if gate::config_of(pod) != Some(text.hash.as_str()) || facts.now() >= due {
        return open(facts, valid, pod, (start, text), draft);
    }
    draft.wake_at(due);
}

fn shown(pod: &PodFact, stand: &Stand<'_>, trouble: Option<Trouble>) -> Gate {
    let state = match stand {
        Stand::Absent | Stand::Waiting { .. } => GateState::Closed,
        Stand::Open { .. } => GateState::Open,
        Stand::Passed => GateState::Passed,
    };
    let ticket = gate::last_ticket(pod).map(|ticket| ticket.to_string());
    let message = trouble.map(|t| t.message.to_string().chars().take(LONGEST).collect());
    Gate { pod: pod.name.clone(), ticket, state, message }
}

/// Characters of the message of a gate at the most.
const LONGEST: usize = 256;
