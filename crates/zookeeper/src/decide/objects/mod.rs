//! The objects of an ensemble, as far as those of another service are made otherwise.

pub mod cluster;
pub mod members;
pub mod services;
