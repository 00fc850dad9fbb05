//! A pod may be ended if nobody uses it, or if all are well and it can start again.

use super::proof::seen;
use crate::reload::Ground;
use crate::words::evidence::Proven;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Proof, ProofKind, Snapshot};

/// The pods that serve beside each other.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// All that should be there; `None` = one is not.
    pub pods: &'a [Option<&'a PodFact>],
    /// Seconds for which a pod must be ready.
    pub min_ready_seconds: i32,
    /// Is all there that pods need to start again?
    pub ground: Ground,
}

/// Why this pod may be ended now, if it may.
pub fn may_restart(snapshot: &Snapshot, pod: &PodFact, group: Group<'_>) -> Option<Proof> {
    if pod.terminating {
        return None;
    }
    if !pod.is_ready() {
        let why = Proven::NotReady { pod: pod.words() };
        return Some(seen(snapshot, ProofKind::Idle, &pod.name, &why));
    }
    let is_available = |pod: &Option<&PodFact>| {
        let at = pod.and_then(|pod| pod.available_at(group.min_ready_seconds));
        at.is_some_and(|at| at <= snapshot.now)
    };
    let is_quiet = group.ground == Ground::Firm && group.pods.iter().all(is_available);
    let why = Proven::OthersAvailable { pod: pod.name.clone() };
    is_quiet.then(|| seen(snapshot, ProofKind::Quiet, &pod.name, &why))
}
