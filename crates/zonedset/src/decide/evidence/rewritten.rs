//! A set that exists is written again: which pods end by that, and why they may.

use super::proof::seen;
use super::readiness::first_unproven;
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::evidence::{Proven, Rewritten};
use palladion_plan::{Proof, ProofKind};

/// What is written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Hash of what its template is made from.
    pub hash: &'a str,
    /// Pods.
    pub replicas: i32,
    /// Pods from this ordinal on get the template.
    pub partition: i32,
}

/// Why the set may be written like this. `None` = pods end, and nothing says that they may.
pub fn may_be_written(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    written: Written<'_>,
) -> Option<Proof> {
    let replicas = written.replicas;
    if replicas != valid.replicas {
        return None;
    }
    let (kind, rewritten) = of_template(facts, valid, set, written)?;
    let name = set.name.clone();
    if replicas < set.replicas {
        let proven = Proven::Fewer { set: name, has: set.replicas, replicas, rewritten };
        return Some(seen(facts, ProofKind::Wanted, &set.name, &proven));
    }
    Some(seen(facts, kind, &set.name, &Proven::Rewritten { set: name, rewritten }))
}

/// Why the pods that stay may get the template from this ordinal on.
fn of_template(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    written: Written<'_>,
) -> Option<(ProofKind, Rewritten)> {
    let Written { replicas, partition, .. } = written;
    let is_given = |ordinal: i32| ordinal >= partition && ordinal < replicas.min(set.replicas);
    if !set.pods.iter().any(|pod| is_given(pod.ordinal)) {
        return Some((ProofKind::Vacant, Rewritten::NoPod { partition }));
    }
    if set.ready() == 0 {
        return Some((ProofKind::Idle, Rewritten::NoneReady));
    }
    let tried = partition + 1;
    if tried == replicas {
        return Some((ProofKind::Wanted, Rewritten::OnTrial { ordinal: partition }));
    }
    // Of another template nothing has been tried yet, and nothing was given.
    if set.hash != written.hash {
        return None;
    }
    if first_unproven(facts, valid, set, tried).is_none() {
        return Some((ProofKind::Tried, Rewritten::Available { ordinal: tried }));
    }
    // Another number of replicas, another list of zones, or what somebody has
    // changed by hand.
    let is_reached = partition >= set.partition;
    is_reached.then_some((ProofKind::Wanted, Rewritten::Reached { partition }))
}
