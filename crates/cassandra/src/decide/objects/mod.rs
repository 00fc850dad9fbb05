//! The objects that a ring consists of: made, kept and deleted.

pub mod apply;
pub mod claims;
pub mod cluster;
pub mod floors;
pub mod garbage;
pub mod load_balancers;
pub mod members;
pub mod mounts;
mod policy;
pub mod racks;
mod recreating;
pub mod replicas;
pub mod restart_tokens;
mod standing;
pub mod teardown;
pub mod volumes;
