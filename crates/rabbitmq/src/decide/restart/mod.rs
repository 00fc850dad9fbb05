//! Bringing members to the newest revision, and restarting those that a user wants
//! restarted: one at a time, while all others run, no queue needs the node, and the last
//! one has caught up.

mod advance;
mod needed;
mod next;

pub use advance::advance;
pub use next::{can_be, is_begun, next, of_broken, of_spared, takes_over};
