//! The writes by which a replacement changes its identity: the lost one goes
//! off the record, and the member gets another address, so that writes reach
//! it while it streams.

use crate::decide::draft::Draft;
use crate::decide::replace::quarantine;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::replace::{Doing, Waiting};
use palladion_api::cluster::{Replaced, Turn};
use palladion_api::ids::Uid;
use palladion_plan::{Flow, Loss, ObjectKey, Precondition, Propagation, Step};
use serde_json::{Value, json};

/// Give the member another address than the one that was lost.
pub fn change(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) -> Flow {
    let address = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let old = &replaced.address;
    // One whose address had changed before it was lost is on record with another.
    let is_of_lost = member.spec.as_ref().is_some_and(|s| {
        s.address.as_ref() == Some(old) || s.host_id.as_ref() == Some(&replaced.host_id)
    });
    let step = match (address, &member.service) {
        (Some(_), _) if is_of_lost => Some(forget(facts, valid, turn, member)),
        (Some(_), _) => {
            draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
            return Flow::Free;
        }
        (None, Some(service)) if service.address.as_ref() == Some(old) => {
            Some(free(facts, valid, turn, member, &service.object.meta.uid))
        }
        (None, Some(service)) => service.address.as_ref().map(|new| {
            let spec = json!({ "address": new });
            let doing = Doing::RecordAddress { member: member.name.clone() };
            patch(facts, valid, turn, member, spec, doing)
        }),
        (None, None) => {
            let waiting = Waiting::ForAddress { member: member.name.clone() };
            draft.wait_for(waiting).about(member.subject());
            None
        }
    };
    let is_recorded = address.is_none() && matches!(step, Some(Step::Patch { .. }));
    draft.steps.extend(step);
    if is_recorded {
        draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
    }
    Flow::Busy
}

/// Take the lost identity off the record: it stands in the turn and on the claim.
fn forget(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact) -> Step {
    let spec = json!({ "address": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null });
    let doing = Doing::ForgetVolume { member: member.name.clone() };
    patch(facts, valid, turn, member, spec, doing)
}

/// A write to the member that has the turn.
fn patch(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    spec: Value,
    doing: Doing,
) -> Step {
    let meta = member.object.as_ref().map(|o| &o.meta);
    let as_seen = Precondition::Version {
        uid: meta.map(|m| m.uid.clone()).unwrap_or_default(),
        resource_version: meta.map(|m| m.resource_version.clone()).unwrap_or_default(),
    };
    let key = ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str());
    Step::patch(key, as_seen, json!({ "spec": spec }), doing).fenced(facts.fence(turn))
}

/// Delete the Service that has the lost address; it is recreated with another. The uid is
/// enough: the ClusterIP of a Service never changes, so that no write to it in between makes
/// it another one.
fn free(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, uid: &Uid) -> Step {
    Step::Delete {
        key: ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str()),
        precondition: Precondition::Uid(uid.clone()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fences: vec![facts.fence(turn)],
        proof: None,
        doing: Doing::FreeAddress { member: member.name.clone() }.to_string(),
        event: None,
    }
}
