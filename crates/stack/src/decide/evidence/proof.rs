//! How this folder makes a proof: about one object, as of this snapshot.

use crate::facts::Facts;
use palladion_plan::Proof;
use palladion_plan::proof::{Identity, MakesProofs, ProofKind};
use std::fmt::Display;

/// What this folder makes proofs by.
struct Gathered;

impl MakesProofs for Gathered {}

/// By what the snapshot shows.
pub(super) fn seen(facts: &Facts<'_>, kind: ProofKind, name: &str, why: &impl Display) -> Proof {
    Proof::new(
        Gathered,
        kind,
        vec![Identity::Object(name.to_string())],
        facts.now(),
        why.to_string(),
    )
}
