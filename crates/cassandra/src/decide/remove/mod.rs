//! Removals: the others take a member out of the ring that will never come back.

mod advance;
mod blocked;
mod cleaning;
mod ordered;
mod overdue;

pub use advance::advance;
pub use ordered::left_over;
