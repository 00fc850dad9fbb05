//! What is left behind by members that have left: the claim is kept and says
//! so (or goes, by policy), the member object goes, and the Service keeps the
//! address as long as gossip may remember it.

use crate::decide::draft::Draft;
use crate::decide::evidence::records;
use crate::decide::objects::replicas;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::leave::{Doing, Happened};
use jiff::SignedDuration;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_plan::{Event, Loss, ObjectKey, Precondition, Step};
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
            && claim.cluster_uid().as_ref() == Some(&valid.uid)
        {
            if !draft.is_disruptive() {
                draft.steps.push(delete_claim(facts, member, claim));
            }
            return;
        }
        if claim.host_id.is_some() {
            draft.steps.push(mark_claim(member, claim, host_id.as_ref()));
            return;
        }
    }
    let Some(object) = &member.object else { return };
    if object.meta.is_terminating() {
        return;
    }
    let doing = Doing::DeleteMember { member: member.name.clone() };
    draft.steps.push(
        Step::delete_as_seen(kinds::MEMBER, &object.meta, Loss::Nothing, doing)
            .proven(records::has_left(facts, member).map(|p| p.stated())),
    );
}

fn delete_claim(facts: &Facts<'_>, member: &MemberFact, claim: &ClaimFact) -> Step {
    let meta = &claim.object.meta;
    let name = meta.name.clone();
    Step::delete_as_seen(kinds::CLAIM, meta, Loss::Data, Doing::DeleteClaim { claim: name.clone() })
        .proven(records::has_left(facts, member).map(|p| p.stated()))
        .announced(Event::normal(Happened::ClaimDeleted { claim: name }))
}

fn mark_claim(member: &MemberFact, claim: &ClaimFact, host_id: Option<&HostId>) -> Step {
    let old = host_id.or(claim.host_id.as_ref()).map_or("", HostId::as_str);
    let mut annotations = json!({
        labels::GONE: old, labels::HOST_ID: null, labels::VOLUME_ID: null, labels::ADDRESS: null,
        labels::PENDING_MAINTENANCE: null,
    });
    let volume = member.spec.as_ref().and_then(|s| s.volume_id.as_ref());
    if let Some(volume) = volume.filter(|_| member.is_terminated()) {
        annotations[labels::TERMINATED] = json!(volume);
    }
    Step::patch_as_seen(
        kinds::CLAIM,
        &claim.object.meta,
        json!({ "metadata": { "annotations": annotations } }),
        Doing::MarkClaim { claim: claim.object.meta.name.clone() },
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
    let name = || member.name.clone();
    let is_labelled = service.decommissioned.as_deref() == wanted;
    // Who has the address again leaves it another time, and then it is kept anew.
    let is_used = service.alone_since.is_some();
    let (metadata, doing) = match (is_labelled, is_used) {
        (true, false) => return,
        (false, false) => (
            json!({ "labels": { labels::DECOMMISSIONED: wanted } }),
            Doing::LabelService { member: name() },
        ),
        (_, true) => (
            json!({
                "labels": { labels::DECOMMISSIONED: wanted },
                "annotations": { labels::GONE: null },
            }),
            Doing::AddressUsed { member: name() },
        ),
    };
    draft.steps.push(Step::patch(
        ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str()),
        Precondition::Uid(service.object.meta.uid.clone()),
        json!({ "metadata": metadata }),
        doing,
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
        draft.steps.push(Step::patch(
            key,
            Precondition::Uid(service.object.meta.uid.clone()),
            json!({ "metadata": { "annotations": { labels::GONE: facts.now() } } }),
            Doing::RecordAddress { member: member.name.clone() },
        ));
        return;
    };
    let until = since + ADDRESS_KEPT;
    if facts.now() < until {
        draft.wake_at(until);
    } else if !replicas::is_wanted(valid, member) {
        // Whoever comes back takes the address up again: what was seen of it is over then.
        let doing = Doing::FreeAddress { member: member.name.clone(), since };
        let meta = &service.object.meta;
        draft.steps.push(Step::delete_as_seen(kinds::SERVICE, meta, Loss::Nothing, doing));
    }
}
