//! What proves that a step of these minds may be taken: what the snapshot shows
//! of pods and dependencies, and what a person has written in the spec. Only
//! this folder makes proofs.

mod proof;
mod restart;
mod shrink;

pub use restart::{Group, may_restart};
pub use shrink::may_shrink;
