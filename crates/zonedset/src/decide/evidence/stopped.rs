//! The old pods of `rollout: Recreate` stop before the first new one starts.

use super::proof::seen;
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::evidence::Proven;
use palladion_api::zoned_stateful_set::Rollout;
use palladion_plan::{Proof, ProofKind};

/// The spec wants all pods of an older template stopped, and this set is made
/// from another one than `hash` stands for.
pub fn may_be_stopped(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    hash: &str,
) -> Option<Proof> {
    let is_wanted = match valid.spec.rollout {
        Rollout::Recreate => set.hash != hash,
        Rollout::Partitioned | Rollout::Versioned => false,
    };
    let proven = Proven::OlderTemplate { set: set.name.clone() };
    is_wanted.then(|| seen(facts, ProofKind::Wanted, &set.name, &proven))
}
