//! Replacements: a member whose volume is lost is taken out of every queue and forgotten
//! by the others, gets another volume, and joins as new. It has the name of the old node,
//! so it never joins before nobody and no queue knows that name any more.

mod advance;
mod next;

pub use advance::{advance, give_way, pass_on};
pub use next::{begin, can_another, comes_to_nothing, is_begun, next, takes_over};
