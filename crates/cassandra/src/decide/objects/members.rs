//! One `CassandraMember` per member, made when its address and the revision of
//! its set are known, so that one write says all that the agent needs.

use super::apply::apply;
use crate::build;
use crate::decide::draft::Draft;
use crate::decide::maintenance::{absences, debts, hinted, owed};
use crate::decide::objects::{replicas, restart_tokens};
use crate::decide::turn::seeds;
use crate::facts::{ClaimFact, Facts};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::{Waiting, What};
use palladion_api::labels;
use palladion_api::member::CassandraMemberSpec;
use palladion_plan::wait::Subject;
use serde_json::json;

/// Make the members that are missing; an existing one is changed by the
/// decider that owns the field.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for (index, name) in replicas::in_order(facts, valid) {
        let rack = &valid.racks[index];
        let known = facts.members.get(&name);
        if known.is_some_and(|m| m.object.is_some()) {
            continue;
        }
        let address = known.and_then(|m| m.service.as_ref()).and_then(|s| s.address.clone());
        let revision = facts.sets.get(&rack.set).and_then(|s| s.update_revision.clone());
        let (Some(address), Some(revision)) = (address, revision) else {
            let about = Subject::new(kinds::MEMBER, &name);
            draft.wait_for(Waiting::Address { member: name }).about(about);
            continue;
        };
        let claim = known.and_then(|m| m.claim.as_ref());
        let spec = CassandraMemberSpec {
            cluster: valid.name.clone(),
            ring: valid.ring.clone(),
            datacenter: valid.datacenter.clone(),
            rack: rack.name.clone(),
            address: Some(address),
            revisions: vec![revision],
            host_id: claim.and_then(|c| c.host_id.clone()),
            volume_id: claim.and_then(|c| c.volume_id.clone()),
            pending_maintenance: claim.map(debts::on_claim).unwrap_or_default(),
            repair_owed_until: claim.and_then(owed::on_claim),
            left_host_id: claim.and_then(ClaimFact::left_host_id),
            seeds: seeds::of(facts, valid),
            external_seeds: seeds::elsewhere(valid, known),
            runtime_settings: valid.runtime_settings.clone(),
            restart_token: restart_tokens::of_a_new_member(valid, &rack.name),
            ..CassandraMemberSpec::default()
        };
        let mut object = build::member(valid, rack, &name, &spec);
        if let Some(since) = claim.and_then(absences::on_claim) {
            object["metadata"]["annotations"][labels::DOWN_SINCE] = json!(since);
        }
        if let Some(hinted) = claim.and_then(hinted::on_claim) {
            object["metadata"]["annotations"][labels::HINTS_PENDING] = json!(hinted);
        }
        apply(facts, kinds::MEMBER, object, What::Member { member: name }, None, draft);
    }
}
