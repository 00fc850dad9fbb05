//! `rollout: Recreate`: every pod of the old template, in all zones, ends
//! before the first of the new one starts.

use super::draft::{Draft, wait_for_set, wait_in_set};
use super::goal::Goal;
use super::rollout::{self, Next, state_annotations};
use super::{claims, creation, evidence, version};
use crate::build::set::Config;
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use crate::words::rollout::{Doing, Happened, Waiting};
use palladion_api::zoned_stateful_set::RolloutState as State;
use palladion_plan::{Event, Proof, Step};
use serde_json::json;

/// Every zone's set.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    let goals = Goal::all(valid, config, version);
    let old_pod = goals.iter().find_map(|goal| {
        let set = facts.sets.get(&valid.set_name(goal.zone, version))?;
        (set.hash != goal.hash).then(|| set.pods.first()).flatten()
    });
    for goal in &goals {
        let Some(set) = creation::existing(facts, valid, goal, draft) else {
            continue;
        };
        if set.hash == goal.hash {
            if claims::recreate(facts, valid, set, draft).is_busy() {
                continue;
            }
            let next = rollout::advance(facts, valid, set, None, draft);
            rollout::state(facts, valid, goal, set, next, draft);
        } else if set.replicas > 0 {
            let proof = evidence::may_be_stopped(facts, valid, set, &goal.hash);
            stop(facts, set, proof, draft);
        } else if let Some(pod) = old_pod {
            wait_in_set(draft, &set.name, Waiting::OldPods { pod: pod.words() });
        } else {
            let starts = Happened::Starts { set: set.name.clone(), version };
            let event = Some(Event::normal(starts));
            let next =
                Next { state: State::Rollout, partition: 0, started: facts.seconds(), event };
            rollout::state(facts, valid, goal, set, next, draft);
        }
    }
}

/// Scale to zero without touching the template.
fn stop(facts: &Facts<'_>, set: &SetFact, proof: Option<Proof>, draft: &mut Draft) {
    let name = &set.name;
    let patch = json!({
        "metadata": { "annotations": state_annotations(State::Stopping, facts.seconds()) },
        "spec": { "replicas": 0 },
    });
    let doing = Doing::StopOldPods { set: name.clone() };
    let event = Event::normal(Happened::Stopped { set: name.clone() });
    let step = Step::patch_as_seen(STATEFUL_SET, &set.object.meta, patch, doing);
    draft.steps.push(step.proven(proof).announced(event));
    wait_for_set(draft, name, Waiting::Stopped { set: name.clone() });
}
