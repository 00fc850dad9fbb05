//! What proves that a step may be taken: fresh answers of the servers, and records
//! that need nobody's word. Only this folder makes proofs.

mod proof;
mod prove;
mod records;
mod views;

pub use proof::{Proof, of_grounds};
pub use prove::{Agreed, is_quiet, prove, renew};
pub use records::{is_first, is_named, keeps_its_data};
pub use views::Question;

#[cfg(test)]
mod tests;
