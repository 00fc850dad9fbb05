//! How far the pods of a set are: how long may they take, and which of them is
//! the one that holds things up?

use crate::facts::SetFact;
use crate::validate::Valid;
use crate::words::rollout::{Culprit, Unready};
use jiff::SignedDuration;
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

/// Why a failed rollout failed: the updated pod that is not ready.
pub fn culprit(set: &SetFact) -> Culprit {
    let updated = |p: &&PodFact| set.is_updated(p) && !p.is_ready();
    match set.pods.iter().rev().find(updated) {
        Some(pod) => Culprit::Pod { pod: pod.words() },
        None => Culprit::Unknown,
    }
}

/// The first pod that is not ready, or that a set lacks.
pub fn unready(set: &SetFact) -> Option<Unready> {
    if let Some(pod) = set.pods.iter().find(|p| !p.is_ready()) {
        return Some(Unready::State { pod: pod.words() });
    }
    let ordinal = (0..set.replicas).find(|o| set.pod(*o).is_none())?;
    Some(Unready::Missing { set: set.name.clone(), ordinal })
}
