//! Leaves: a server is taken out of the configuration first, and stopped when all
//! others have the new one.

mod advance;
mod next;

pub use advance::advance;
pub use next::{can_lost, next, of_lost};
