//! The objects of an ensemble, as they should be. Builders cannot fail.

mod config;
mod pod;
mod services;

pub use config::{config_map, name as config_map_name};
pub use palladion_plan::members::build::{Release, member, stateful_set};
pub use pod::release;
pub use services::{member_service, ports_of_all, ports_of_clients, service_name};

#[cfg(test)]
mod tests;
