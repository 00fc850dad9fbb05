//! One `ServiceMember` per member, made when its address and the revision of its set
//! are known, so that one write says all that the agent needs.

use super::super::spec::ServiceSpec;
use super::super::{ClaimFact, Draft, MEMBER, ServiceFact, ServiceFacts, build};
use super::cluster::apply;
use super::replicas;
use crate::wait::Subject;
use crate::words::service::{Waiting, What};
use palladion_api::service_member::ServiceMemberSpec;

/// Make the members that are missing; an existing one is changed by the decider that
/// owns the field. What the claim says of the volume goes on record again.
/// `name_server` puts down what the system calls the server, as the claim has it.
pub fn decide(
    facts: &ServiceFacts<'_>,
    service: &ServiceSpec,
    name_server: fn(&mut ServiceMemberSpec, Option<&ClaimFact>),
    draft: &mut Draft,
) {
    for name in replicas::names(facts, service) {
        let known = facts.members.get(&name);
        if known.is_some_and(|m| m.object.is_some()) {
            continue;
        }
        let recorded = known.and_then(|m| m.address());
        let holder = known.and_then(|m| {
            let mut services = m.services.iter().filter(|s| s.address.is_some());
            let is_it = |s: &&ServiceFact| recorded.is_none() || s.address.as_ref() == recorded;
            services.find(is_it)
        });
        let address = holder.and_then(|s| s.address.clone());
        let (Some(address), Some(revision)) = (address, facts.newest_revision()) else {
            let about = Subject::new(MEMBER, &name);
            draft.wait_for(Waiting::Address { member: name }).about(about);
            continue;
        };
        let claim = known.and_then(|m| m.claim.as_ref());
        let mut spec = ServiceMemberSpec {
            system: service.kind.system,
            cluster: service.name.clone(),
            address: Some(address),
            revisions: vec![revision.to_string()],
            volume_id: claim.and_then(|c| c.volume_id.clone()),
            restart_token: service.restart_token.clone(),
            ..ServiceMemberSpec::default()
        };
        name_server(&mut spec, claim);
        let object = build::member(service, &name, &spec);
        let what = What::Member { member: name };
        apply(facts, MEMBER, object, what, |step| step, draft);
    }
}
