//! What proves that a step may be taken, and whether a template is proven: which
//! pods run it and are available, and how long may the others take?

use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::rollout::{Culprit, Unproven, Unready};
use jiff::{SignedDuration, Timestamp};
use palladion_api::zoned_stateful_set::{Rollout, RolloutState as State};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Proof, ProofKind};

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
) -> Option<(Unproven, Option<Timestamp>)> {
    for ordinal in (partition..valid.replicas).rev() {
        let Some(pod) = set.pod(ordinal) else {
            return Some((Unproven::Missing { set: set.name.clone(), ordinal }, None));
        };
        if !set.is_updated(pod) {
            return Some((Unproven::OldTemplate { pod: pod.name.clone() }, None));
        }
        match pod.available_at(valid.spec.template.spec.min_ready_seconds) {
            None => return Some((Unproven::NotReady { pod: pod.words() }, None)),
            Some(at) if at > facts.now() => {
                return Some((Unproven::NotLongEnough { pod: pod.words() }, Some(at)));
            }
            Some(_) => {}
        }
    }
    None
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

/// Nobody uses this pod: it is not ready, and stands in the way.
pub fn not_ready(now: Timestamp, pod: &PodFact, why: String) -> Option<Proof> {
    (!pod.is_ready()).then(|| Proof::new(ProofKind::Idle, vec![pod.name.clone()], now, why))
}

/// Other sets do the work of this one, or nobody wants it any more.
pub fn does_no_work(facts: &Facts<'_>, set: &SetFact, why: String) -> Proof {
    Proof::new(ProofKind::Superseded, vec![set.name.clone()], facts.now(), why)
}
