//! What dependents read of a Component.

use crate::decide::component::texts::address;
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::ComponentSpec;
use palladion_api::component::names;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::service::{MOST_NODES, ServiceNode, ServiceStatus};
use palladion_api::staged::Addresses;
use palladion_plan::workload::pod::PodFact;

/// The service, and whether all members have been ready at once.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> (ServiceStatus, bool) {
    let wanted = u32::try_from(valid.spec.replicas).unwrap_or_default();
    let is_ready = |ordinal: &i32| facts.pod(*ordinal).is_some_and(PodFact::is_ready);
    let ready = count(valid.ordinals().filter(is_ready).count());
    let nodes = nodes(facts, valid);
    // With no member left on record it begins again.
    let was_formed = facts.status.formed && !nodes.is_empty();
    let is_formed = was_formed || (wanted > 0 && ready >= wanted);
    let ports = valid.spec.network.ports.iter();
    let ports = ports.filter_map(|p| Some((p.name.clone(), u16::try_from(p.port).ok()?)));
    let mut service = ServiceStatus {
        active: false,
        wanted,
        ready,
        nodes,
        ports: ports.collect(),
        attributes: Default::default(),
    };
    service.active = is_active(&service, is_formed);
    (service, is_formed)
}

/// The service of an owner whose spec is refused: as it was said last, with the pods as they
/// are now. `None` = nothing was said.
pub fn kept(facts: &Facts<'_>) -> Option<(ServiceStatus, bool)> {
    let mut service = facts.status.service.clone()?;
    let wanted = i32::try_from(service.wanted).unwrap_or(i32::MAX);
    let pods = facts.pods.iter().filter(|pod| (0..wanted).contains(&pod.ordinal));
    service.ready = count(pods.filter(|pod| pod.is_ready()).count());
    // Where the Service is away for a moment, the address of its pod is not the one to call.
    let moves = |spec: &ComponentSpec| spec.network.addresses != Addresses::Service;
    let moves = facts.spec.as_ref().is_ok_and(moves);
    for node in &mut service.nodes {
        let name = node.name.as_str();
        let pod = facts.pods.iter().find(|pod| pod.name == name && !pod.terminating);
        let moved = pod.and_then(|pod| pod.address.as_deref()).filter(|_| moves);
        if let Some(address) = facts.cluster_ip(name).or(moved) {
            node.address = StaticAddress::new(address.to_string());
        }
    }
    let formed = facts.status.formed;
    service.active = is_active(&service, formed);
    Some((service, formed))
}

fn is_active(service: &ServiceStatus, formed: bool) -> bool {
    let of = if formed { count(service.nodes.len()) } else { service.wanted };
    of > 0 && service.ready > of / 2
}

/// Pods that have been ready once and are still wanted: a restart must not
/// change the texts of those who depend on this service.
fn nodes(facts: &Facts<'_>, valid: &Valid) -> Vec<ServiceNode> {
    let stored = facts.status.service.as_ref().map(|s| s.nodes.as_slice()).unwrap_or_default();
    let node = |ordinal: i32| {
        let name = names::pod(&valid.name, ordinal);
        let known = stored.iter().find(|node| node.name.as_str() == name);
        let has_been_ready = facts.pod(ordinal).is_some_and(PodFact::is_ready);
        if known.is_none() && !has_been_ready {
            return None;
        }
        let address = address(facts, valid, ordinal).map(StaticAddress::new);
        let address = address.or_else(|| known.map(|node| node.address.clone()))?;
        Some(ServiceNode { name: MemberName::new(name), address })
    };
    let mut nodes: Vec<ServiceNode> = valid.ordinals().filter_map(node).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes.truncate(MOST_NODES);
    nodes
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
