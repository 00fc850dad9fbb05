//! Replacements: a member whose volume is lost gets another volume, another address
//! and another server ID; it never comes back under its old vote. In one change of
//! the configuration the old server is taken out and the new one in.

mod advance;
mod next;

pub use advance::{advance, give_way, pass_on};
pub use next::{begin, can_another, comes_to_nothing, next, takes_over};
