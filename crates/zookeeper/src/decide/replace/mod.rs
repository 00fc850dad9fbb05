//! Replacements: a member whose volume is lost gets another volume, another address
//! and another server ID; it never comes back under its old vote. In one change of
//! the configuration the old server is taken out and the new one in.

mod advance;
mod next;

pub use advance::advance;
pub use next::{next, takes_over};
