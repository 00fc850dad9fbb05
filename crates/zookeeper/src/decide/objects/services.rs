//! The Services that hold the addresses of members: each member's own, and those of
//! volumes that were lost, as long as a configuration names them. In an election a
//! server takes over any newer configuration, also that of a stranger that was given
//! the address of a server that is gone.

use crate::build;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact, ServiceFact, Voter};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::members::objects::{apply, replicas};
use palladion_plan::words::left::Doing;
use palladion_plan::words::service::What;
use palladion_plan::{Loss, Step};

/// Make and keep them. Those that ask for an address come before those that take any:
/// one of these could be given the address that another member has on record.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let names: Vec<MemberName> = replicas::names(facts, valid).collect();
    let missing =
        |name: &&MemberName| facts.members.get(*name).is_none_or(|m| m.service().is_none());
    let address = |name: &MemberName| facts.members.get(name).and_then(|m| facts.address_of(m));
    let (asking, others): (Vec<_>, Vec<_>) =
        names.iter().filter(missing).partition(|name| address(name).is_some());
    for name in asking.into_iter().chain(others) {
        make(facts, valid, name, address(name), draft);
    }
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        for service in &member.services {
            keep(facts, valid, member, service, draft);
        }
    }
}

fn make(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberName,
    address: Option<StaticAddress>,
    draft: &mut Draft,
) {
    let known = facts.members.get(member);
    // That name may hold the address of a volume that was lost.
    let plain = build::service_name(member, None);
    let is_taken = known.is_some_and(|m| m.services.iter().any(|s| s.object.meta.name == plain));
    let id = known.and_then(Voter::server_id).filter(|_| is_taken);
    let name = build::service_name(member, id);
    let object = build::member_service(valid, member, &name, address.as_ref(), false);
    let what = What::MemberService { member: member.clone() };
    // An address that is taken stops its own member alone.
    apply(facts, kinds::SERVICE, object, what, Step::standing_alone, draft);
}

fn keep(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    service: &ServiceFact,
    draft: &mut Draft,
) {
    let name = &service.object.meta.name;
    let is_current = member.service().is_some_and(|s| s.object.meta.name == *name);
    let turn = facts.turn().filter(|t| t.member == member.name);
    let is_next = turn.is_some_and(|t| *name == build::service_name(&member.name, t.server_id));
    if !is_current && !is_next && is_free(facts, service) {
        let doing = Doing::DeleteService { service: name.clone() };
        let meta = &service.object.meta;
        draft.steps.push(Step::delete_seen(kinds::SERVICE, meta, Loss::Nothing, doing));
        return;
    }
    let reserved = !is_current && !is_next;
    let object = build::member_service(valid, &member.name, name, None, reserved);
    let what = What::MemberService { member: member.name.clone() };
    apply(facts, kinds::SERVICE, object, what, Step::standing_alone, draft);
}

/// Does no configuration name the address any more? What is not known may.
fn is_free(facts: &Facts<'_>, service: &ServiceFact) -> bool {
    let reported = || facts.enrolled().filter(|m| m.has_served() && !m.is_lost());
    let names = |m: &MemberFact| {
        let view = m.status.ensemble.as_ref();
        view.is_none_or(|v| v.servers.iter().any(|s| Some(&s.address) == service.address.as_ref()))
    };
    let is_terminating = service.object.meta.is_terminating();
    facts.turn().is_none()
        && !is_terminating
        && reported().next().is_some()
        && !reported().any(names)
}
