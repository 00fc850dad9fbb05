//! The objects of an ensemble: made, kept as they should be, and taken away.

pub mod claims;
pub mod cluster;
pub mod garbage;
pub mod members;
pub mod records;
pub mod replicas;
pub mod services;
pub mod teardown;
