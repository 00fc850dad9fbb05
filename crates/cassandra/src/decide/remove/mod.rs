//! Removals: the others take a member out of the ring that will never come back.

mod advance;

pub use advance::advance;
