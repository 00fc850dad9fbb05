//! Services of the members' addresses, and the ports of all.

use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::zookeeper::ServerId;
use palladion_plan::members::build;
use serde_json::Value;

/// The port that clients use.
pub fn ports_of_clients(valid: &Valid) -> [(&'static str, u16); 1] {
    [("client", valid.ports.client)]
}

/// All ports of a server.
pub fn ports_of_all(valid: &Valid) -> [(&'static str, u16); 3] {
    let ports = &valid.ports;
    [("client", ports.client), ("quorum", ports.quorum), ("election", ports.election)]
}

/// The name of the Service of a member's address. A server ID names one volume for
/// life, and each volume has an address of its own: the address of one that was
/// lost stays with its Service as long as a configuration names it.
pub fn service_name(member: &MemberName, replaced_by: Option<ServerId>) -> String {
    match replaced_by {
        Some(id) => format!("{member}-s{id}"),
        None => member.to_string(),
    }
}

/// The Service that gives a member its static address. It may ask for an address
/// that the member had before. One that is `reserved` has no endpoints: all that it
/// does is to hold an address.
pub fn member_service(
    valid: &Valid,
    member: &MemberName,
    name: &str,
    address: Option<&StaticAddress>,
    reserved: bool,
) -> Value {
    build::member_service(valid, (member, name), address, !reserved, &ports_of_all(valid))
}
