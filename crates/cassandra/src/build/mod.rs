//! The objects of a cluster, built from what was validated. Nothing here can
//! fail: what could is refused by `validate`.

mod backup;
mod common;
mod config;
mod credentials;
mod pod;
mod policy;
mod release;
mod secrets;
mod services;
mod set;
mod sidecar;
mod task;
#[cfg(test)]
mod tests;

pub use config::config_map;
pub use credentials::{AGENTS_USER, PEOPLES_USER, credentials, generated};
pub use pod::is_the_server;
pub use policy::network_policy;
pub use release::{Rendered, Stamp, rendered};
pub use services::{
    client_ca, client_service, disruption_budget, held_service, load_balancer, member,
    member_account, member_service,
};
pub use set::stateful_set;
pub use task::of_schedule as task_of_schedule;
