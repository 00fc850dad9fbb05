//! The ensemble as those that depend on it see it: who is in it, where, and whether a
//! majority of them is ready.

use crate::facts::{Configuration, Facts, MemberFact, Voter};
use crate::validate::Valid;
use palladion_api::ids::MemberName;
use palladion_api::service::{ServiceNode, ServiceStatus, ServiceStep};
use palladion_api::service_member::ServerMode;
use palladion_api::zookeeper::EnsembleMember;
use palladion_plan::members::status as shared;
use std::collections::BTreeMap;

/// What dependents read.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> ServiceStatus {
    let wanted = u32::try_from(valid.size).unwrap_or_default();
    let ready = ready(facts);
    ServiceStatus {
        active: ready * 2 > size(facts, wanted),
        wanted,
        ready: u32::try_from(ready).unwrap_or(u32::MAX),
        nodes: nodes(facts),
        ports: BTreeMap::from([("client".to_string(), valid.ports.client)]),
        attributes: BTreeMap::new(),
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
        turn.is_some_and(|t| t.step == ServiceStep::Leave)
    };
    let known = facts.configuration();
    let votes = move |m: &MemberFact| match (&known, m.server_id()) {
        (Some(configuration), Some(id)) => configuration.has_participant(id),
        // Nobody reports: those that have served are still members.
        (None, Some(_)) => m.has_served(),
        (_, None) => false,
    };
    facts.enrolled().filter(move |m| votes(m) && !leaves(m))
}

/// Members of record that are ready.
pub fn ready(facts: &Facts<'_>) -> usize {
    of_record(facts).filter(|m| m.is_ready()).count()
}

/// How many servers count: those that are wanted until so many were there once, then
/// those of record, so that growth closes no gate.
pub fn size(facts: &Facts<'_>, wanted: u32) -> usize {
    let joined = of_record(facts).count();
    match is_complete_once(facts, wanted) && joined > 0 {
        true => joined,
        false => joined.max(usize::try_from(wanted).unwrap_or_default()),
    }
}

/// Were as many servers there as are wanted, at least once?
pub fn is_complete_once(facts: &Facts<'_>, wanted: u32) -> bool {
    let joined = of_record(facts).count();
    facts.status.complete_once || usize::try_from(wanted).is_ok_and(|wanted| joined >= wanted)
}

/// The member that leads, if one and only one says so.
pub fn leader(facts: &Facts<'_>) -> Option<MemberName> {
    let leads = |m: &&MemberFact| m.view().is_some_and(|v| v.mode == Some(ServerMode::Leader));
    let mut leaders = facts.members.values().filter(leads);
    let first = leaders.next()?;
    leaders.next().is_none().then(|| first.name.clone())
}

/// The servers of a configuration, and whose they are.
pub fn ensemble(facts: &Facts<'_>, configuration: &Configuration) -> Vec<EnsembleMember> {
    let servers = configuration.servers.iter().map(|server| {
        let member = facts.member_of(server.server_id);
        EnsembleMember {
            id: server.server_id,
            member: member.map(|m| m.name.clone()),
            volume_id: member.and_then(|m| m.volume_id().cloned()),
            role: server.role,
        }
    });
    servers.collect()
}
