//! The locks between regions, for minds that ask for them ([`palladion_plan::Mind::lock`]): held
//! by tasks of their own, and looked at right before each write that is fenced by one.

pub mod check;
pub mod held;
mod keep;
pub mod lease;
mod task;

pub use keep::{Keepers, OpenStore};
pub use lease::Leases;

#[cfg(test)]
mod tests;
