//! A pod may be ended if nobody uses it, or if all are well and it can start again.

use super::proof::seen;
use crate::facts::Facts;
use crate::reload::Ground;
use crate::validate::Valid;
use crate::words::evidence::Proven;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Proof, ProofKind};

/// Why this pod may be ended now, if it may.
pub fn may_restart(
    facts: &Facts<'_>,
    valid: &Valid,
    pod: &PodFact,
    ground: Ground,
) -> Option<Proof> {
    if pod.terminating {
        return None;
    }
    if !pod.is_ready() {
        let why = Proven::NotReady { pod: pod.words() };
        return Some(seen(facts, ProofKind::Idle, &pod.name, &why));
    }
    let is_available = |ordinal: i32| {
        let at = facts.pod(ordinal).and_then(|p| p.available_at(valid.spec.min_ready_seconds));
        at.is_some_and(|at| at <= facts.now())
    };
    let is_quiet = ground == Ground::Firm && valid.ordinals().all(is_available);
    let why = Proven::OthersAvailable { pod: pod.name.clone() };
    is_quiet.then(|| seen(facts, ProofKind::Quiet, &pod.name, &why))
}
