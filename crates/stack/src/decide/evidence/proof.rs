//! How this folder makes a proof: about one object, as of this snapshot.

use palladion_plan::proof::{Identity, MakesProofs, ProofKind};
use palladion_plan::{Proof, Snapshot};
use std::fmt::Display;

/// What this folder makes proofs by.
struct Gathered;

impl MakesProofs for Gathered {}

/// By what the snapshot shows.
pub(super) fn seen(snapshot: &Snapshot, kind: ProofKind, name: &str, why: &impl Display) -> Proof {
    Proof::new(
        Gathered,
        kind,
        vec![Identity::Object(name.to_string())],
        snapshot.now,
        why.to_string(),
    )
}
