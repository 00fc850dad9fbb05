//! Pods that differ from what they should be: one restart at a time, signals,
//! and what is only noted. What is due is worked out in `reload`.

use super::dependencies::Base;
use super::texts::{Texts, inputs_of};
use crate::decide::draft::{Draft, patch_pod, wait_for};
use crate::decide::evidence;
use crate::facts::Facts;
use crate::reload::{self, Candidate, Goal, Hold, Rules, Work, change};
use crate::resources::POD;
use crate::validate::Valid;
use crate::words::reload::{Doing, Happened, Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::component::names;
use palladion_api::gate::{CONFIG, RELOAD};
use palladion_api::staged::ReloadPolicy;
use palladion_plan::Event;
use palladion_plan::workload::pod::PodFact;
use serde_json::json;

/// So long a signalled pod may take: the kubelet refreshes its files at once,
/// and the container looks every second.
const CONFIRMED: SignedDuration = SignedDuration::from_secs(180);

/// What is due.
pub fn work<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
    base: &Base<'_>,
    texts: &Texts,
    template: &str,
) -> Work<'a> {
    // Before the set has the newest template, it would recreate a pod from another.
    let is_written = facts
        .set
        .as_ref()
        .is_some_and(|set| set.seen && set.template == template && set.recreating.is_none());
    if !is_written {
        return Work::default();
    }
    let wanted = facts.pods.iter().filter(|pod| valid.ordinals().contains(&pod.ordinal));
    let candidates: Vec<Candidate<'_>> = wanted
        .map(|pod| {
            let text = texts.current(facts, pod.ordinal).map(|text| text.hash.as_str());
            let goal = Goal { template, inputs: &valid.inputs, text };
            Candidate { pod, change: change(pod, inputs_of(pod), goal) }
        })
        .collect();
    let rules = Rules {
        policy: valid.spec.reload.policy,
        min_ready_seconds: valid.spec.min_ready_seconds,
        ground: base.ground,
    };
    reload::next(&candidates, rules, facts.now())
}

/// Carry out what is due, the recreation of all pods aside.
pub fn decide(
    facts: &Facts<'_>,
    valid: &Valid,
    base: &Base<'_>,
    (work, texts): (Work<'_>, &Texts),
    draft: &mut Draft,
) {
    unconfirmed(facts, valid, draft);
    let inputs = json!({ names::INPUTS: valid.inputs });
    for pod in &work.note {
        let patch = json!({ "metadata": { "annotations": inputs } });
        patch_pod(facts, pod, patch, Doing::Note { pod: pod.name.clone() }, None, draft);
    }
    let before = draft.steps.len();
    for pod in &work.signal {
        let Some(text) = texts.current(facts, pod.ordinal) else {
            continue;
        };
        let patch = json!({ "metadata": {
            "labels": { CONFIG: text.hash },
            "annotations": { names::INPUTS: valid.inputs, names::RELOADED: facts.seconds() },
        } });
        let event = Event::normal(Happened::Signalled { pod: pod.name.clone() });
        let doing = Doing::Signal { pod: pod.name.clone() };
        patch_pod(facts, pod, patch, doing, Some(event), draft);
    }
    let left = work.signal.len() - (draft.steps.len() - before);
    if left > 0 {
        draft.wait_for(Waiting::Signalled { pods: left });
    }
    if let Some(hold) = &work.hold {
        held(hold, draft);
    }
    if let Some(pod) = work.restart {
        restart(facts, valid, base, pod, draft);
    }
}

fn held(hold: &Hold<'_>, draft: &mut Draft) {
    match hold {
        Hold::Ground => {
            draft.wait_for(Waiting::Ground);
        }
        Hold::Pod(pod, Some(at)) => {
            let waiting = Waiting::Settling { pod: pod.name.clone() };
            wait_for(draft, (POD, &pod.name), waiting).until(*at);
        }
        Hold::Pod(pod, None) => {
            wait_for(draft, (POD, &pod.name), Waiting::Pod { pod: pod.words() });
        }
    }
}

fn restart(facts: &Facts<'_>, valid: &Valid, base: &Base<'_>, pod: &PodFact, draft: &mut Draft) {
    let Some(proof) = evidence::may_restart(facts, valid, pod, base.ground) else {
        return;
    };
    let place = (POD, valid.namespace.as_str());
    let doing = Doing::Restart { pod: pod.name.clone() };
    let event = Event::normal(Happened::Restarted { pod: pod.name.clone() });
    draft.steps.push(pod.removal(place, proof, doing, None, Some(event)));
    wait_for(draft, (POD, &pod.name), Waiting::Restarting { pod: pod.name.clone() });
}

/// Pods that were signalled and have not taken it.
fn unconfirmed(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if valid.spec.reload.policy != ReloadPolicy::Signal {
        return;
    }
    for pod in facts.pods.iter().filter(|pod| pod.unready.iter().any(|name| name == RELOAD)) {
        let signalled = pod.annotations.get(names::RELOADED);
        let Some(at) = signalled.and_then(|time| time.parse::<Timestamp>().ok()) else {
            continue;
        };
        let due = at + CONFIRMED;
        match facts.now() >= due {
            true => {
                let (pod, container) = (pod.name.clone(), RELOAD.to_string());
                draft.report(Problem::Unconfirmed { pod, container });
            }
            false => draft.wake_at(due),
        }
    }
}
