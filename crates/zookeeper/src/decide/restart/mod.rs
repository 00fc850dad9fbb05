//! Bringing members to the newest revision, and restarting those that a user wants
//! restarted: one at a time, the leader last, while all others serve.

mod advance;
pub mod broken;
mod next;
pub mod revisions;

pub use advance::advance;
pub use next::{next, of_broken};
