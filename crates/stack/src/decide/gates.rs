//! Gates: what earlier starts have left is emptied, and each start gets a ticket
//! of its own. Whether gates may open at all is decided by the owner's kind.

use super::draft::{Draft, patch_pod_as_seen};
use super::rollout::inputs_of;
use super::text::{Text, Texts};
use crate::facts::rejected::rejected;
use crate::gate::{self, Label, Place, Stand, Start, UNUSED};
use crate::resources::{DAEMON_SET, POD, SERVICE, STATEFUL_SET};
use crate::words::gates::{Doing, Misplaced, OfPod};
use jiff::Timestamp;
use palladion_api::component::names;
use palladion_api::gate::CONTAINER;
use palladion_api::staged::{Gate, GateState};
use palladion_plan::wait::Subject;
use palladion_plan::words::{Names, Reasoned};
use palladion_plan::workload::config::{ConfigKind, required};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, ObjectKey, Snapshot, Trouble, Wait};
use serde_json::Value;

/// What a text was made from where two tickets of one start were for texts of other words.
const UNCLEAR: &str = "";

/// Characters of the message of a gate at the most.
const LONGEST: usize = 256;

/// A pod with its gate.
#[derive(Clone, Copy, Debug)]
pub struct Gated<'a> {
    /// The pod.
    pub pod: &'a PodFact,
    /// Hash of the text that it is to start with; `None` = its gate stays closed.
    pub text: Option<&'a str>,
    /// Hash of the words that this text is made from; `None` = not known.
    pub inputs: Option<&'a str>,
}

/// May gates open?
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Why they may not.
    pub closed: Option<&'a Trouble>,
}

/// Do the pods stay as they are, with what is in the map, because their texts do not come about,
/// or the API server rejects their set, or a Service, which is written before that?
pub fn are_kept(snapshot: &Snapshot, set: Option<&Object>, texts: &Texts) -> bool {
    let is_set = |object: &ObjectKey| {
        let is_its_name = set.is_some_and(|set| set.meta.name == object.name);
        is_its_name && [STATEFUL_SET, DAEMON_SET].contains(&object.resource)
    };
    let mut rejected = rejected(snapshot);
    texts.are_stuck() || rejected.any(|object| object.resource == SERVICE || is_set(object))
}

/// Are its texts written? They come after its Services.
pub fn are_texts_written(snapshot: &Snapshot) -> bool {
    rejected(snapshot).all(|object| object.resource != SERVICE)
}

/// The hash of what a pod starts with: the newest text, or, where its template is an older one, what
/// it starts with as it is.
pub fn starts_with<'a>(
    pod: &PodFact,
    template: &str,
    newest: Option<&'a Text>,
    older: Option<&'a Text>,
) -> Option<&'a str> {
    let text = if pod.spec_hash() == Some(template) { newest } else { older };
    text.map(|text| text.hash.as_str())
}

/// Tend the gates of a service whose spec is accepted, with its template. Why they are closed is
/// said where somebody waits.
pub fn tend_accepted(
    snapshot: &Snapshot,
    all: &[Gated<'_>],
    (closed, is_waited_at): (Option<Trouble>, bool),
    template: &Value,
    draft: &mut Draft,
) {
    tend(snapshot, all, Terms { closed: closed.as_ref() }, draft);
    if let Some(trouble) = closed.filter(|_| is_waited_at) {
        draft.waits.insert(0, Wait::new(trouble.reason, trouble.message.clone()));
        draft.more.closed = Some(trouble);
    }
    await_volumes(all.iter().map(|gated| gated.pod), template, draft);
}

/// Name the first of these pods whose volumes are not there, if a Secret may be what is
/// missing. It says more than that the pod has no address, which no gate opens without.
fn await_volumes<'a>(
    mut pods: impl Iterator<Item = &'a PodFact>,
    template: &Value,
    draft: &mut Draft,
) {
    let secrets = required(template, ConfigKind::Secret);
    if secrets.is_empty() || draft.more.missing.is_some() {
        return;
    }
    if let Some(pod) = pods.find(|pod| pod.awaits_volumes()) {
        let volumes = OfPod::Volumes { pod: pod.name.clone(), secrets: Names::of(secrets) };
        draft.waits.insert(0, Wait::new(volumes.reason(), volumes));
    }
}

