//! A set gets fewer pods because the spec has fewer, or for a while none because
//! the spec wants all of them recreated.

use super::proof::seen;
use crate::facts::Facts;
use crate::facts::component::SetFact;
use crate::reload::Recreate;
use crate::validate::Valid;
use crate::words::evidence::Proven;
use palladion_api::staged::ReloadPolicy;
use palladion_plan::{Proof, ProofKind};

/// Why the set may have only so many pods, if it may.
pub fn may_shrink(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    replicas: i32,
    recreate: Recreate,
) -> Option<Proof> {
    let name = valid.name.clone();
    if replicas == valid.spec.replicas {
        let why = Proven::Fewer { set: name.clone(), has: set.replicas, replicas };
        return (replicas < set.replicas)
            .then(|| seen(facts.snapshot, ProofKind::Wanted, &name, &why));
    }
    let is_wanted = valid.spec.reload.policy == ReloadPolicy::Recreate;
    let is_due = recreate == Recreate::Now || set.recreating.is_some();
    let why = Proven::Recreated { set: name.clone() };
    (replicas == 0 && is_wanted && is_due)
        .then(|| seen(facts.snapshot, ProofKind::Wanted, &name, &why))
}
