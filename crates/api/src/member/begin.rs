//! The question of an agent whether it may begin what it was given under a region lock, and
//! the answer. A holder of the lock that was frozen may have written permit or intent long
//! after it lost the lock; it does not answer, and its old answers are void.

use crate::ids::Nonce;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Agents of before this protocol begin without asking back.
pub const KNOWS_BEGIN: u32 = 14;

/// How long an answer is good for, by the agent's own monotonic clock and from when it asked.
pub const ANSWER_LIFE: SignedDuration = SignedDuration::from_secs(15);

/// How much of the lease must be left when the lock is looked at for an answer: longer than
/// [`ANSWER_LIFE`], which begins before that look, so that nothing begins after the lease.
pub const LEASE_LEFT: SignedDuration = SignedDuration::from_secs(30);

/// May this permit or intent be begun?
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BeginQuestion {
    /// Different for every question.
    #[schemars(length(max = 64))]
    pub nonce: Nonce,
    /// Nonce of the permit or intent.
    #[schemars(length(max = 64))]
    pub of: Nonce,
}

/// It may, if the agent asked less than 15 seconds ago.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BeginAnswer {
    /// Nonce of the question.
    #[schemars(length(max = 64))]
    pub nonce: Nonce,
}
