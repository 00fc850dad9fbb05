//! The cluster as those that depend on it see it: who is in it, where, and whether a
//! majority of them is ready.

use crate::decide::leave;
use crate::facts::{Facts, MemberFact, Node};
use crate::validate::Valid;
use palladion_api::rabbitmq::{ClusterNode, NodeName};
use palladion_api::service::{ServiceNode, ServiceStatus, ServiceStep};
use palladion_api::service_member::BrokerView;
use palladion_plan::members::status as shared;
use std::collections::BTreeMap;

/// What dependents read.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> ServiceStatus {
    let wanted = u32::try_from(valid.size).unwrap_or_default();
    let ready = ready(facts);
    let (ports, vhost) = (&valid.ports, valid.server.vhost.clone());
    ServiceStatus {
        active: ready * 2 > size(facts, wanted),
        wanted,
        ready: u32::try_from(ready).unwrap_or(u32::MAX),
        nodes: nodes(facts),
        ports: BTreeMap::from([
            ("amqp".to_string(), ports.amqp),
            ("management".to_string(), ports.management),
        ]),
        attributes: BTreeMap::from([
            ("vhost".to_string(), vhost),
            ("secret".to_string(), valid.secret.clone()),
        ]),
    }
}

/// The members of record, and where they are.
pub fn nodes(facts: &Facts<'_>) -> Vec<ServiceNode> {
    shared::nodes(of_record(facts))
}

/// The members of record: they have joined and are not leaving. Not those that are ready
/// now: a restart must not change what dependents read.
pub fn of_record<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    let leaves = |m: &MemberFact| {
        let turn = facts.turn().filter(|t| t.member == m.name);
        // One that is to leave does not come and go with each try.
        turn.is_some_and(|t| t.step == ServiceStep::Leave) || leave::is_postponed(facts, m)
    };
    facts.enrolled().filter(move |m| m.has_served() && !leaves(m))
}

/// Members of record that are ready.
pub fn ready(facts: &Facts<'_>) -> usize {
    of_record(facts).filter(|m| m.is_ready()).count()
}

/// How many nodes count: those that are wanted until so many were there once, then those
/// of record, so that growth closes no gate.
pub fn size(facts: &Facts<'_>, wanted: u32) -> usize {
    let joined = of_record(facts).count();
    match is_complete_once(facts, wanted) && joined > 0 {
        true => joined,
        false => joined.max(usize::try_from(wanted).unwrap_or_default()),
    }
}

/// Were as many nodes there as are wanted, at least once?
pub fn is_complete_once(facts: &Facts<'_>, wanted: u32) -> bool {
    let joined = of_record(facts).count();
    facts.status.complete_once || usize::try_from(wanted).is_ok_and(|wanted| joined >= wanted)
}

/// The nodes that any node names, and whose they are.
pub fn cluster(facts: &Facts<'_>) -> Vec<ClusterNode> {
    let running = |name: &NodeName| {
        let mut views = facts.members.values().filter_map(|m| m.view());
        views.any(|view: &BrokerView| view.sees(name))
    };
    let node = |name: NodeName| {
        let member = facts.member_of(&name);
        ClusterNode {
            running: running(&name),
            member: member.map(|m| m.name.clone()),
            volume_id: member.and_then(|m| m.volume_id().cloned()),
            name,
        }
    };
    facts.named().into_iter().map(node).collect()
}
