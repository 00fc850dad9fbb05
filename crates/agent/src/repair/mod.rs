//! Repair that knows when it is due: which ranges of this member were repaired
//! when, which come next, and in which pieces. All of it but [`survey`],
//! [`schema::Schemas`] and [`book`] is pure; what a server is called for is done
//! in [`crate::jobs`].
//!
//! The promise: a row that was deleted between the starts of two repairs of its
//! range is deleted on all replicas at the end of the second. So it cannot come
//! back if that end is within `gc_grace_seconds` of the first start. What is
//! remembered is the start, and whatever is doubtful counts as never repaired.

pub mod batches;
pub mod book;
pub mod due;
pub mod failing;
pub mod known;
pub mod memory;
pub mod outlook;
pub mod pace;
pub mod pieces;
pub mod pressure;
pub mod schema;
pub mod segments;
pub mod survey;

#[cfg(test)]
mod tests;

pub use book::Repairs;
pub use known::Known;
pub use memory::{Memory, Open};
pub use schema::Schema;
