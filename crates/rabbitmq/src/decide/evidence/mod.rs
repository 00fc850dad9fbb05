//! What proves that a step may be taken: fresh answers of the nodes, and records that
//! need nobody's word. Only this folder makes proofs.

mod agreed;
mod lines;
mod proof;
mod prove;
mod records;
mod views;

pub use agreed::Agreed;
pub use lines::{disabled_flags, is_new_line};
pub use proof::{Proof, of_grounds};
pub use prove::{is_quiet, look_again, prove, renew};
pub use records::{is_begun, is_first, is_of_this_start, keeps_its_data};
pub use views::Question;

#[cfg(test)]
mod tests;
