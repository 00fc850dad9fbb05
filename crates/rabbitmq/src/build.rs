//! The objects of a cluster, as they should be. Builders cannot fail.

mod config;
mod pod;
mod secret;
mod services;

pub use config::{config_map, name as config_map_name};
pub use palladion_plan::members::build::{Release, member, stateful_set};
pub use pod::release;
pub use secret::{credentials, generated};
pub use services::{member_service, ports_of_clients, ports_of_nodes};

#[cfg(test)]
mod tests;
