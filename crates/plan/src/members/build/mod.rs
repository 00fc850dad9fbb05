//! The objects of a service, as they should be. Builders cannot fail. What the server's
//! container is like says the mind.

mod common;
mod objects;
mod pod;
mod set;

pub use common::{cluster_labels, member_labels, metadata, selector};
pub use objects::{
    client_service, config_map, config_map_name, disruption_budget, member, member_account,
    member_service, nodes_service,
};
pub use pod::{PodParts, Release, release, template};
pub use set::stateful_set;
