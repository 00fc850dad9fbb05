//! The objects of a service: made, kept as they should be, and taken away.

mod claims;
mod cluster;
mod garbage;
mod members;
mod mounts;
mod records;
pub mod replicas;

pub use claims::decide as claims;
pub use cluster::{apply, set, small};
pub use garbage::decide as garbage;
pub use members::decide as members;
pub use mounts::decide as mounts;
pub use records::decide as records;
