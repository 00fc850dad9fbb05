//! `rollout: Recreate`: every pod of the old template, in all zones, ends
//! before the first of the new one starts.

use super::rollout::{self, Goal, Next, state_annotations};
use super::{Draft, claims, creation, normal, version};
use crate::build::set::{self, Config};
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::RolloutState as State;
use palladion_plan::{ObjectKey, Precondition, Step, Subresource};
use serde_json::json;

/// Every zone's set.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    let goals: Vec<Goal<'_>> = valid
        .zones
        .iter()
        .map(|zone| Goal { zone, config, version, hash: set::hash(valid, zone, config) })
        .collect();
    let old_pod = goals.iter().find_map(|goal| {
        let set = facts.sets.get(&valid.set_name(goal.zone, version))?;
        (set.hash != goal.hash).then(|| set.pods.first()).flatten()
    });
    for goal in &goals {
        let name = valid.set_name(goal.zone, version);
        draft.wanted.insert(name.clone());
        let Some(set) = facts.sets.get(&name) else {
            creation::create(facts, valid, goal, draft);
            continue;
        };
        if set.is_terminating() {
            draft.wait(
                Reason::CreatingObjects,
                format!("StatefulSet {name} is being deleted; it is made again after that"),
            );
            continue;
        }
        if set.hash == goal.hash {
            if claims::recreate(facts, valid, set, draft) {
                continue;
            }
            let next = rollout::advance(facts, valid, set, None, draft);
            rollout::state(facts, valid, goal, set, next, draft);
        } else if set.replicas > 0 {
            stop(facts, set, draft);
        } else if let Some(pod) = old_pod {
            let words = format!("all old pods end first: {}", pod.words());
            draft.messages.insert(name, words.clone());
            draft.wait(Reason::RollingOut, words);
        } else {
            let event = normal(
                Reason::RollingOut,
                format!("StatefulSet {name}: the old pods have ended; version {version} starts"),
            );
            let next =
                Next { state: State::Rollout, partition: 0, started: facts.seconds(), event };
            rollout::state(facts, valid, goal, set, next, draft);
        }
    }
}

/// Scale to zero without touching the template.
fn stop(facts: &Facts<'_>, set: &SetFact, draft: &mut Draft) {
    let patch = json!({
        "metadata": { "annotations": state_annotations(State::Stopping, facts.seconds()) },
        "spec": { "replicas": 0 },
    });
    draft.steps.push(Step::Patch {
        key: ObjectKey::new(STATEFUL_SET, &set.object.meta.namespace, &set.name),
        patch,
        subresource: Subresource::None,
        precondition: Precondition::Uid(set.object.meta.uid.clone()),
        fence: None,
        doing: format!("update StatefulSet {}: stop its old pods", set.name),
        event: normal(
            Reason::RollingOut,
            format!("StatefulSet {}: the old pods are stopped", set.name),
        ),
    });
    draft.wait(
        Reason::RollingOut,
        format!("StatefulSet {}: the old pods are stopped first", set.name),
    );
}
