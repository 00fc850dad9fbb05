//! The objects of an ensemble, as they should be. Builders cannot fail.

mod common;
mod config;
mod pod;
mod services;
mod set;

pub use config::config_map;
pub use pod::{CONTAINER, Release, release};
pub use services::{
    client_service, disruption_budget, member, member_account, member_service, nodes_service,
    service_name,
};
pub use set::stateful_set;

#[cfg(test)]
mod tests;
