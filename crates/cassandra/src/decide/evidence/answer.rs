//! What the others have answered.

use super::proof::Proof;
use crate::words::evidence::Objection;
use palladion_api::ids::MemberName;

/// What the others have answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is as it should be.
    Proven(Proof),
    /// Not all have answered yet.
    Missing(Vec<MemberName>),
    /// An answer that forbids the step, or too few can be asked.
    Refused {
        /// What is wrong, naming the member.
        why: Objection,
        /// When the answer was read.
        read_at: jiff::Timestamp,
    },
}

impl Answer {
    /// The proof, if there is one.
    pub fn proven(self) -> Option<Proof> {
        match self {
            Answer::Proven(proof) => Some(proof),
            Answer::Missing(_) | Answer::Refused { .. } => None,
        }
    }
}
