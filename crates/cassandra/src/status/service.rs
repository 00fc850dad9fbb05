//! What those that depend on this ring read of it (`status.service`). Observations
//! only, no decision is taken from them.

use super::{is_ready, is_stopped, size, views, wanted_by};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::cluster::ClientTlsMode;
use palladion_api::labels::ports;
use palladion_api::service::{MOST_NODES, ServiceNode, ServiceStatus};
use std::collections::BTreeMap;

/// The ring as a service; `valid` is `None` where the spec was refused.
pub fn of(facts: &Facts<'_>, valid: Option<&Valid>) -> ServiceStatus {
    let wanted = wanted(facts, valid);
    let ready: Vec<&MemberFact> = facts.joined().filter(|m| is_ready(m)).collect();
    // As the condition Available has it.
    let quorum = size(facts, i32::try_from(wanted).unwrap_or(i32::MAX)) / 2 + 1;
    let active = !is_stopped(facts) && views::together(facts, &ready) >= quorum;
    let cql = u16::try_from(ports::CQL).unwrap_or_default();
    ServiceStatus {
        active,
        wanted,
        ready: count(ready.len()),
        nodes: nodes(facts),
        ports: BTreeMap::from([("cql".to_string(), cql)]),
        attributes: attributes(facts),
    }
}

/// What was refused asks for nobody: those count that were asked for before.
fn wanted(facts: &Facts<'_>, valid: Option<&Valid>) -> u32 {
    let of_spec = |members: i32| u32::try_from(members).unwrap_or_default();
    match (valid, &facts.status.service) {
        (Some(valid), _) => of_spec(valid.racks.iter().map(|rack| rack.members).sum()),
        (None, Some(known)) => known.wanted,
        (None, None) => of_spec(wanted_by(&facts.spec)),
    }
}

/// Members that have joined and are not leaving, whether they run or not.
fn nodes(facts: &Facts<'_>) -> Vec<ServiceNode> {
    let stays = |m: &&MemberFact| m.spec.as_ref().is_none_or(|spec| spec.intent.is_none());
    let node = |m: &MemberFact| {
        Some(ServiceNode { name: m.name.clone(), address: m.recorded_address()?.clone() })
    };
    let mut nodes: Vec<ServiceNode> = facts.joined().filter(stays).filter_map(node).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes.truncate(MOST_NODES);
    nodes
}

fn attributes(facts: &Facts<'_>) -> BTreeMap<String, String> {
    let client = facts.spec.tls.as_ref().and_then(|tls| tls.client.as_ref());
    let tls = match client.map_or(ClientTlsMode::Off, |client| client.mode) {
        ClientTlsMode::Off => "Off",
        ClientTlsMode::Optional => "Optional",
        ClientTlsMode::Require => "Require",
    };
    BTreeMap::from([
        ("datacenter".to_string(), facts.spec.datacenter.name.clone()),
        ("tls".to_string(), tls.to_string()),
    ])
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
