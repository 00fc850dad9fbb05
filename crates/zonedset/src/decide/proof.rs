//! Is a template proven: which pods run it and are available, and how long may
//! the others take?

use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use palladion_api::zoned_stateful_set::{Rollout, RolloutState as State};
use palladion_plan::workload::pod::PodFact;

/// How long this part of the rollout may take.
pub fn limit(valid: &Valid, set: &SetFact) -> SignedDuration {
    let canary = valid.spec.canary;
    let is_first = set.state == State::Canary
        || (valid.spec.rollout == Rollout::Versioned && set.ready() == 0);
    let seconds = if is_first { canary.watch_seconds } else { canary.update_watch_seconds };
    SignedDuration::from_secs(seconds.into())
}

/// The first pod from `partition` on that does not run the newest template or
/// is not available yet: how it is, and when to look again.
pub fn first_unproven(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    partition: i32,
) -> Option<(String, Option<Timestamp>)> {
    for ordinal in (partition..valid.replicas).rev() {
        let Some(pod) = set.pod(ordinal) else {
            return Some((format!("pod {}-{ordinal} does not exist yet", set.name), None));
        };
        if !set.is_updated(pod) {
            return Some((format!("pod {} does not have the new template yet", pod.name), None));
        }
        match pod.available_at(valid.spec.template.spec.min_ready_seconds) {
            None => return Some((pod.words(), None)),
            Some(at) if at > facts.now() => {
                return Some((
                    format!("{} since less than minReadySeconds", pod.words()),
                    Some(at),
                ));
            }
            Some(_) => {}
        }
    }
    None
}

/// Why a failed rollout failed: the updated pod that is not ready.
pub fn culprit(set: &SetFact) -> String {
    let updated = |p: &&PodFact| set.is_updated(p) && !p.is_ready();
    set.pods
        .iter()
        .rev()
        .find(updated)
        .map_or_else(|| "a pod was not ready in time".to_string(), PodFact::words)
}

/// The first pod that a set lacks, in words.
pub fn missing(set: &SetFact) -> Option<String> {
    (0..set.replicas)
        .find(|o| set.pod(*o).is_none())
        .map(|o| format!("pod {}-{o} does not exist yet", set.name))
}
