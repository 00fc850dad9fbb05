//! One `ServiceMember` per member, made when its address and the revision of its set
//! are known, so that one write says all that the agent needs.

use super::cluster::apply;
use super::replicas;
use crate::build;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::{Waiting, What};
use palladion_api::service_member::{ServiceMemberSpec, ServiceSystem};
use palladion_plan::wait::Subject;

/// Make the members that are missing; an existing one is changed by the decider that
/// owns the field. What the claim says of the volume goes on record again.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for name in replicas::names(facts, valid) {
        let known = facts.members.get(&name);
        if known.is_some_and(|m| m.object.is_some()) {
            continue;
        }
        let recorded = known.and_then(|m| m.address());
        let service = known.and_then(|m| {
            let mut services = m.services.iter().filter(|s| s.address.is_some());
            let is_it = |s: &&crate::facts::ServiceFact| {
                recorded.is_none() || s.address.as_ref() == recorded
            };
            services.find(is_it)
        });
        let address = service.and_then(|s| s.address.clone());
        let (Some(address), Some(revision)) = (address, facts.newest_revision()) else {
            let about = Subject::new(kinds::MEMBER, &name);
            draft.wait_for(Waiting::Address { member: name }).about(about);
            continue;
        };
        let claim = known.and_then(|m| m.claim.as_ref());
        let spec = ServiceMemberSpec {
            system: ServiceSystem::ZooKeeper,
            cluster: valid.name.clone(),
            address: Some(address),
            revisions: vec![revision.to_string()],
            server_id: claim.and_then(|c| c.server_id),
            volume_id: claim.and_then(|c| c.volume_id.clone()),
            restart_token: valid.restart_token.clone(),
            ..ServiceMemberSpec::default()
        };
        let object = build::member(valid, &name, &spec);
        let what = What::Member { member: name };
        apply(facts, kinds::MEMBER, object, what, |step| step, draft);
    }
}
