//! What is left behind by members that have left: the claim is kept and says
//! so (or goes, by policy), the member object goes, and the Service keeps the
//! address as long as gossip may remember it.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::records;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::json;

/// Gossip keeps a member that left for 72 h (`cassandra.very_long_time_ms`):
/// a stranger with its address in that time would be taken for it.
const ADDRESS_KEPT: SignedDuration = SignedDuration::from_hours(72);

/// Tidy up after members that are on record as gone.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values() {
        if member.is_gone() {
            after(facts, valid, member, draft);
        } else if member.object.is_none() && member.pod.is_none() {
            old_address(facts, valid, member, draft);
        } else {
            mirror(valid, member, draft);
        }
    }
}

fn after(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, draft: &mut Draft) {
    mirror(valid, member, draft);
    if member.pod.is_some() {
        return; // The set ends it; nothing else goes before it.
    }
    let host_id = member.spec.as_ref().and_then(|s| s.host_id.clone());
    if let Some(claim) = member.claim.as_ref().filter(|c| !c.terminating) {
        if valid.deletion_policy == DeletionPolicy::Delete
            && claim.object.meta.annotations.get(labels::CLUSTER_UID) == Some(&valid.uid)
        {
            if !draft.is_disruptive() {
                draft.steps.push(delete_claim(facts, valid, member, claim));
            }
            return;
        }
        if claim.host_id.is_some() {
            draft.steps.push(mark_claim(claim, host_id.as_ref()));
            return;
        }
    }
    let Some(object) = &member.object else { return };
    if object.meta.is_terminating() {
        return;
    }
    draft.steps.push(Step::Delete {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str()),
        precondition: Precondition::Uid(object.meta.uid.clone()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fence: None,
        proof: records::has_left(facts, member).map(|p| p.stated()),
        doing: format!("delete the record of member {}, which has left", member.name),
        event: None,
    });
}

fn delete_claim(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, claim: &ClaimFact) -> Step {
    Step::Delete {
        key: ObjectKey::new(kinds::CLAIM, &valid.namespace, &claim.object.meta.name),
        precondition: Precondition::Uid(claim.object.meta.uid.clone()),
        loss: Loss::Data,
        propagation: Propagation::Background,
        fence: None,
        proof: records::has_left(facts, member).map(|p| p.stated()),
        doing: format!("delete claim {} of a member that has left", claim.object.meta.name),
        event: synced(format!(
            "Claim {} of a member that has left is deleted",
            claim.object.meta.name
        )),
    }
}

fn mark_claim(claim: &ClaimFact, host_id: Option<&HostId>) -> Step {
    let old = host_id.or(claim.host_id.as_ref()).map_or("", HostId::as_str);
    Step::patch_seen(
        kinds::CLAIM,
        &claim.object.meta,
        json!({ "metadata": { "annotations": {
            labels::GONE: old, labels::HOST_ID: null, labels::VOLUME_ID: null, labels::ADDRESS: null,
        }}}),
        format!("record on claim {} that its member has left", claim.object.meta.name),
    )
}

/// The label of Rook's Cassandra operator on the Service, for people and
/// scripts: "false" while leaving, "true" when gone, absent otherwise.
fn mirror(valid: &Valid, member: &MemberFact, draft: &mut Draft) {
    let Some(service) = &member.service else {
        return;
    };
    let leaving = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    let wanted = match (member.is_gone(), leaving) {
        (true, _) => Some("true"),
        (false, true) => Some("false"),
        (false, false) => None,
    };
    if service.decommissioned.as_deref() == wanted {
        return;
    }
    draft.steps.push(Step::patch(
        ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str()),
        Precondition::Uid(service.uid.clone()),
        json!({ "metadata": { "labels": { labels::DECOMMISSIONED: wanted } } }),
        format!("label the Service of member {}", member.name),
    ));
}

/// A Service that stands alone: since when is on record, and after that time
/// its address is set free.
fn old_address(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, draft: &mut Draft) {
    let Some(service) = member.service.as_ref().filter(|s| s.decommissioned.is_some()) else {
        return;
    };
    let key = ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str());
    let Some(since) = service.alone_since else {
        draft.steps.push(Step::Patch {
            key,
            patch: json!({ "metadata": { "annotations": { labels::GONE: facts.now() } } }),
            subresource: Subresource::None,
            precondition: Precondition::Uid(service.uid.clone()),
            fence: None,
            proof: None,
            doing: format!("record since when the address of member {} is kept", member.name),
            event: None,
        });
        return;
    };
    if facts.now() >= since + ADDRESS_KEPT {
        draft.steps.push(Step::Delete {
            key,
            precondition: Precondition::Uid(service.uid.clone()),
            loss: Loss::Nothing,
            propagation: Propagation::Background,
            fence: None,
            proof: None,
            doing: format!("set the address of member {} free, which left at {since}", member.name),
            event: None,
        });
    }
}
