//! Sets that are left over: of older versions (QuarksStatefulSet, "Detects if
//! StatefulSet versions are running"), of zones that are no longer in the spec,
//! of another way to roll.

use super::draft::{Draft, wait_for_set};
use super::evidence::{superseded, wanted_pods};
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use crate::words::objects::{Doing, Happened, Newest, Superseded, Waiting};
use palladion_plan::{Event, Loss, ObjectKey, Proof, Step};

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
        match superseded(facts, valid, set, &draft.more.wanted) {
            Some(found) if !draft.is_disruptive() => delete(set, found, draft),
            Some(_) => {}
            None => {
                let newest = match wanted_pods(facts, set, &draft.more.wanted).next() {
                    None => Newest::NoPod,
                    Some(pod) => Newest::Pod { state: pod.words() },
                };
                let waiting = Waiting::NewVersion { set: name, version, newest };
                wait_for_set(draft, &set.name, waiting);
            }
        }
    }
}

fn delete(set: &SetFact, (cause, proof): (Superseded, Proof), draft: &mut Draft) {
    let (name, version) = (set.name.clone(), set.version);
    let waiting = Waiting::Superseded { set: name.clone(), cause: cause.clone() };
    wait_for_set(draft, &set.name, waiting);
    let what = ObjectKey::new(STATEFUL_SET, &set.object.meta.namespace, &name).to_string();
    let event = Event::normal(Happened::Deleted { set: name, version, cause });
    let doing = Doing::Delete { what };
    let step = Step::delete_as_seen(STATEFUL_SET, &set.object.meta, Loss::Process, doing);
    draft.steps.push(step.proven(proof).announced(event));
}
