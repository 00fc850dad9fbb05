//! Load balancers of members: one for each where the spec asks for them, and its address on record
//! at the member. One goes when its member has left, or when the spec asks for another way and no
//! server announces it any more: until then clients would look for it there (safety rule 7.22).

use super::apply::apply_with;
use crate::build;
use crate::clients::{announced, recorded, too_old};
use crate::decide::draft::Draft;
use crate::decide::objects::replicas;
use crate::decide::turn::stopping;
use crate::facts::{Facts, Ingress, LoadBalancerFact, MemberFact};
use crate::resources as kinds;
use crate::validate::{Valid, ValidClients};
use crate::words::clients::{Doing, Happened, Problem, Waiting};
use crate::words::objects::What;
use palladion_api::ids::{ClientAddress, MemberName};
use palladion_api::names;
use palladion_plan::{Event, Loss, Step, Subject};
use serde_json::json;
use std::collections::BTreeSet;

/// Make and keep them, record their addresses, and delete those that nobody needs.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if let Some((member, agent)) = too_old(facts, valid) {
        draft.report(Problem::AgentTooOld { member, agent });
    }
    let mut kept = BTreeSet::new();
    if let ValidClients::LoadBalancer { source_ranges } = &valid.clients {
        for (index, name) in replicas::in_order(facts, valid) {
            let service = build::load_balancer(valid, &valid.racks[index], &name, source_ranges);
            let what = What::LoadBalancer { member: name.clone() };
            // A Service that the API server refuses stops its own member alone.
            apply_with(facts, kinds::SERVICE, service, what, None, Step::standing_alone, draft);
            if let Some(member) = facts.members.get(&name) {
                follow(facts, member, draft);
            }
            kept.insert(name);
        }
    }
    for (name, service) in facts.load_balancers.iter().filter(|(name, _)| !kept.contains(*name)) {
        let meta = &service.object.meta;
        let is_ours = meta.is_controlled_by(&valid.uid) && !meta.is_terminating();
        if is_ours && !is_needed(facts, valid, (name, service)) {
            draft.steps.push(delete(service));
        }
    }
    let has_none = |m: &&MemberFact| {
        let stays = kept.contains(&m.name) || is_held(facts, &m.name) || m.is_gone();
        !stays && recorded(m).is_some()
    };
    for member in facts.members.values().filter(has_none) {
        if !may_announce(facts, valid, member, |address| recorded(member) == Some(address)) {
            draft.steps.extend(record(member, None));
        }
    }
}

/// Record the address that it has; say what is missing. An address that it has no more stays on
/// record: the server comes back with it, and clients that know it lose nothing by that.
fn follow(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    if member.object.is_none() || member.is_gone() {
        return;
    }
    let known = recorded(member);
    let service = || names::load_balancer(&member.name);
    let namespace = || facts.snapshot.owner.meta.namespace.clone();
    let ingress = facts.load_balancers.get(&member.name).map(|service| service.ingress(known));
    let name = || member.name.clone();
    let about = Subject::new(kinds::SERVICE, service());
    match (ingress.unwrap_or(Ingress::None), known) {
        (Ingress::Address(address), known) if known == Some(&address) => {}
        (Ingress::Address(address), _) => draft.steps.extend(record(member, Some(address))),
        (Ingress::Name(named), _) => {
            let problem = Problem::IsAName { member: name(), service: service(), name: named };
            draft.report(problem.clone());
            draft.wait_for(problem).about(about);
        }
        (Ingress::None, None) => {
            let (namespace, service) = (namespace(), service());
            draft.wait_for(Waiting::Address { member: name(), namespace, service }).about(about);
        }
        (Ingress::None, Some(address)) => {
            let (namespace, service, address) = (namespace(), service(), address.clone());
            let member = name();
            let waiting = Waiting::NoAddressNow { member, namespace, service, address };
            draft.wait_for(waiting).about(about);
        }
    }
}

/// The uid is enough: what is written is what the Service has, and an agent that comes up reports
/// often.
fn record(member: &MemberFact, address: Option<ClientAddress>) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let name = || member.name.clone();
    let patch = json!({ "spec": { "clientAddress": address } });
    let doing = match &address {
        Some(address) => Doing::Record { member: name(), address: address.clone() },
        None => Doing::Forget { member: name() },
    };
    let changed = recorded(member).cloned().zip(address);
    let event = changed.map(|(before, now)| Happened::Changed { member: name(), before, now });
    let step = Step::patch_seen(kinds::MEMBER, meta, patch, doing);
    Some(step.announced(event.map(Event::normal)))
}

fn delete(service: &LoadBalancerFact) -> Step {
    let meta = &service.object.meta;
    let name = || meta.name.clone();
    let doing = Doing::Delete { service: name() };
    Step::delete_seen(kinds::SERVICE, meta, Loss::Nothing, doing)
        .announced(Event::normal(Happened::Deleted { service: name() }))
}

/// Is there a load balancer of this member that was not deleted yet?
fn is_held(facts: &Facts<'_>, member: &MemberName) -> bool {
    let service = facts.load_balancers.get(member);
    service.is_some_and(|service| !service.object.meta.is_terminating())
}

/// May clients look for its member there?
fn is_needed(
    facts: &Facts<'_>,
    valid: &Valid,
    (name, service): (&MemberName, &LoadBalancerFact),
) -> bool {
    facts.members.get(name).is_some_and(|member| {
        let known = recorded(member);
        may_announce(facts, valid, member, |address| known == Some(address) || service.has(address))
    })
}

/// Does a server of the member announce such an address, or may one that is started in its pod?
fn may_announce(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    is_such: impl Fn(&ClientAddress) -> bool,
) -> bool {
    let rack = valid.racks.iter().find(|rack| rack.name == member.rack);
    let newest = rack.and_then(|rack| facts.newest_revision(&rack.set));
    match &member.pod {
        // It comes back in a moment.
        None => !member.is_gone() && member.object.is_some() && !stopping::is_wanted(facts),
        Some(pod) => {
            let is_older = newest != Some(pod.revision.as_str());
            is_older || !member.agent_speaks() || announced(member).is_some_and(is_such)
        }
    }
}
