//! Restarts and upgrades: who is next, the way from the turn to a server that is
//! back, which revisions may start, and what holds while versions are mixed.

mod advance;
pub mod broken;
pub mod going_without;
mod next;
pub mod revisions;
pub mod standstill;
pub mod steps;
pub mod upgraded;
pub mod versions;

pub use advance::advance;
pub use next::{next, of_idle};
