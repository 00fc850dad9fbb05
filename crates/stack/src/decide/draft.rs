//! A decision in the making: what the deciders have found so far, and what they
//! all do to objects.

use crate::resources::POD;
use crate::words::refusal::Unknown;
use palladion_api::component::PendingChange;
use palladion_api::staged::Gate;
use palladion_plan::wait::Subject;
use palladion_plan::words::Reasoned;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{
    Event, ObjectKey, Plan, Precondition, Proof, Resource, Snapshot, Step, Trouble, Wait,
};
use serde_json::Value;
use std::fmt::Display;

/// Patches of pods in one pass: the API server takes so many at once, and the
/// rest follow when these are seen.
const MOST_PATCHES: usize = 50;

/// A decision in the making.
pub type Draft = palladion_plan::Draft<Notes>;

/// What the deciders note for the status.
#[derive(Debug, Default)]
pub struct Notes {
    /// The dependency that is not there, or the cycle.
    pub missing: Option<Trouble>,
    /// Why no gate is opened.
    pub closed: Option<Trouble>,
    /// The gates.
    pub gates: Vec<Gate>,
    /// A change that waits for a dependency to be complete.
    pub pending_change: Option<PendingChange>,
    /// Patches of pods so far.
    patches: usize,
}

/// Nothing is decided, and nothing is written, on a guess.
pub fn undecided(why: Unknown) -> Plan {
    let mut draft = Draft::default();
    draft.wait_for(why);
    draft.plan(Value::Null)
}

/// Wait for something that is about an object.
pub fn wait_for<'a>(
    draft: &'a mut Draft,
    about: (Resource, &str),
    sentence: impl Reasoned,
) -> &'a mut Wait {
    draft.wait_for(sentence).about(Subject::new(about.0, about.1))
}

/// Apply one object: it must not exist yet, or be the one that was seen.
pub fn apply(
    snapshot: &Snapshot,
    resource: Resource,
    object: Value,
    (proof, event): (Option<Proof>, Option<Event>),
    draft: &mut Draft,
) {
    let namespace = &snapshot.owner.meta.namespace;
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_string();
    let what = ObjectKey::new(resource, namespace, &name).to_string();
    match upsert(
        resource,
        namespace,
        snapshot.all(resource).unwrap_or_default(),
        object,
        &what,
        event,
    ) {
        Ok(step) => draft.steps.push(step.proven(proof)),
        Err(blocked) => {
            draft.wait_for(blocked).about(Subject::new(resource, name));
        }
    }
}

/// Patch this pod and no later one of its name, unless there are too many patches in this pass.
pub fn patch_pod(
    snapshot: &Snapshot,
    pod: &PodFact,
    patch: Value,
    doing: impl Display,
    event: Option<Event>,
    draft: &mut Draft,
) {
    let uid = pod.seen(&snapshot.owner.meta.namespace).uid;
    patch_under(Precondition::Uid(uid), snapshot, pod, (patch, event), doing, draft);
}

/// Patch a pod as it was seen: a gate is opened and closed for what the pod was
/// at that time, and a late request must not do it to a later start.
pub fn patch_pod_as_seen(
    snapshot: &Snapshot,
    pod: &PodFact,
    patch: Value,
    doing: impl Display,
    draft: &mut Draft,
) {
    let seen = Precondition::as_seen(&pod.seen(&snapshot.owner.meta.namespace));
    patch_under(seen, snapshot, pod, (patch, None), doing, draft);
}

fn patch_under(
    precondition: Precondition,
    snapshot: &Snapshot,
    pod: &PodFact,
    (patch, event): (Value, Option<Event>),
    doing: impl Display,
    draft: &mut Draft,
) {
    if draft.more.patches >= MOST_PATCHES {
        return;
    }
    draft.more.patches += 1;
    let key = ObjectKey::new(POD, &snapshot.owner.meta.namespace, &pod.name);
    let step = Step::patch(key, precondition, patch, doing);
    draft.steps.push(step.announced(event));
}
