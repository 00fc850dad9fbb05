//! Pods that differ from what they should be: one restart at a time, signals,
//! and what is only noted. What is due is worked out in `reload`.

use super::draft::{Draft, patch_pod, wait_for};
use super::evidence::{self, Group};
use crate::facts::claims::{AtRisk, Claims};
use crate::reload::{Hold, Work};
use crate::resources::POD;
use crate::words::gates::Where;
use crate::words::reload::{Doing, Happened, Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::component::names;
use palladion_api::gate::{CONFIG, RELOAD};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Event, Snapshot};
use serde_json::json;

/// So long a signalled pod may take: the kubelet refreshes its files at once,
/// and the container looks every second.
const CONFIRMED: SignedDuration = SignedDuration::from_secs(180);

/// So long after the last container was started a process may take to have its name: the
/// probe of the container that signals looks every five seconds.
const STARTED: SignedDuration = SignedDuration::from_secs(7);

/// Hash of the words that a pod's text was made from.
pub fn inputs_of(pod: &PodFact) -> Option<&str> {
    pod.annotations.get(names::INPUTS).map(String::as_str)
}

/// Carry out what is due, the recreation of all pods aside. `text` is the hash of
/// the text of a pod.
pub fn carry_out<'a>(
    snapshot: &Snapshot,
    work: &Work<'a>,
    inputs: &str,
    text: impl Fn(&PodFact) -> Option<&'a str>,
    draft: &mut Draft,
) {
    for pod in &work.note {
        let patch = json!({ "metadata": { "annotations": { names::INPUTS: inputs } } });
        patch_pod(snapshot, pod, patch, Doing::Note { pod: pod.name.clone() }, None, draft);
    }
    let before = draft.steps.len();
    let now = Timestamp::from_second(snapshot.now.as_second()).unwrap_or(snapshot.now);
    for pod in &work.signal {
        let Some(hash) = text(pod) else { continue };
        let patch = json!({ "metadata": {
            "labels": { CONFIG: hash },
            "annotations": { names::INPUTS: inputs, names::RELOADED: now },
        } });
        let event = Event::normal(Happened::Signalled { pod: pod.name.clone() });
        let doing = Doing::Signal { pod: pod.name.clone() };
        patch_pod(snapshot, pod, patch, doing, Some(event), draft);
    }
    let left = work.signal.len() - (draft.steps.len() - before);
    if left > 0 {
        draft.wait_for(Waiting::Signalled { pods: left });
    }
    match &work.hold {
        None => {}
        // Said where the texts are made.
        Some(Hold::Texts) => {}
        Some(Hold::Ground) => {
            draft.wait_for(Waiting::Ground);
        }
        Some(Hold::Pod(pod, Some(at))) => {
            let waiting = Waiting::Settling { pod: pod.name.clone() };
            wait_for(draft, (POD, &pod.name), waiting).until(*at);
        }
        Some(Hold::Pod(pod, None)) => {
            wait_for(draft, (POD, &pod.name), Waiting::Pod { pod: pod.words() });
        }
        Some(Hold::Stays(pod)) => {
            wait_for(draft, (POD, &pod.name), Waiting::Stays { pod: where_is(pod) });
        }
        Some(Hold::Claim(pod, at_risk)) => keep(&pod.name, at_risk, draft),
    }
}

/// End the one pod whose turn it is, if that is proven to be right.
pub fn restart(snapshot: &Snapshot, pod: &PodFact, group: Group<'_>, draft: &mut Draft) {
    let Some(proof) = evidence::may_restart(snapshot, pod, group) else {
        return;
    };
    let place = (POD, snapshot.owner.meta.namespace.as_str());
    let doing = Doing::Restart { pod: pod.name.clone() };
    let event = Event::normal(Happened::Restarted { pod: pod.name.clone() });
    draft.steps.push(pod.removal(place, proof, doing, None, Some(event)));
    wait_for(draft, (POD, &pod.name), Waiting::Restarting { pod: pod.name.clone() });
}

/// A pod, and where it is.
pub fn where_is(pod: &PodFact) -> Where {
    let name = pod.name.clone();
    match pod.node.clone() {
        Some(node) => Where::OnNode { pod: name, node },
        None => Where::Nowhere { pod: name },
    }
}

/// Wait because the data of a pod would go with it.
pub fn keep(pod: &str, at_risk: &AtRisk, draft: &mut Draft) {
    let name = pod.to_string();
    let waiting = match at_risk.clone() {
        AtRisk::Terminating { claim } => Waiting::Claim { pod: name, claim },
        AtRisk::Unread { claim, why } => Waiting::ClaimUnread { pod: name, claim, why },
    };
    wait_for(draft, (POD, pod), waiting);
}

/// Report pods whose data goes with them, whatever is due.
pub fn claims_at_risk(pods: &[PodFact], claims: &Claims, draft: &mut Draft) {
    for pod in pods.iter().filter(|pod| !pod.terminating) {
        match claims.at_risk(pod) {
            Some(AtRisk::Terminating { claim }) => {
                draft.report(Problem::ClaimTerminating { pod: pod.name.clone(), claim });
            }
            Some(AtRisk::Unread { .. }) | None => {}
        }
    }
}

/// Pods that were signalled and have not taken it, or that could not be signalled.
pub fn unconfirmed(
    snapshot: &Snapshot,
    pods: &[PodFact],
    container: Option<&str>,
    draft: &mut Draft,
) {
    for pod in pods.iter().filter(|pod| pod.unready.iter().any(|name| name == RELOAD)) {
        let signalled = pod.annotations.get(names::RELOADED);
        let Some(at) = signalled.and_then(|time| time.parse::<Timestamp>().ok()) else {
            // One that does not run, or fails, has no process, and says so itself.
            let runs = pod.running.iter().any(|name| Some(name.as_str()) == container);
            if runs && pod.trouble.is_none() {
                without_process(snapshot, pod, draft);
            }
            continue;
        };
        let later = |at: Timestamp| at.checked_add(CONFIRMED).unwrap_or(Timestamp::MAX);
        let due = later(at);
        // A leader whose clock was ahead may have written it.
        match snapshot.now >= due || at > later(snapshot.now) {
            true => {
                let (pod, container) = (pod.name.clone(), RELOAD.to_string());
                draft.report(Problem::Unconfirmed { pod, container });
            }
            false => draft.wake_at(due),
        }
    }
}

/// One that was never signalled is not ready before its process was found.
fn without_process(snapshot: &Snapshot, pod: &PodFact, draft: &mut Draft) {
    let Some(due) = pod.running_since.map(|since| since + STARTED) else {
        return;
    };
    match snapshot.now >= due {
        true => {
            let (pod, container) = (pod.name.clone(), RELOAD.to_string());
            draft.report(Problem::NoProcess { pod, container });
        }
        false => draft.wake_at(due),
    }
}
