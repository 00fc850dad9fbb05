//! The objects of a cluster, as far as those of another service are made otherwise.

pub mod cluster;
pub mod credentials;
pub mod members;
pub mod services;