/// Empty what earlier starts have left, and give tickets. What is found goes into
/// the notes.
pub fn tend(snapshot: &Snapshot, all: &[Gated<'_>], terms: Terms<'_>, draft: &mut Draft) {
    for gated in all {
        misplaced(gated.pod, draft);
        let stand = gate::stand(gated.pod);
        let text = gated.text.filter(|_| terms.closed.is_none());
        let waiting = match (&stand, terms.closed) {
            (Stand::Open { .. }, Some(_)) => {
                withdraw(snapshot, gated.pod, draft);
                None
            }
            (_, _) => tend_one(snapshot, gated.pod, &stand, (text, gated.inputs), draft),
        };
        let trouble = waiting.map(Trouble::of);
        if let (None, Some(trouble)) = (terms.closed, &trouble) {
            let mut wait = Wait::new(trouble.reason, trouble.message.clone());
            wait.about(Subject::new(POD, &gated.pod.name));
            draft.waits.push(wait);
        }
        let closed = terms.closed.cloned().filter(|_| stand != Stand::Passed);
        draft.more.gates.push(shown(gated.pod, &stand, closed.or(trouble)));
    }
}

fn tend_one(
    snapshot: &Snapshot,
    pod: &PodFact,
    stand: &Stand<'_>,
    (text, inputs): (Option<&str>, Option<&str>),
    draft: &mut Draft,
) -> Option<OfPod> {
    let name = || pod.name.clone();
    match stand {
        Stand::Passed => None,
        Stand::Absent => Some(OfPod::NotStarted { pod: name() }),
        Stand::Waiting { label: Label::LeftOver, .. } => {
            let doing = Doing::Close { pod: name() };
            patch_pod_as_seen(snapshot, pod, gate::empty(), doing, draft);
            Some(OfPod::LeftOver { pod: name() })
        }
        Stand::Waiting { start, label: Label::Empty } => {
            let Some(text) = text else {
                return Some(OfPod::Kept { pod: name() });
            };
            open(snapshot, pod, *start, (text, inputs), draft);
            Some(OfPod::Unused { pod: name() })
        }
        Stand::Open { start, given } => {
            if let Some(text) = text {
                again(snapshot, pod, (*start, *given), (text, inputs), draft);
            }
            Some(OfPod::Unused { pod: name() })
        }
    }
}

/// Take back a ticket that was not used yet: a node that was cut off would let its pod start
/// by it when all that it was given for is away. One that was used meanwhile stays used.
fn withdraw(snapshot: &Snapshot, pod: &PodFact, draft: &mut Draft) {
    let doing = Doing::Withdraw { pod: pod.name.clone() };
    patch_pod_as_seen(snapshot, pod, gate::empty(), doing, draft);
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

/// Give a ticket for a start.
fn open(
    snapshot: &Snapshot,
    pod: &PodFact,
    start: Start<'_>,
    (text, inputs): (&str, Option<&str>),
    draft: &mut Draft,
) {
    let now = snapshot.now;
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut patch = gate::give(pod, start, text, seconds);
    if let Some(inputs) = inputs {
        // The gate may have used an earlier ticket of this start already, which may have been
        // taken back since, with what that was made from.
        let had_one = pod.annotations.get(CONTAINER).is_some_and(|of| of == start.id);
        let is_same = inputs_of(pod).is_none_or(|before| before == inputs);
        let made_from = if had_one && !is_same { UNCLEAR } else { inputs };
        patch["metadata"]["annotations"][names::INPUTS] = made_from.into();
    }
    patch_pod_as_seen(snapshot, pod, patch, Doing::Open { pod: pod.name.clone() }, draft);
}

/// Give another ticket, if the last one was not used for long or is for another text.
fn again(
    snapshot: &Snapshot,
    pod: &PodFact,
    (start, given): (Start<'_>, Timestamp),
    (text, inputs): (&str, Option<&str>),
    draft: &mut Draft,
) {
    // A leader whose clock was ahead has given it: when it is old cannot be told.
    if given > snapshot.now.checked_add(UNUSED).unwrap_or(Timestamp::MAX) {
        return open(snapshot, pod, start, (text, inputs), draft);
    }
    // Twice as long each time: the node may be away for good.
    let pause = given.duration_since(start.since).max(UNUSED);
    let due = given.checked_add(pause).unwrap_or(Timestamp::MAX);
    if gate::config_of(pod) != Some(text) || snapshot.now >= due {
        return open(snapshot, pod, start, (text, inputs), draft);
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
