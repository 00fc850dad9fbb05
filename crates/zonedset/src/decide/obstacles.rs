//! Pods that stand in the way of a rollout: not ready, and not of the template
//! that they should have. Kubernetes itself waits for them for ever
//! (kubernetes/kubernetes#67250); a fix must not.

use super::draft::Draft;
use super::evidence::not_ready;
use crate::facts::{Facts, SetFact};
use crate::resources::POD;
use crate::words::rollout::{Doing, Obstacle};
use palladion_plan::workload::pod::PodFact;

/// Delete the highest such pod; the set recreates it as it should be.
pub fn clear(facts: &Facts<'_>, set: &SetFact, draft: &mut Draft) {
    // Before the controller has seen the partition, it would recreate the
    // pod from the wrong revision.
    if !set.seen || draft.is_disruptive() {
        return;
    }
    let Some((pod, why)) = set.pods.iter().rev().find_map(|p| Some((p, obstacle(set, p)?))) else {
        return;
    };
    let Some(proof) = not_ready(facts, pod, &why) else {
        return;
    };
    let place = (POD, set.object.meta.namespace.as_str());
    let doing = match why {
        Obstacle::OldTemplate { .. } => Doing::UpdatePod { pod: pod.name.clone() },
        Obstacle::Unproven { .. } => Doing::RevertPod { pod: pod.name.clone() },
    };
    draft.steps.push(pod.removal(place, proof, doing, None, None));
}

fn obstacle(set: &SetFact, pod: &PodFact) -> Option<Obstacle> {
    if pod.terminating || pod.is_ready() {
        return None;
    }
    if pod.ordinal >= set.partition {
        return (!set.is_updated(pod)).then(|| Obstacle::OldTemplate { pod: pod.words() });
    }
    let has_proven = set.current_revision.is_empty() || pod.revision == set.current_revision;
    (pod.is_stuck() && !has_proven).then(|| Obstacle::Unproven { pod: pod.words() })
}
