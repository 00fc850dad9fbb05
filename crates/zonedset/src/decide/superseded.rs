//! Sets that are left over: of older versions (QuarksStatefulSet, "Detects if
//! StatefulSet versions are running"), of zones that are no longer in the spec,
//! of another way to roll.

use super::draft::{Draft, wait_for_set};
use super::proof::does_no_work;
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use crate::words::objects::{Doing, Happened, Newest, Superseded, Waiting};
use palladion_plan::{Event, Loss, ObjectKey, Step};

/// Delete one left-over set that nothing depends on, the oldest first.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut left: Vec<&SetFact> =
        facts.sets.values().filter(|s| !draft.more.wanted.contains(&s.name)).collect();
    left.sort_by_key(|s| (s.version, s.zone_index));
    for set in &left {
        let (name, version) = (set.name.clone(), set.version);
        if set.is_terminating() {
            wait_for_set(draft, &set.name, Waiting::Deleted { set: name });
            continue;
        }
        match superseded(facts, valid, set, &left, draft) {
            Some(cause) if !draft.is_disruptive() => delete(facts, set, cause, draft),
            Some(_) => {}
            None => {
                let newest = match wanted_pods(facts, set, draft).next() {
                    None => Newest::NoPod,
                    Some(pod) => Newest::Pod { state: pod.words() },
                };
                let waiting = Waiting::NewVersion { set: name, version, newest };
                wait_for_set(draft, &set.name, waiting);
            }
        }
    }
}

fn delete(facts: &Facts<'_>, set: &SetFact, cause: Superseded, draft: &mut Draft) {
    let (name, version) = (set.name.clone(), set.version);
    let proof = does_no_work(facts, set, cause.to_string());
    let waiting = Waiting::Superseded { set: name.clone(), cause: cause.clone() };
    wait_for_set(draft, &set.name, waiting);
    let what = ObjectKey::new(STATEFUL_SET, &set.object.meta.namespace, &name).to_string();
    let event = Event::normal(Happened::Deleted { set: name, version, cause });
    let doing = Doing::Delete { what };
    let step = Step::delete_seen(STATEFUL_SET, &set.object.meta, Loss::Process, doing);
    draft.steps.push(step.proven(proof).announced(event));
}

/// Why the set is no longer needed, if so.
fn superseded(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    left: &[&SetFact],
    draft: &Draft,
) -> Option<Superseded> {
    if set.zone_index >= valid.zones.len() {
        return Some(Superseded::ZoneRemoved { zone_index: set.zone_index });
    }
    if let Some(pod) = wanted_pods(facts, set, draft).find(|p| p.is_ready()) {
        return Some(Superseded::NewestReady { pod: pod.name.clone() });
    }
    // Until then one older version stays: the newest that has a ready pod.
    let mut older: Vec<&&SetFact> =
        left.iter().filter(|s| s.zone_index == set.zone_index && !s.is_terminating()).collect();
    older.sort_by_key(|s| (s.ready() > 0, s.version));
    let serving = older.last()?;
    let version = serving.version;
    (serving.name != set.name).then(|| match serving.ready() > 0 {
        true => Superseded::OtherServes { version },
        false => Superseded::NoneServes { version },
    })
}

fn wanted_pods<'a>(
    facts: &'a Facts<'_>,
    set: &'a SetFact,
    draft: &'a Draft,
) -> impl Iterator<Item = &'a palladion_plan::workload::pod::PodFact> {
    facts
        .sets
        .values()
        .filter(move |s| s.zone_index == set.zone_index && draft.more.wanted.contains(&s.name))
        .flat_map(|s| s.pods.iter())
}
