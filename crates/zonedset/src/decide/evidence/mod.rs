//! What proves that a step of this mind may be taken: what the snapshot shows of
//! sets and pods, and what a person has written in the spec. Only this folder
//! makes proofs.

mod proof;
mod readiness;
mod rewritten;
mod stopped;
mod superseded;
#[cfg(test)]
mod tests;

pub use readiness::{first_unproven, not_ready};
pub use rewritten::{Written, may_be_written};
pub use stopped::may_be_stopped;
pub use superseded::{superseded, wanted_pods};
