//! The writes by which a replacement changes its identity: the lost one goes
//! off the record, and the member gets another address, so that writes reach
//! it while it streams.

use crate::decide::draft::Draft;
use crate::decide::replace::quarantine;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::cluster::{Replaced, Turn};
use palladion_api::reasons::Reason;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// Give the member another address than the one that was lost. True = something
/// is being done or waited for.
pub fn change(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) -> bool {
    let address = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let old = &replaced.address;
    let step = match (address, &member.service) {
        (Some(address), _) if address == old => Some(forget(facts, valid, turn, member)),
        (Some(_), _) => {
            draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
            return false;
        }
        (None, Some(service)) if service.address.as_ref() == Some(old) => {
            Some(free(facts, valid, turn, member, &service.uid))
        }
        (None, Some(service)) => service.address.as_ref().map(|new| {
            let spec = json!({ "address": new });
            patch(facts, valid, turn, member, spec, "record the new address of")
        }),
        (None, None) => {
            let words = format!("member {} gets a new address", member.name);
            draft.wait(Reason::MemberReplacing, words);
            None
        }
    };
    let is_recorded = address.is_none() && matches!(step, Some(Step::Patch { .. }));
    draft.steps.extend(step);
    if is_recorded {
        draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
    }
    true
}

/// Take the lost identity off the record: it stands in the turn and on the claim.
fn forget(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact) -> Step {
    let spec = json!({ "address": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null });
    patch(facts, valid, turn, member, spec, "take the lost volume off the record of")
}

/// A write to the member that has the turn.
fn patch(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    spec: Value,
    what: &str,
) -> Step {
    let meta = member.object.as_ref().map(|o| &o.meta);
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str()),
        patch: json!({ "spec": spec }),
        subresource: Subresource::None,
        precondition: Precondition::Version {
            uid: meta.map(|m| m.uid.clone()).unwrap_or_default(),
            resource_version: meta.map(|m| m.resource_version.clone()).unwrap_or_default(),
        },
        fence: Some(facts.fence(turn)),
        proof: None,
        doing: format!("{what} member {}", member.name),
        event: None,
    }
}

/// Delete the Service that has the lost address; it is made again with another.
fn free(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, uid: &str) -> Step {
    Step::Delete {
        key: ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str()),
        precondition: Precondition::Uid(uid.to_string()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fence: Some(facts.fence(turn)),
        proof: None,
        doing: format!("give member {} a new address", member.name),
        event: None,
    }
}
