//! What proves that a step may be taken: fresh answers of the servers, and records
//! that need nobody's word. Only this folder makes proofs.

mod ask;
mod idle;
pub mod marks;
mod proof;
mod prove;
mod records;
mod views;

pub use idle::{keeps_its_data, serves_nothing, was_never_part};
pub use proof::Proof;
pub use prove::{Agreed, is_quiet, prove, renew};
pub use records::{goes_with_the_cluster, has_left, is_first, is_named, is_vacant};
pub use views::Question;

#[cfg(test)]
mod tests;
