//! Certificates of ring members: keys, requests, the authority that signs them,
//! and its rules. What is signed follows from who asks and never from what a
//! request says: of a request only the public key counts. No I/O, and the time
//! is given; keys are random by nature.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

mod check;
mod issue;
mod key;
mod pem;
mod request;
#[cfg(test)]
mod tests;
pub mod words;

palladion_api::vocabulary![words];

pub use check::{Held, check};
pub use issue::{Authority, Identity, Signed, Terms};
pub use key::key;
pub use pem::fingerprints;
pub use request::{LONGEST_REQUEST, request};
