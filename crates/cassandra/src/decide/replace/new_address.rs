//! The writes by which a replacement changes its identity: the lost one goes
//! off the record, and the member gets another address, so that writes reach
//! it while it streams.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::cluster::Turn;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// Take the lost identity off the record: it stands in the turn and on the claim.
pub fn forget(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let spec = json!({ "address": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null });
    draft.steps.push(patch(
        facts,
        valid,
        turn,
        member,
        spec,
        "take the lost volume off the record of",
    ));
}

/// A write to the member that has the turn.
pub fn patch(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    spec: Value,
    what: &str,
) -> Step {
    let meta = member.object.as_ref().map(|o| &o.meta);
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
        patch: json!({ "spec": spec }),
        subresource: Subresource::None,
        precondition: Precondition::Version {
            uid: meta.map(|m| m.uid.clone()).unwrap_or_default(),
            resource_version: meta.map(|m| m.resource_version.clone()).unwrap_or_default(),
        },
        fence: Some(facts.fence(turn)),
        doing: format!("{what} member {}", member.name),
        event: None,
    }
}

/// Delete the Service that has the lost address; it is made again with another.
pub fn free(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, uid: &str) -> Step {
    Step::Delete {
        key: ObjectKey::new(kinds::SERVICE, &valid.namespace, &member.name),
        precondition: Precondition::Uid(uid.to_string()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fence: Some(facts.fence(turn)),
        doing: format!("give member {} a new address", member.name),
        event: None,
    }
}
