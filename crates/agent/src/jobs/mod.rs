//! Jobs of a member, as they are carried out; [`crate::decide::operation`]
//! decides when one begins.

mod run;

pub use run::{Tools, run};
