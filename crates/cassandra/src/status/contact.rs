//! Where clients connect to. Observations only, no decision is taken from them.

use crate::clients;
use crate::facts::{Facts, MemberFact};
use palladion_api::cluster::MOST_CONTACT_POINTS;
use palladion_api::labels::ports;
use std::collections::BTreeSet;

/// Address and port of live members, of each rack one first: a rack that is lost
/// then costs one of them. `None` where nobody is live.
pub fn points(facts: &Facts<'_>) -> Option<Vec<String>> {
    let mut racks = BTreeSet::new();
    let live = facts.joined().filter(|m| m.is_live(&facts.nodes));
    let (first, rest): (Vec<&MemberFact>, Vec<&MemberFact>) =
        live.partition(|m| racks.insert(&m.rack));
    let addresses = first.into_iter().chain(rest).filter_map(address);
    let points = addresses.take(MOST_CONTACT_POINTS).map(|address| host_and_port(&address));
    Some(points.collect()).filter(|points: &Vec<String>| !points.is_empty())
}

/// What it announces to clients, if that is what its load balancer or its pod has: what an agent
/// reports alone sends clients nowhere.
fn address(member: &MemberFact) -> Option<String> {
    let announced = clients::announced(member).filter(|announced| {
        let pod = clients::of_pod(member);
        clients::recorded(member) == Some(*announced) || pod.as_ref() == Some(*announced)
    });
    let announced = announced.map(|address| address.as_str());
    announced.or_else(|| Some(member.recorded_address()?.as_str())).map(str::to_string)
}

/// An IPv6 address stands in brackets.
fn host_and_port(address: &str) -> String {
    match address.contains(':') {
        true => format!("[{address}]:{}", ports::CQL),
        false => format!("{address}:{}", ports::CQL),
    }
}
