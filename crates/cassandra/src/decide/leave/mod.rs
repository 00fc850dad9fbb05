//! Leaves: who is next and what forbids it, the way from the turn to the proof
//! that it has left, leavers that were interrupted or failed halfway, and what is
//! left behind.

mod advance;
pub mod again;
pub mod delivered;
pub mod departed;
mod never;
mod next;
mod refused;
pub mod resume;
pub mod steps;

pub use advance::advance;
pub use next::{adopt_intent, already_left, lowers_replication, never_joined, next};
