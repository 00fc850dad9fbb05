//! Pods that stand in the way of a rollout: not ready, and not of the template
//! that they should have. Kubernetes itself waits for them for ever
//! (kubernetes/kubernetes#67250); a fix must not.

use super::Draft;
use crate::facts::SetFact;
use crate::resources::POD;
use palladion_plan::workload::pod::PodFact;

/// Delete the highest such pod; the set makes it again as it should be.
pub fn clear(set: &SetFact, draft: &mut Draft) {
    // Before the controller has seen the partition, it would make the pod
    // again from the wrong revision.
    if !set.seen || draft.is_disruptive() {
        return;
    }
    let Some((pod, why)) = set.pods.iter().rev().find_map(|p| Some((p, obstacle(set, p)?))) else {
        return;
    };
    let words = pod.words();
    let place = (POD, set.object.meta.namespace.as_str());
    draft.steps.push(pod.removal(
        place,
        format!("{words}; {why}"),
        format!("delete pod {}: {words}; {why}", pod.name),
        None,
        None,
    ));
}

fn obstacle(set: &SetFact, pod: &PodFact) -> Option<&'static str> {
    if pod.terminating || pod.is_ready() {
        return None;
    }
    if pod.ordinal >= set.partition {
        return (!set.is_updated(pod)).then_some("it is its turn to get the newest template");
    }
    let has_proven = set.current_revision.is_empty() || pod.revision == set.current_revision;
    (pod.is_stuck() && !has_proven).then_some("it does not run and gets the proven template back")
}
