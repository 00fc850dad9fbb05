//! Services of the members' addresses, and the ports of all.

use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::members::build;
use serde_json::Value;

/// Erlang's port mapper, which tells nodes where others listen.
const EPMD: u16 = 4369;

/// The ports that clients use.
pub fn ports_of_clients(valid: &Valid) -> [(&'static str, u16); 2] {
    [("amqp", valid.ports.amqp), ("management", valid.ports.management)]
}

/// The ports on which nodes reach each other.
pub fn ports_of_nodes(valid: &Valid) -> [(&'static str, u16); 2] {
    [("epmd", EPMD), ("distribution", valid.ports.distribution)]
}

/// The Service that gives a member its static address, for clients. It may ask for an
/// address that the member had before. Nodes know each other by the names of their pods.
pub fn member_service(
    valid: &Valid,
    member: &MemberName,
    address: Option<&StaticAddress>,
) -> Value {
    let ports = ports_of_clients(valid);
    build::member_service(valid, (member, member.as_str()), address, true, &ports)
}
