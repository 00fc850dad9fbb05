//! Replacements: a member whose volume is lost gets another volume, another address
//! and another server ID; it never comes back under its old vote. In one change of
//! the configuration the old server is taken out and the new one in.

mod advance;
pub mod marked;
mod next;
pub mod node_gone;
mod room;

pub use advance::advance;
pub use next::{next, takes_over};
