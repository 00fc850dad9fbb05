//! Bringing members to the newest revision, and restarting those that a user wants
//! restarted: one at a time, the leader last, while all others serve.

mod advance;
mod next;

pub use advance::advance;
pub use next::{can_be, is_begun, next, of_broken, of_spared, takes_over};
