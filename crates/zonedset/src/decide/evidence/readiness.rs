//! Which pods run the newest template and are available, and which serve nobody.

use super::proof::seen;
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::rollout::{Obstacle, Unproven};
use jiff::Timestamp;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Proof, ProofKind};

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
                return Some((Unproven::NotLongEnough { pod: pod.name.clone() }, Some(at)));
            }
            Some(_) => {}
        }
    }
    None
}

/// Nobody uses this pod: it is not ready, and stands in the way.
pub fn not_ready(facts: &Facts<'_>, pod: &PodFact, why: &Obstacle) -> Option<Proof> {
    (!pod.is_ready()).then(|| seen(facts, ProofKind::Idle, &pod.name, why))
}
