//! Joins: who is next, the way from the turn to the permit, and members that
//! joined unnoticed; who a new member is.

mod advance;
pub mod first;
pub mod identities;
mod next;
pub mod returning;

pub use advance::advance;
pub use next::{adopt_permit, next};
