//! What the pods of a rack were made with: their set says so, and, where the set
//! is being recreated or says something else by now, the pods themselves.

use crate::build::Stamp;
use crate::facts::{Facts, SetFact};
use crate::validate::ValidRack;

const ANNOTATIONS: &str = "/spec/template/metadata/annotations";

/// The stamps to keep to: first the set's, then those of its pods, so that a
/// change that is taken back replaces only who was replaced.
pub fn of(facts: &Facts<'_>, rack: &ValidRack) -> Vec<Stamp> {
    let set = facts.sets.get(&rack.set).and_then(of_set);
    set.into_iter().chain(of_pods(facts, rack)).collect()
}

fn of_set(set: &SetFact) -> Option<Stamp> {
    let annotations = set.object.at(ANNOTATIONS)?;
    Stamp::read(|key| annotations.get(key)?.as_str())
}

fn of_pods(facts: &Facts<'_>, rack: &ValidRack) -> Vec<Stamp> {
    let members = facts.members.values().filter(|m| m.rack == rack.name);
    let pods = members.filter_map(|m| m.pod.as_ref());
    let stamps =
        pods.filter_map(|pod| Stamp::read(|key| pod.annotations.get(key).map(String::as_str)));
    let mut stamps: Vec<Stamp> = stamps.collect();
    stamps.dedup();
    stamps
}
