//! What the pods of a rack were made with: their set says so, and, where the set
//! is being recreated or says what nobody has run yet, the pods themselves.

use crate::build::Stamp;
use crate::facts::{Facts, MemberFact, SetFact};
use crate::validate::ValidRack;

const ANNOTATIONS: &str = "/spec/template/metadata/annotations";

/// The stamps to keep to. What serves goes first, so that a change that is taken
/// back replaces only who was replaced; and what has never run is not kept, so
/// that an image that does not start can be corrected wherever it was named.
pub fn of(facts: &Facts<'_>, rack: &ValidRack) -> Vec<Stamp> {
    let members = || facts.members.values().filter(|m| m.rack == rack.name && m.pod.is_some());
    let set = facts.sets.get(&rack.set).and_then(of_set);
    let serves: Vec<Stamp> = members().filter(|m| m.is_normal()).filter_map(of_pod).collect();
    let has_run = members().filter(|m| agent_has_run(m)).filter_map(of_pod);
    // A rack that is stopped has nobody else to ask.
    let is_kept = |set: &Stamp| serves.contains(set) || members().next().is_none();
    let mut all: Vec<Stamp> = set.into_iter().filter(is_kept).collect();
    all.extend(serves.iter().cloned().chain(has_run));
    all.dedup();
    all
}

/// Has an agent ever spoken in a pod of this revision, this one or the one before it?
fn agent_has_run(member: &MemberFact) -> bool {
    match (&member.pod, &member.status.agent) {
        (Some(pod), Some(agent)) => pod.revision == agent.revision,
        _ => false,
    }
}

fn of_set(set: &SetFact) -> Option<Stamp> {
    let annotations = set.object.at(ANNOTATIONS)?;
    Stamp::read(|key| annotations.get(key)?.as_str())
}

fn of_pod(member: &MemberFact) -> Option<Stamp> {
    let annotations = &member.pod.as_ref()?.annotations;
    Stamp::read(|key| annotations.get(key).map(String::as_str))
}
